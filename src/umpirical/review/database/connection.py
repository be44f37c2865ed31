"""The database of a review: its schema, opening it, and transactions."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from umpirical.domain.errors import UsageError
from umpirical.review.database.tables import counter, metadata

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
        raise UsageError(f"{file} is not a review database", fix="choose another file, or move this one")


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
        raise UsageError(f"the review database {file} lacks {missing[0]}", fix="restore it from a backup or an export")


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
        f"the review database {file} has an unexpected {kind}: {str(name)[:60]!r}",
        fix="do not use this file; import its decisions from an export",
    )


# Opening a database, bringing its tables up to date, and the two kinds of transaction: to read and to write.


WRITE_TIMEOUT_SECONDS = 60.0
"""How long a writer on SQLite waits for the others before it gives up."""

POOL: dict[str, Any] = {"pool_size": 10, "max_overflow": 20}
"""Connections that one program holds at once: a web server answers many people, each in a thread."""

FORMS = "sqlite:///folder/review.sqlite or postgresql+psycopg://user@host/name"

MIGRATIONS = Path(__file__).parent / "migrations"
"""Alembic's scripts, which ship with the package."""

HEAD = "0001"
"""The newest migration. Migrations are numbered, so that versions compare as text."""

_MIGRATION_LOCK = 7_105_636_801
"""When two programs open an empty PostgreSQL database at once, one waits on this advisory lock."""


class Database:
    """A review's database, shared by any number of threads and processes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._sqlite = engine.dialect.name == "sqlite"
        # A writer that SQLite makes wait polls the file; writers within one process need not.
        self._turn = threading.Lock() if self._sqlite else nullcontext()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction without any other writer, durable when it ends and rolled back by an exception.

        Both databases admit one writer at a time, so what a writer counts still holds when it writes. On PostgreSQL
        each statement sees what was committed before it began: as taking the lock is the first statement, the second
        sees all that other writers did before they released it. A snapshot taken before the lock would still show a
        place as free that was just given away.
        """
        with self._turn, self.engine.connect() as connection:
            writing = connection.execution_options(umpirical_writes=True)
            with writing.begin():
                self._lock(writing)
                yield writing

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees the database as it was at one moment, whatever is written meanwhile."""
        with self.engine.connect() as connection:
            if not self._sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")  # noqa: PLW2901
            with connection.begin():
                yield connection

    @property
    def is_file(self) -> bool:
        """Whether all of it is a file, which can be copied and sent."""
        return self._sqlite

    def close(self) -> None:
        self.engine.dispose()

    def _lock(self, connection: Connection) -> None:
        """SQLite is locked by `begin immediate` already; on PostgreSQL every writer locks the same row."""
        if not self._sqlite:
            connection.execute(select(counter.c.value).where(counter.c.name == "version").with_for_update()).all()


def open_database(url: str) -> Database:
    """The database at a URL, migrated to this program's version; a missing SQLite file is created."""
    place = _parsed(url)
    file = Path(str(place.database)) if place.get_backend_name() == "sqlite" else None
    engine = _postgres(place) if file is None else _sqlite(place, file)
    try:
        if file is not None:
            check_before(file)
        _migrate(engine)
        if file is not None:
            check_schema(file)
    except (DBAPIError, sqlite3.Error) as error:
        engine.dispose()
        shown = place.render_as_string(hide_password=True)
        raise UsageError(
            f"cannot open the review database {shown}: {str(getattr(error, 'orig', error)).strip()}",
            fix="check that it exists, that it is writable, and that it is a review database",
        ) from error
    except BaseException:
        engine.dispose()
        raise
    return Database(engine)


def _parsed(url: str) -> URL:
    try:
        place = make_url(url)
    except (ArgumentError, ValueError) as error:
        # The message does not repeat the URL, which may hold a password.
        raise UsageError("the database must be a URL", fix=f"use {FORMS}") from error
    if place.drivername == "sqlite":
        if not place.database or place.database == ":memory:" or place.query:
            raise UsageError("SQLite needs a file name", fix=f"use {FORMS}")
        return place
    if place.drivername not in ("postgresql", "postgresql+psycopg"):
        raise UsageError(f"unsupported database {place.drivername}", fix=f"use {FORMS}")
    if find_spec("psycopg") is None:
        raise UsageError("PostgreSQL reviews need the postgres extra", fix="pip install 'umpirical[postgres]'")
    return place.set(drivername="postgresql+psycopg")


def _sqlite(place: URL, file: Path) -> Engine:
    file.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(place, connect_args={"timeout": WRITE_TIMEOUT_SECONDS}, **POOL)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401
    # Left to itself, Python's driver begins a transaction late and without the lock.
    connection.isolation_level = None
    for pragma in ("trusted_schema = off", "journal_mode = wal", "synchronous = full", "foreign_keys = on"):
        connection.execute(f"pragma {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("umpirical_writes", False)
    # A reader that turns into a writer fails if someone else wrote in between, so a writer locks from the start.
    connection.exec_driver_sql("begin immediate" if writes else "begin")


def _postgres(place: URL) -> Engine:
    engine = create_engine(place, isolation_level="READ COMMITTED", pool_pre_ping=True, **POOL)
    event.listen(engine, "connect", _prepare_postgres)
    return engine


def _prepare_postgres(connection: Any, _record: object) -> None:  # noqa: ANN401
    # A server may be configured to confirm a commit before it is on disk.
    connection.execute("set synchronous_commit = on")
    connection.commit()


def _migrate(engine: Engine) -> None:
    """Runs the migrations that the database lacks; refuses a database that is newer than this program."""
    with engine.connect() as connection:
        if _version(connection) == HEAD:
            return
    with engine.connect() as connection:
        writing = connection.execution_options(umpirical_writes=True)
        with writing.begin():
            if engine.dialect.name == "postgresql":
                writing.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _MIGRATION_LOCK})
            at = _version(writing)
            if at is not None and at > HEAD:
                raise UsageError(
                    f"the review database has version {at[:32]}, but this program supports versions up to {HEAD}",
                    fix="pip install --upgrade umpirical",
                )
            if at != HEAD:
                _upgrade(writing)


def _version(connection: Connection) -> str | None:
    """The version of the tables; None if there are none yet."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = [str(row.version_num) for row in connection.execute(text("select version_num from alembic_version"))]
    known = {script.name[1:5] for script in (MIGRATIONS / "versions").glob("v*.py")}
    if len(found) > 1 or not all(version in known or (version.isdigit() and version > HEAD) for version in found):
        raise UsageError(
            "the review database has no valid version",
            fix="restore it from a backup, or import an export into a new one",
        )
    return found[0] if found else None


def _upgrade(connection: Connection) -> None:
    # Importing Alembic takes a second and a half, and only a new database needs it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
