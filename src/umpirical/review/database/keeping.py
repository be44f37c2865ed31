"""Whole tables: taking items in, and giving everything out."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from sqlalchemy import Connection, insert, select

from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.database.connecting import Database
from umpirical.review.database.counting import bump, newest
from umpirical.review.database.places import set_overlap
from umpirical.review.database.rows import decisions_query, item_from_record, item_record, read_decision, read_revisions
from umpirical.review.database.tables import item, revision, standing
from umpirical.review.records import Revision

__all__ = ["add_items", "all_decisions", "all_items", "all_revisions", "batches"]

BATCH = 200
"""Items that are taken in or given out in one transaction: a reviewer waits for no more than that."""


def batches(items: Iterable[ReviewItem]) -> Iterator[list[ReviewItem]]:
    source = iter(items)
    while some := list(islice(source, BATCH)):
        yield some


def add_items(database: Database, items: Sequence[ReviewItem], *, overlap: int, at: str) -> int:
    """Adds those that are not there, told by their id, with all places free. Returns how many."""
    by_id = {shown.id: shown for shown in items}
    with database.read() as connection:
        wanted = _unknown(connection, by_id)
    if not wanted:
        return 0
    with database.write() as connection:
        set_overlap(connection, overlap, at=at)
        wanted = _unknown(connection, by_id)
        serial, position = newest(connection, item.c.serial), newest(connection, standing.c.position)
        if wanted:
            rows = [
                {"serial": serial + count, "id": shown.id, "at": at, "record": item_record(shown)}
                for count, shown in enumerate(wanted, 1)
            ]
            places = [
                {
                    "item": serial + count,
                    "position": position + count,
                    "free": overlap,
                    "moves": 0,
                    "state": "undecided",
                }
                for count in range(1, len(wanted) + 1)
            ]
            connection.execute(insert(item), rows)
            connection.execute(insert(standing), places)
            bump(connection)
    return len(wanted)


def all_items(database: Database) -> Iterator[tuple[ReviewItem, str]]:
    """Every item with the time it came, in the order they came."""
    last = 0
    while True:
        query = select(item).where(item.c.serial > last).order_by(item.c.serial).limit(BATCH)
        with database.read() as connection:
            rows = connection.execute(query).all()
        if not rows:
            return
        for row in rows:
            yield item_from_record(row.record), row.at
        last = rows[-1].serial


def all_decisions(connection: Connection) -> list[ReviewDecision]:
    return [read_decision(row) for row in connection.execute(decisions_query()).mappings()]


def all_revisions(connection: Connection) -> list[Revision]:
    """Every text that a person made, in the order of items."""
    query = (
        select(revision, item.c.id.label("item_id"))
        .join(item, item.c.serial == revision.c.item)
        .order_by(revision.c.item, revision.c.number)
    )
    return read_revisions(connection.execute(query).mappings())


def _unknown(connection: Connection, by_id: dict[str, ReviewItem]) -> list[ReviewItem]:
    known = set(connection.execute(select(item.c.id).where(item.c.id.in_(by_id))).scalars())
    return [shown for name, shown in by_id.items() if name not in known]
