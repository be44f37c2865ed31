"""The log of what happened besides decisions."""

from typing import Literal, Required, TypedDict, Unpack

from sqlalchemy import Connection, insert

from umpirical.review.database.counters import following
from umpirical.review.database.tables import event

EventKind = Literal["undone", "overlap", "guideline", "invited", "redeemed", "revoked", "released", "imported"]


class EventValues(TypedDict, total=False):
    """The fields of an event; only the time is required."""

    at: Required[str]
    person: str
    decision: int
    detail: str


def record_event(connection: Connection, kind: EventKind, **values: Unpack[EventValues]) -> None:
    number = following(connection, event.c.number)
    row = {"person": "", "decision": None, "detail": ""} | values | {"number": number, "kind": kind}
    connection.execute(insert(event), row)
