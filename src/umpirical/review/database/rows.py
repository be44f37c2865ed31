"""Records to rows, and back."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, select

from umpirical.domain.attempts import CheckResult
from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.database.tables import decision, event, is_undoing, item, revision
from umpirical.review.records import Revision

__all__ = [
    "decisions_of",
    "decisions_query",
    "item_from_record",
    "item_record",
    "read_decision",
    "read_revisions",
    "revisions_of",
]


def item_record(shown: ReviewItem) -> str:
    """As JSON in ASCII: whatever is in a text, both databases keep it."""
    return json.dumps(asdict(shown), sort_keys=True)


def item_from_record(record: str) -> ReviewItem:
    held: dict[str, Any] = json.loads(record)
    held["checks"] = tuple(CheckResult(**check) for check in held["checks"])
    return ReviewItem(**held | {name: tuple(held[name]) for name in ("labels", "opinions")})


def decisions_query() -> Select[Any]:
    """Every decision with its item's id, and whether it is undone, in the order they were made."""
    undone = and_(event.c.decision == decision.c.number, is_undoing)
    joined = decision.join(item, item.c.serial == decision.c.item).outerjoin(event, undone)
    return (
        select(decision, item.c.id.label("item_id"), event.c.number.label("undoing"))
        .select_from(joined)
        .order_by(decision.c.number)
    )


_OF_ITEM = decisions_query().where(decision.c.item == bindparam("serial"))
_REVISIONS = (
    select(revision, item.c.id.label("item_id"))
    .join(item, item.c.serial == revision.c.item)
    .where(revision.c.item == bindparam("serial"))
    .order_by(revision.c.number)
)


def decisions_of(connection: Connection, serial: int) -> list[ReviewDecision]:
    """All that was said of an item, in the order it was said."""
    return [read_decision(row) for row in connection.execute(_OF_ITEM, {"serial": serial}).mappings()]


def read_decision(row: Mapping[Any, Any]) -> ReviewDecision:
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


def revisions_of(connection: Connection, serial: int, shown: ReviewItem, *, at: str) -> list[Revision]:
    """The generator's text, which is in the item itself, and every text that people made of it."""
    made = connection.execute(_REVISIONS, {"serial": serial}).mappings()
    return [Revision(0, shown.id, 0, shown.generator, shown.after, at), *read_revisions(made)]


def read_revisions(rows: Iterable[Mapping[Any, Any]]) -> list[Revision]:
    names = ("number", "item_id", "parent", "author", "text", "at")
    return [Revision(*(row[name] for name in names)) for row in rows]
