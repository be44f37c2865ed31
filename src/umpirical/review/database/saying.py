"""Taking in what people say: decisions, the texts they make, and undoing. All of it for a writer, who is alone."""

from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, exists, insert, select

from umpirical.domain.reviews import ReviewDecision
from umpirical.review.database.counting import following, record_event
from umpirical.review.database.tables import decision, event, is_undoing, revision
from umpirical.review.records import Revision

__all__ = ["append_decision", "append_undo", "newest_item", "revision_with"]


def append_decision(connection: Connection, serial: int, said: ReviewDecision) -> ReviewDecision:
    """The decision with the number it was given."""
    number = following(connection, decision.c.number)
    row: dict[str, Any] = {column.name: getattr(said, column.name) for column in decision.c}
    connection.execute(insert(decision), row | {"number": number, "item": serial})
    return replace(said, number=number)


def append_undo(connection: Connection, number: int, *, person: str, at: str) -> None:
    record_event(connection, "undone", at=at, person=person, decision=number)


def newest_item(connection: Connection, person: str) -> int | None:
    """The item of the newest decision of a person that is not undone."""
    undone = exists().where(event.c.decision == decision.c.number, is_undoing)
    query = (
        select(decision.c.item)
        .where(decision.c.reviewer == person, ~undone)
        .order_by(decision.c.number.desc())
        .limit(1)
    )
    return connection.execute(query).scalar_one_or_none()


def revision_with(connection: Connection, serial: int, made: Revision) -> int:
    """Number of the revision that has this text, added if there is none.

    Two people who make the same text of an item have made the same revision, and so they agree.
    """
    known = {row.text: int(row.number) for row in connection.execute(select(revision).where(revision.c.item == serial))}
    if made.text in known:
        return known[made.text]
    number = len(known) + 1
    row = {"parent": made.parent, "author": made.author, "text": made.text, "at": made.at}
    connection.execute(insert(revision), row | {"item": serial, "number": number})
    return number
