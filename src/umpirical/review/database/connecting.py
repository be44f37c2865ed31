"""Opening a database, and the two ways to use it: to read one moment of it, and to write alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, select
from sqlalchemy.exc import ArgumentError, DBAPIError

from umpirical.domain.errors import UsageError
from umpirical.review.database.migrating import migrate
from umpirical.review.database.tables import counter

__all__ = ["Database", "open_database"]

PATIENCE = 60.0
"""Seconds that a writer waits for the others before it gives up."""

POOL: dict[str, Any] = {"pool_size": 10, "max_overflow": 20}
"""Connections that one program has at once: a web server answers many people in as many threads."""

FORMS = "sqlite:///folder/review.sqlite or postgresql+psycopg://user@host/name"


class Database:
    """A review's database, for any number of threads and processes at once."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._sqlite = engine.dialect.name == "sqlite"
        # SQLite lets writers wait by asking again and again; those of one process need not ask.
        self._turn = threading.Lock() if self._sqlite else nullcontext()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that no other writer is in, durable when it ends; an exception takes all of it back.

        One writer at a time holds on both databases, so what a writer counts is still so when it writes. On
        PostgreSQL each statement sees what was committed before the statement began: since the lock is the first, all
        that others did before they let go of it is seen by the second. In a snapshot taken before the lock, a place
        that was just given away still looks free.
        """
        with self._turn, self.engine.connect() as connection:
            writing = connection.execution_options(umpirical_writes=True)
            with writing.begin():
                self._lock(writing)
                yield writing

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one moment of the database, whatever is written meanwhile."""
        with self.engine.connect() as connection:
            if not self._sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")  # noqa: PLW2901
            with connection.begin():
                yield connection

    def close(self) -> None:
        self.engine.dispose()

    def _lock(self, connection: Connection) -> None:
        """SQLite has locked by `begin immediate`; PostgreSQL locks the row that every writer goes through."""
        if not self._sqlite:
            connection.execute(select(counter.c.value).where(counter.c.name == "version").with_for_update()).all()


def open_database(url: str) -> Database:
    """The database at a URL, brought to the version of this program; a SQLite file is made if there is none."""
    place = _parsed(url)
    engine = _sqlite(place) if place.get_backend_name() == "sqlite" else _postgres(place)
    try:
        migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        shown = place.render_as_string(hide_password=True)
        raise UsageError(
            f"the review database {shown} cannot be opened: {str(error.orig).strip()}",
            fix="check that it is there, that you may write to it, and that it is a review database",
        ) from error
    except BaseException:
        engine.dispose()
        raise
    return Database(engine)


def _parsed(url: str) -> URL:
    try:
        place = make_url(url)
    except (ArgumentError, ValueError) as error:
        # The message does not repeat it: it may hold a password.
        raise UsageError("the database is not given as a URL", fix=f"write it as {FORMS}") from error
    if place.drivername == "sqlite":
        if not place.database or place.database == ":memory:" or place.query:
            raise UsageError("a review on SQLite is kept in a file, and none is named", fix=f"write it as {FORMS}")
        return place
    if place.drivername not in ("postgresql", "postgresql+psycopg"):
        raise UsageError(f"a review cannot be kept in {place.drivername}", fix=f"write it as {FORMS}")
    if find_spec("psycopg") is None:
        raise UsageError("PostgreSQL needs psycopg, which is not installed", fix="pip install 'umpirical[postgres]'")
    return place.set(drivername="postgresql+psycopg")


def _sqlite(place: URL) -> Engine:
    Path(str(place.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(place, connect_args={"timeout": PATIENCE}, **POOL)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401
    # Python's own way of beginning transactions would begin them late, and without the lock.
    connection.isolation_level = None
    for pragma in ("journal_mode = wal", "synchronous = full", "foreign_keys = on"):
        connection.execute(f"pragma {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("umpirical_writes", False)
    # A reader that turns into a writer fails if another has written in between; a writer has to say so at once.
    connection.exec_driver_sql("begin immediate" if writes else "begin")


def _postgres(place: URL) -> Engine:
    engine = create_engine(place, isolation_level="READ COMMITTED", pool_pre_ping=True, **POOL)
    event.listen(engine, "connect", _prepare_postgres)
    return engine


def _prepare_postgres(connection: Any, _record: object) -> None:  # noqa: ANN401
    # A server may be set to answer before what it wrote is on the disk.
    connection.execute("set synchronous_commit = on")
    connection.commit()
