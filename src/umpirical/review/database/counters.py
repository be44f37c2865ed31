"""The counters that all programs share, and the next free number of a table."""

from typing import Any, Literal

from sqlalchemy import Column, Connection, bindparam, func, select, update

from umpirical.review.database.tables import counter

CounterName = Literal["version", "overlap", "guideline"]

_VALUE = select(counter.c.value).where(counter.c.name == bindparam("which"))
_BUMP = update(counter).where(counter.c.name == "version").values(value=counter.c.value + 1)


def value_of(connection: Connection, name: CounterName) -> int:
    return int(connection.execute(_VALUE, {"which": name}).scalar_one())


def set_counter(connection: Connection, name: CounterName, value: int) -> None:
    connection.execute(update(counter).where(counter.c.name == name).values(value=value))


def bump(connection: Connection) -> None:
    """Raises the version of the review, by which others notice that something changed."""
    connection.execute(_BUMP)


def newest(connection: Connection, column: Column[Any]) -> int:
    """The highest number in a column; 0 if there is none."""
    return int(connection.execute(select(func.coalesce(func.max(column), 0))).scalar_one())


def following(connection: Connection, column: Column[Any]) -> int:
    """The next free number. Only within a write transaction is it certain that nobody else takes it."""
    return newest(connection, column) + 1
