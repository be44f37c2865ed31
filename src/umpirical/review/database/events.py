"""What a review records besides decisions: counters, events and guidelines."""

from collections.abc import Iterable
from typing import Any, Literal, Required, TypedDict, Unpack

from sqlalchemy import Column, Connection, bindparam, func, insert, select, update

from umpirical.review.database.tables import counter, event, guideline

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


# The log of what happened besides decisions.


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


# The instructions that reviewers were given, each text under a version number.


def in_force(connection: Connection) -> tuple[int, str]:
    version = value_of(connection, "guideline")
    text = connection.execute(select(guideline.c.text).where(guideline.c.version == version)).scalar_one_or_none()
    return version, text or ""


def put_in_force(connection: Connection, text: str, *, at: str) -> int:
    """Makes a text the guideline in force and returns its version. An empty text is no guideline, version 0."""
    version, now = in_force(connection)
    if text == now:
        return version
    known = select(guideline.c.version).where(guideline.c.text == text)
    version = connection.execute(known).scalar_one_or_none() or 0
    if text and not version:
        version = following(connection, guideline.c.version)
        connection.execute(insert(guideline), {"version": version, "text": text, "at": at})
    set_counter(connection, "guideline", version)
    record_event(connection, "guideline", at=at, detail=str(version))
    bump(connection)
    return version


def add_guidelines(
    connection: Connection, guidelines: Iterable[tuple[int, str]], *, in_force: str, at: str
) -> dict[int, int]:
    """Adds guidelines of another review, and returns for each version there the version here.

    A guideline in force here stays in force; without one, the other review's is.
    """
    here = {text: version for version, text in all_guidelines(connection)}
    was = _text_in_force(connection)
    versions = {0: 0}
    for version, text in guidelines:
        versions[version] = here[text] if text in here else put_in_force(connection, text, at=at)
    if meant := was or in_force:
        put_in_force(connection, meant, at=at)
    return versions


def _text_in_force(connection: Connection) -> str:
    return in_force(connection)[1]


def all_guidelines(connection: Connection) -> list[tuple[int, str]]:
    """Version and text of every guideline that was ever in force, in order."""
    query = select(guideline.c.version, guideline.c.text).order_by(guideline.c.version)
    return [(row.version, row.text) for row in connection.execute(query)]
