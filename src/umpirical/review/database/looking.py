"""Looking things up: each query goes through an index, whatever the review has grown to."""

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.database.counting import newest
from umpirical.review.database.places import count_free
from umpirical.review.database.rows import decisions_of, decisions_query, item_from_record, revisions_of
from umpirical.review.database.tables import assignment, decision, is_disputed, item, standing
from umpirical.review.records import Progress, Revision

__all__ = ["Held", "decided", "disputed_item", "held", "progress", "serial_of"]

_SERIAL = select(item.c.serial).where(item.c.id == bindparam("wanted"))
_ITEM = select(item).where(item.c.serial == bindparam("wanted"))


@dataclass(frozen=True, slots=True)
class Held:
    """All that the database has of one item."""

    serial: int
    item: ReviewItem
    revisions: tuple[Revision, ...]
    decisions: tuple[ReviewDecision, ...]
    """In the order they were made, undone ones included."""

    @property
    def texts(self) -> dict[int, str]:
        return {revision.number: revision.text for revision in self.revisions}

    def committed(self, person: str) -> bool:
        """Whether a reviewer has ever decided it: from then on nothing was hidden from them, undone or not."""
        mine = (said for said in self.decisions if said.reviewer == person)
        return any(said.kind != "skip" for said in mine)

    def own(self, person: str) -> list[ReviewDecision]:
        """What a reviewer said that still stands, the newest last; adjudications left out."""
        mine = (said for said in self.decisions if said.reviewer == person)
        return [said for said in mine if not said.undone and not said.adjudicates]


def serial_of(connection: Connection, item_id: str) -> int | None:
    return connection.execute(_SERIAL, {"wanted": item_id}).scalar_one_or_none()


def held(connection: Connection, serial: int) -> Held:
    row = connection.execute(_ITEM, {"wanted": serial}).one()
    shown = item_from_record(row.record)
    revisions = tuple(revisions_of(connection, serial, shown, at=row.at))
    return Held(serial, shown, revisions, tuple(decisions_of(connection, serial)))


def decided(connection: Connection, person: str, *, limit: int) -> list[str]:
    """Ids of the items whose decisions stand, the newest first; a part at a time, as there may be a great many."""
    query = decisions_query().order_by(None).where(decision.c.reviewer == person).order_by(decision.c.number.desc())
    found: dict[str, None] = {}
    rows = connection.execute(query.limit(limit)).all()
    while rows and len(found) < limit:
        found |= dict.fromkeys(row.item_id for row in rows if row.undoing is None)
        rows = connection.execute(query.where(decision.c.number < rows[-1].number).limit(limit)).all()
    return list(found)[:limit]


def disputed_item(connection: Connection, person: str, *, behind: int) -> int | None:
    """The first disputed item that the person has not decided themself, from those behind an item on, and around."""
    took_part = select(1).where(
        assignment.c.item == standing.c.item, assignment.c.reviewer == person, assignment.c.state == "decided"
    )
    waiting = select(standing.c.item).where(is_disputed, ~took_part.exists())
    for part in (standing.c.item > behind, standing.c.item <= behind):
        found = connection.execute(waiting.where(part).order_by(standing.c.item).limit(1)).scalar_one_or_none()
        if found is not None:
            return int(found)
    return None


def progress(connection: Connection, person: str) -> Progress:
    mine = assignment.c.reviewer == person
    counted = select(assignment.c.state, func.count().label("items")).where(mine).group_by(assignment.c.state)
    states: dict[str, int] = {row.state: row.items for row in connection.execute(counted)}
    disputed = select(func.count()).select_from(standing).where(is_disputed)
    return Progress(
        left=states.get("open", 0) + count_free(connection, person),
        done=states.get("decided", 0),
        total=newest(connection, item.c.serial),
        disputed=connection.execute(disputed).scalar_one(),
    )
