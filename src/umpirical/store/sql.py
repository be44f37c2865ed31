"""DuckDB, opened so that it stays within its memory and touches nothing but the files it is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

__all__ = ["open_duckdb", "quoted_glob"]

MEMORY = "512MB"


@contextmanager
def open_duckdb(*, spill: Path) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A connection that spills to `spill` what does not fit in memory, and downloads no extension."""
    import duckdb

    db = duckdb.connect(
        config={
            "memory_limit": MEMORY,
            "autoinstall_known_extensions": "false",
            "temp_directory": str(spill),
        }
    )
    try:
        yield db
    finally:
        db.close()


def quoted_glob(folder: Path, pattern: str) -> str:
    """A path pattern as an SQL text: a folder's name may hold a quote, or a sign that means something in a pattern."""
    text = f"{escape(str(folder))}/{pattern}" if pattern else str(folder)
    return "'" + text.replace("'", "''") + "'"
