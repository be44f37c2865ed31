"""Decisions, and their undoing. Both are rows that are added: an undone decision stays, with an event beside it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, exists, insert, select

from umpirical.domain.reviews import ReviewDecision
from umpirical.review.database.counters import following
from umpirical.review.database.events import record_event
from umpirical.review.database.tables import decision, event, is_undoing, item


def _query() -> Select[Any]:
    """Every decision with its item's id and whether it is undone, in the order they were made."""
    undone = and_(event.c.decision == decision.c.number, is_undoing)
    joined = decision.join(item, item.c.serial == decision.c.item).outerjoin(event, undone)
    return (
        select(decision, item.c.id.label("item_id"), event.c.number.label("undoing"))
        .select_from(joined)
        .order_by(decision.c.number)
    )


_OF_ITEM = _query().where(decision.c.item == bindparam("serial"))


def decisions_of(connection: Connection, serial: int) -> list[ReviewDecision]:
    """All decisions on an item, in the order they were made."""
    return [_read(row) for row in connection.execute(_OF_ITEM, {"serial": serial}).mappings()]


def all_decisions(connection: Connection) -> list[ReviewDecision]:
    return [_read(row) for row in connection.execute(_query()).mappings()]


def decisions_by_serial(connection: Connection) -> dict[int, list[ReviewDecision]]:
    """All decisions, by the serial number of their item."""
    found: dict[int, list[ReviewDecision]] = {}
    for row in connection.execute(_query()).mappings():
        found.setdefault(row["item"], []).append(_read(row))
    return found


def decided_items(connection: Connection, person: str, *, limit: int) -> list[str]:
    """Ids of the items on which a person's decision stands, the newest first; read in parts, as there may be many."""
    query = _query().order_by(None).where(decision.c.reviewer == person).order_by(decision.c.number.desc())
    found: dict[str, None] = {}
    rows = connection.execute(query.limit(limit)).all()
    while rows and len(found) < limit:
        found |= dict.fromkeys(row.item_id for row in rows if row.undoing is None)
        rows = connection.execute(query.where(decision.c.number < rows[-1].number).limit(limit)).all()
    return list(found)[:limit]


def newest_item(connection: Connection, person: str) -> int | None:
    """The item of a person's newest decision that is not undone."""
    undone = exists().where(event.c.decision == decision.c.number, is_undoing)
    query = (
        select(decision.c.item)
        .where(decision.c.reviewer == person, ~undone)
        .order_by(decision.c.number.desc())
        .limit(1)
    )
    return connection.execute(query).scalar_one_or_none()


def append_decision(connection: Connection, serial: int, made: ReviewDecision) -> ReviewDecision:
    """The decision with the number it was given."""
    number = following(connection, decision.c.number)
    row: dict[str, Any] = {column.name: getattr(made, column.name) for column in decision.c}
    connection.execute(insert(decision), row | {"number": number, "item": serial})
    return replace(made, number=number)


def append_undo(connection: Connection, number: int, *, person: str, at: str) -> None:
    record_event(connection, "undone", at=at, person=person, decision=number)


def _read(row: Mapping[Any, Any]) -> ReviewDecision:
    return ReviewDecision(
        number=row["number"],
        item=row["item_id"],
        reviewer=row["reviewer"],
        kind=row["kind"],
        revision=row["revision"],
        at=row["at"],
        milliseconds=row["milliseconds"],
        mode=row["mode"],
        guideline=row["guideline"],
        label=row["label"],
        reason=row["reason"],
        comment=row["comment"],
        adjudicates=row["adjudicates"],
        undone=row["undoing"] is not None,
    )
