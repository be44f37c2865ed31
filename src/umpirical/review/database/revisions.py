"""The texts that people made of the generated ones."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select

from umpirical.domain.reviews import ReviewItem
from umpirical.review.database.tables import item, revision
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
