"""What a SQLite file is made of, checked before it is used: a file may come from anyone.

A trigger, a view or a column that computes something would run within our own statements. So a review database has the
tables and indexes that our migrations make, word for word, and nothing else.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from umpirical.domain.errors import UsageError
from umpirical.review.database.tables import metadata

VERSION_TABLE = """CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"""

_SCHEMA = "select type, name, sql from sqlite_master where sql is not null"


def check_before(file: Path) -> None:
    """Looks at a file without changing it. Raises if it is another program's, or has anything that runs by itself."""
    if not file.is_file() or not file.stat().st_size:
        return
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("pragma trusted_schema = off")
        found = connection.execute(_SCHEMA).fetchall()
    for kind, name, sql in found:
        if kind not in ("table", "index") or sql.upper().startswith("CREATE VIRTUAL"):
            raise _strange(file, kind, name)
    if found and "alembic_version" not in {name for _, name, _ in found}:
        raise UsageError(
            f"{file} is a database, but not that of a review", fix="name another file, or move this one away"
        )


def check_schema(file: Path) -> None:
    """Raises unless the schema is, word for word, the one that our migrations make."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        found = {name: (kind, _words(sql)) for kind, name, sql in connection.execute(_SCHEMA)}
    expected = _expected()
    for name, (kind, words) in found.items():
        # The tables in which SQLite itself keeps what `analyze` finds.
        if expected.get(name) != words and not name.startswith("sqlite_stat"):
            raise _strange(file, kind, name)
    if missing := sorted(expected.keys() - found.keys()):
        raise UsageError(f"the review database {file} has no {missing[0]}", fix="restore it from a copy, or an export")


def _expected() -> dict[str, str]:
    # The compiler and the migrations write the same statements; `tests/review/database` holds them against each other.
    dialect = sqlite.dialect()
    made = {"alembic_version": _words(VERSION_TABLE)}
    for table in metadata.tables.values():
        made[table.name] = _words(str(CreateTable(table).compile(dialect=dialect)))
        made |= {str(index.name): _words(str(CreateIndex(index).compile(dialect=dialect))) for index in table.indexes}
    return made


def _words(sql: str) -> str:
    """A statement without blanks and capitals, which differ from one version of the compiler to the next."""
    return "".join(sql.split()).lower()


def _strange(file: Path, kind: str, name: str) -> UsageError:
    return UsageError(
        f"the review database {file} has a {kind} that no review has: {str(name)[:60]!r}",
        fix="do not use this file: import its decisions from an export instead",
    )
