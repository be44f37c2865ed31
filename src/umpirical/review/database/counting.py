"""Single numbers: what comes next in a table, and the counters that all share."""

from typing import Any, Literal, Required, TypedDict, Unpack

from sqlalchemy import Column, Connection, bindparam, func, insert, select, update

from umpirical.review.database.tables import counter, event

__all__ = [
    "CounterName",
    "EventKind",
    "EventValues",
    "bump",
    "following",
    "newest",
    "record_event",
    "set_counter",
    "value_of",
]

CounterName = Literal["version", "overlap", "guideline"]

EventKind = Literal["undone", "overlap", "guideline", "invited", "redeemed", "revoked", "released", "imported"]


class EventValues(TypedDict, total=False):
    """What an event may say of itself; when it happened, always."""

    at: Required[str]
    person: str
    decision: int
    detail: str


_VALUE = select(counter.c.value).where(counter.c.name == bindparam("which"))
_BUMP = update(counter).where(counter.c.name == "version").values(value=counter.c.value + 1)


def value_of(connection: Connection, name: CounterName) -> int:
    return int(connection.execute(_VALUE, {"which": name}).scalar_one())


def set_counter(connection: Connection, name: CounterName, value: int) -> None:
    connection.execute(update(counter).where(counter.c.name == name).values(value=value))


def bump(connection: Connection) -> None:
    """Tells everyone who watches that something is new."""
    connection.execute(_BUMP)


def newest(connection: Connection, column: Column[Any]) -> int:
    """The highest number in a column; 0 where there is none."""
    return int(connection.execute(select(func.coalesce(func.max(column), 0))).scalar_one())


def following(connection: Connection, column: Column[Any]) -> int:
    """The next free number. Only a writer may ask: it is alone, so nobody else gets the same."""
    return newest(connection, column) + 1


def record_event(connection: Connection, kind: EventKind, **values: Unpack[EventValues]) -> None:
    number = following(connection, event.c.number)
    row = {"person": "", "decision": None, "detail": ""} | values | {"number": number, "kind": kind}
    connection.execute(insert(event), row)
