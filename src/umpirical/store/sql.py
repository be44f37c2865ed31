"""Opens DuckDB so that it stays within its memory limit and touches only the files it is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

MEMORY = "512MB"


@contextmanager
def open_duckdb(*, spill: Path, memory: str = MEMORY) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Opens a connection that spills to `spill` what does not fit in memory, and downloads no extensions."""
    import duckdb

    db = duckdb.connect(
        config={
            "memory_limit": memory,
            "autoinstall_known_extensions": "false",
            "temp_directory": str(spill),
        }
    )
    try:
        # Where DuckDB takes a program for a person, it shows one on standard output, which is for results. In notebooks
        # that cannot show it, it is off, and cannot even be switched off.
        if db.execute("select current_setting('enable_progress_bar')").fetchall() == [(True,)]:
            db.execute("set enable_progress_bar = false")
        yield db
    finally:
        db.close()


def quoted_glob(folder: Path, pattern: str) -> str:
    """Returns a path pattern as an SQL string: a folder's name may contain a quote or a wildcard character."""
    return quoted(f"{escape(str(folder))}/{pattern}" if pattern else str(folder))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
