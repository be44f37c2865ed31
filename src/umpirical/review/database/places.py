"""The places of each item: who holds one, which are free, and whom they go to. All of it for a writer, who is alone.

Items are queued by position. A person is given the first item behind the last they were given that has a free place. An
item goes to the end of the queue when a place becomes free again, so nobody has to look back, and to find the next item
takes no longer the more have been done.
"""

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, bindparam, func, insert, select, update

from umpirical.domain.reviews import OutcomeState, ReviewDecision
from umpirical.review.database.counting import following, record_event, set_counter, value_of
from umpirical.review.database.rows import decisions_of, decisions_query, read_decision
from umpirical.review.database.tables import assignment, is_free, is_free_again, standing
from umpirical.review.folding import adjudication, state_of

__all__ = [
    "AssignmentState",
    "assignment_of",
    "can_be_given",
    "count_free",
    "give",
    "hold",
    "open_assignment",
    "put_down",
    "refresh",
    "release",
    "reopen",
    "set_assignment",
    "set_overlap",
]

AssignmentState = Literal["open", "decided", "skipped", "released"]
"""Open and decided hold a place; skipped and released gave it back. Who skipped an item is not given it again."""


def open_assignment(connection: Connection, person: str, *, but: int | None = None) -> int | None:
    """The item a person has before them, if any: one taken up again by an undo first, then in the order of giving."""
    query = (
        select(assignment.c.item)
        .where(assignment.c.reviewer == person, assignment.c.state == "open", assignment.c.item != (but or 0))
        .order_by(assignment.c.turn)
        .limit(1)
    )
    return connection.execute(query).scalar_one_or_none()


def assignment_of(connection: Connection, serial: int, person: str) -> Row[Any] | None:
    query = select(assignment).where(assignment.c.item == serial, assignment.c.reviewer == person)
    return connection.execute(query).one_or_none()


def give(connection: Connection, person: str, *, overlap: int) -> int | None:
    """Gives the person the next item that lacks a reviewer; None if there is none for them."""
    query = (
        select(standing.c.item, standing.c.position).where(*can_be_given(person)).order_by(standing.c.position).limit(1)
    )
    while (found := connection.execute(query).one_or_none()) is not None:
        slot = _free_slot(connection, found.item, overlap=overlap)
        if slot is not None:
            put_down(connection, found.item, person, slot=slot, position=found.position)
        refresh(connection, found.item, overlap=overlap)
        if slot is not None:
            return int(found.item)
    return None


def can_be_given(person: str) -> tuple[ColumnElement[bool], ...]:
    """Which items of the queue a person can be given."""
    mine = assignment.c.reviewer == person
    last = select(func.coalesce(func.max(assignment.c.position), 0)).where(mine).scalar_subquery()
    has = select(1).where(assignment.c.item == standing.c.item, mine, assignment.c.state != "released").exists()
    return (is_free, standing.c.position > last, ~has)


def count_free(connection: Connection, person: str) -> int:
    """How many items a person can be given: all free ones behind the last they had, but those they have had already.

    The latter can be there only if they went to the end of the queue since: no need to look for them among the rest.
    """
    free, behind, has_not = can_be_given(person)
    waiting = select(func.count()).select_from(standing).where(free, behind)
    again = select(func.count()).select_from(standing).where(is_free_again, behind, ~has_not)
    return int(connection.execute(waiting).scalar_one()) - int(connection.execute(again).scalar_one())


def put_down(connection: Connection, serial: int, person: str, *, slot: int | None, position: int) -> None:
    """Notes that the item is this person's, and open."""
    values = {"slot": slot, "state": "open", "position": position, "turn": position}
    if assignment_of(connection, serial, person) is not None:
        set_assignment(connection, serial, person, **values)
        return
    connection.execute(insert(assignment), {"item": serial, "reviewer": person} | values)


def hold(connection: Connection, serial: int, person: str, *, overlap: int) -> bool:
    """Takes a place for someone who gave theirs back; False if none is free."""
    slot = _free_slot(connection, serial, overlap=overlap)
    if slot is not None:
        set_assignment(connection, serial, person, slot=slot)
    return slot is not None


def set_assignment(connection: Connection, serial: int, person: str, **values: str | int | None) -> None:
    mine = (assignment.c.item == serial, assignment.c.reviewer == person)
    connection.execute(update(assignment).where(*mine).values(**values))


def reopen(connection: Connection, serial: int, person: str) -> None:
    """Puts an item back before a person, ahead of all they have open."""
    query = select(func.coalesce(func.min(assignment.c.turn), 0)).where(
        assignment.c.reviewer == person, assignment.c.state == "open"
    )
    first = int(connection.execute(query).scalar_one())
    set_assignment(connection, serial, person, state="open", turn=min(first, 0) - 1)


def release(connection: Connection, person: str, *, at: str) -> int:
    """Gives back the places of what a person has open. Returns how many."""
    overlap = value_of(connection, "overlap")
    query = select(assignment.c.item).where(assignment.c.reviewer == person, assignment.c.state == "open")
    serials = [row.item for row in connection.execute(query.order_by(assignment.c.turn))]
    for serial in serials:
        set_assignment(connection, serial, person, state="released", slot=None)
        refresh(connection, serial, overlap=overlap)
    if serials:
        record_event(connection, "released", at=at, person=person, detail=str(len(serials)))
    return len(serials)


def refresh(connection: Connection, serial: int, *, overlap: int) -> None:
    """Brings what is kept of an item's standing in line with its places and decisions."""
    before = connection.execute(select(standing).where(standing.c.item == serial)).one()
    free, state = _stands(decisions_of(connection, serial), len(_held(connection, serial)), overlap=overlap)
    values: dict[str, Any] = {"free": free, "state": state}
    if free > before.free:
        values |= {"position": following(connection, standing.c.position), "moves": before.moves + 1}
    connection.execute(update(standing).where(standing.c.item == serial).values(**values))


def set_overlap(connection: Connection, overlap: int, *, at: str) -> None:
    """Makes another overlap the one in force: every item's places are counted anew, and all at once."""
    before = value_of(connection, "overlap")
    if before == overlap:
        return
    set_counter(connection, "overlap", overlap)
    record_event(connection, "overlap", at=at, detail=f"{before} to {overlap}")
    said: dict[int, list[ReviewDecision]] = {}
    for made in connection.execute(decisions_query()).mappings():
        said.setdefault(made["item"], []).append(read_decision(made))
    counted = select(assignment.c.item, func.count(assignment.c.slot).label("held")).group_by(assignment.c.item)
    held = {row.item: row.held for row in connection.execute(counted)}
    position, changed = following(connection, standing.c.position), []
    for row in connection.execute(select(standing).order_by(standing.c.position)).all():
        free, state = _stands(said.get(row.item, []), held.get(row.item, 0), overlap=overlap)
        values = {"which": row.item, "free": free, "state": state, "position": row.position, "moves": row.moves}
        if free > row.free:
            values |= {"position": position, "moves": row.moves + 1}
            position += 1
        changed.append(values)
    if changed:
        connection.execute(update(standing).where(standing.c.item == bindparam("which")), changed)


def _stands(said: Sequence[ReviewDecision], held: int, *, overlap: int) -> tuple[int, OutcomeState]:
    """Free places, of which a settled item has none, and what the decisions come to."""
    free = 0 if adjudication(said) else max(0, overlap - held)
    return free, state_of(said, overlap=overlap)


def _free_slot(connection: Connection, serial: int, *, overlap: int) -> int | None:
    """A place that nobody holds, from the assignments themselves: the queue's count may be older than the lock."""
    held = _held(connection, serial)
    return None if len(held) >= overlap else next(slot for slot in range(overlap) if slot not in held)


def _held(connection: Connection, serial: int) -> set[int]:
    query = select(assignment.c.slot).where(assignment.c.item == serial, assignment.c.slot.is_not(None))
    return {row.slot for row in connection.execute(query)}
