"""Items under review, with the revisions of their texts."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.domain.stimuli import CheckResult
from umpirical.review.database.assignments import decisions_of, set_overlap
from umpirical.review.database.connection import Database
from umpirical.review.database.events import bump, newest
from umpirical.review.database.tables import assignment, item, revision, standing
from umpirical.review.records import Revision

_ALL = select(revision, item.c.id.label("item_id")).join(item, item.c.serial == revision.c.item)
_OF_ITEM = _ALL.where(revision.c.item == bindparam("serial")).order_by(revision.c.number)


def revisions_of(connection: Connection, serial: int, generated: ReviewItem, *, at: str) -> list[Revision]:
    """The generated text, which is part of the item itself, and every text that people made of it."""
    made = connection.execute(_OF_ITEM, {"serial": serial}).mappings()
    return [Revision(0, generated.id, 0, generated.generator, generated.after, at), *_read(made)]


def all_revisions(connection: Connection) -> list[Revision]:
    """Every text that a person made, in the order of the items."""
    return _read(connection.execute(_ALL.order_by(revision.c.item, revision.c.number)).mappings())


def revision_with(connection: Connection, serial: int, made: Revision) -> int:
    """The number of the revision that has this text, which is added if there is none.

    Two people who make the same text of an item have made the same revision, and so they agree.
    """
    known = {row.text: int(row.number) for row in connection.execute(select(revision).where(revision.c.item == serial))}
    if made.text in known:
        return known[made.text]
    number = len(known) + 1
    row = {"parent": made.parent, "author": made.author, "text": made.text, "at": made.at}
    connection.execute(insert(revision), row | {"item": serial, "number": number})
    return number


def _read(rows: Iterable[Mapping[Any, Any]]) -> list[Revision]:
    names = ("number", "item_id", "parent", "author", "text", "at")
    return [Revision(*(row[name] for name in names)) for row in rows]


# Items: adding them, finding them, and one item with all that was said about it.


BATCH = 200
"""Items that are added or read in one transaction: a reviewer waits for no more than that."""

_SERIAL = select(item.c.serial).where(item.c.id == bindparam("wanted"))
_ITEM = select(item).where(item.c.serial == bindparam("wanted"))


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item with every revision of it and every decision on it."""

    serial: int
    item: ReviewItem
    revisions: tuple[Revision, ...]
    decisions: tuple[ReviewDecision, ...]
    """In the order they were made, undone ones included."""

    @property
    def texts(self) -> dict[int, str]:
        return {revision.number: revision.text for revision in self.revisions}

    def committed(self, person: str) -> bool:
        """Whether a reviewer ever decided on it. From then on nothing was hidden from them, even if they undid it."""
        mine = (said for said in self.decisions if said.reviewer == person)
        return any(said.kind != "skip" for said in mine)

    def own(self, person: str) -> list[ReviewDecision]:
        """A reviewer's decisions that are not undone, the newest last, without adjudications."""
        mine = (said for said in self.decisions if said.reviewer == person)
        return [said for said in mine if not said.undone and not said.adjudicates]


def batches(items: Iterable[ReviewItem]) -> Iterator[list[ReviewItem]]:
    source = iter(items)
    while some := list(islice(source, BATCH)):
        yield some


def add_items(database: Database, items: Sequence[ReviewItem], *, overlap: int, at: str) -> int:
    """Adds the items whose ids are new, with all their places free. Returns how many."""
    by_id = {new.id: new for new in items}
    with database.read() as connection:
        wanted = _unknown(connection, by_id)
    if not wanted:
        return 0
    with database.write() as connection:
        set_overlap(connection, overlap, at=at)
        added = insert_items(connection, items, overlap=overlap, at=at)
        if added:
            bump(connection)
    return added


def insert_items(connection: Connection, items: Sequence[ReviewItem], *, overlap: int, at: str) -> int:
    """Adds the items whose ids are new, within a transaction. Returns how many."""
    wanted = _unknown(connection, {new.id: new for new in items})
    if not wanted:
        return 0
    serial, position = newest(connection, item.c.serial), newest(connection, standing.c.position)
    rows = [
        # In ASCII, which both databases store unchanged whatever the texts hold.
        {"serial": serial + count, "id": new.id, "at": at, "record": json.dumps(asdict(new), sort_keys=True)}
        for count, new in enumerate(wanted, 1)
    ]
    places = [
        {"item": serial + count, "position": position + count, "free": overlap, "moves": 0, "state": "undecided"}
        for count in range(1, len(wanted) + 1)
    ]
    connection.execute(insert(item), rows)
    connection.execute(insert(standing), places)
    return len(wanted)


def all_items(database: Database) -> Iterator[tuple[ReviewItem, str]]:
    """Every item with the time it arrived, in the order of arrival."""
    last = 0
    while True:
        query = select(item).where(item.c.serial > last).order_by(item.c.serial).limit(BATCH)
        with database.read() as connection:
            rows = connection.execute(query).all()
        if not rows:
            return
        for row in rows:
            yield _from_record(row.record), row.at
        last = rows[-1].serial


def items_given(connection: Connection, person: str) -> list[ReviewItem]:
    """Every item that a person was given and still has or decided on, the newest first."""
    mine = (assignment.c.reviewer == person, assignment.c.state != "released")
    joined = item.join(assignment, assignment.c.item == item.c.serial)
    query = select(item.c.record).select_from(joined).where(*mine).order_by(assignment.c.turn.desc())
    return [_from_record(record) for record in connection.execute(query).scalars()]


def serial_of(connection: Connection, item_id: str) -> int | None:
    return connection.execute(_SERIAL, {"wanted": item_id}).scalar_one_or_none()


def stored_item(connection: Connection, serial: int) -> StoredItem:
    row = connection.execute(_ITEM, {"wanted": serial}).one()
    found = _from_record(row.record)
    revisions = tuple(revisions_of(connection, serial, found, at=row.at))
    return StoredItem(serial, found, revisions, tuple(decisions_of(connection, serial)))


def _unknown(connection: Connection, by_id: dict[str, ReviewItem]) -> list[ReviewItem]:
    known = set(connection.execute(select(item.c.id).where(item.c.id.in_(by_id))).scalars())
    return [new for name, new in by_id.items() if name not in known]


def _from_record(record: str) -> ReviewItem:
    held: dict[str, Any] = json.loads(record)
    held["checks"] = tuple(CheckResult(**check) for check in held["checks"])
    return ReviewItem(**held | {name: tuple(held[name]) for name in ("labels", "opinions")})
