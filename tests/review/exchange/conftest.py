import itertools
from datetime import UTC, datetime

import pytest

from tests.review.exchange.reviews import everything_happened
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import Settings

NUMBERS = itertools.count()


@pytest.fixture
def another(tmp_path, clock):
    """Makes desks, each on its own empty database."""
    opened = []

    def make(**settings) -> Desk:
        database = open_database(f"sqlite:///{tmp_path}/another{next(NUMBERS)}.sqlite")
        opened.append(database)
        return Desk(database, Settings(**{"overlap": 2, **settings}), clock)

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def full(another):
    """A review in which everything happened once."""
    desk = another()
    everything_happened(desk)
    return desk


@pytest.fixture
def noon():
    return lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)
