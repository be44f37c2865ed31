"""Every test of the desk runs on SQLite and on PostgreSQL, each on a fresh database."""

import itertools
import os
from datetime import UTC, datetime, timedelta

import pytest

from tests import postgres
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import Settings

NAMES = (f"review{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def postgres_url():
    """The URL of a server's databases. Where PostgreSQL is required, as in CI, its absence is an error, not a skip."""
    found = postgres.programs()
    if found is None:
        if os.environ.get("UMPIRICAL_REQUIRE_POSTGRES"):
            pytest.fail("no PostgreSQL server under /usr/lib/postgresql")
        pytest.skip("needs Debian's postgresql")
    with postgres.server(found) as url:
        database = open_database(url.format(name="postgres"))
        database.close()
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The URL of a fresh review."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/review.sqlite"
    return request.getfixturevalue("fresh_postgres")()


@pytest.fixture
def fresh_postgres(postgres_url):
    """Makes databases by copying one that exists, which takes a fraction of the time of migrating an empty one."""
    from sqlalchemy import create_engine, text

    made = []

    def fresh() -> str:
        name = next(NAMES)
        engine = create_engine(postgres_url.format(name="template1"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"create database {name} template postgres"))
        engine.dispose()
        made.append(name)
        return postgres_url.format(name=name)

    yield fresh
    engine = create_engine(postgres_url.format(name="template1"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name in made:
            connection.execute(text(f"drop database {name} with (force)"))
    engine.dispose()


@pytest.fixture
def database(url):
    opened = open_database(url)
    yield opened
    opened.close()


class Clock:
    """A clock that is one second later each time it is read."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def desk_of(database, clock):
    """Makes a desk with the given settings."""

    def make(**settings) -> Desk:
        return Desk(database, Settings(**settings), clock)

    return make
