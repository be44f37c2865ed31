"""Decisions, and which item is assigned to whom."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, exists, func, insert, select, update

from umpirical.domain.reviews import OutcomeState, ReviewDecision
from umpirical.review.database.events import following, newest, record_event, set_counter, value_of
from umpirical.review.database.tables import (
    assignment,
    decision,
    event,
    is_disputed,
    is_free,
    is_free_again,
    is_undoing,
    item,
    standing,
)
from umpirical.review.records import ReviewProgress, adjudication, state_of


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


def own_decisions(connection: Connection, person: str) -> dict[str, ReviewDecision]:
    """A person's newest decision that stands on each item, by the item's id."""
    rows = connection.execute(_query().where(decision.c.reviewer == person)).mappings()
    return {said.item: said for said in map(_read, rows) if not said.undone}


def recent_milliseconds(connection: Connection, person: str, *, limit: int) -> list[int]:
    """How long a person's newest decisions took, as far as that was measured."""
    measured = (decision.c.reviewer == person, decision.c.milliseconds.is_not(None))
    query = select(decision.c.milliseconds).where(*measured).order_by(decision.c.number.desc()).limit(limit)
    return list(connection.execute(query).scalars())


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


# Who has which item, and what is left to assign.


AssignmentState = Literal["open", "decided", "skipped", "released"]
"""`open` and `decided` hold a place; `skipped` and `released` gave it back. A skipped item is not given again."""


def open_assignment(connection: Connection, person: str, *, but: int | None = None) -> int | None:
    """The item a person is working on, if any: first one reopened by an undo, then in the order they were given."""
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
        select(standing.c.item, standing.c.position)
        .where(*_can_be_given(person))
        .order_by(standing.c.position)
        .limit(1)
    )
    while (found := connection.execute(query).one_or_none()) is not None:
        slot = _free_slot(connection, found.item, overlap=overlap)
        if slot is not None:
            assign(connection, found.item, person, slot=slot, position=found.position)
        refresh(connection, found.item, overlap=overlap)
        if slot is not None:
            return int(found.item)
    return None


def assign(connection: Connection, serial: int, person: str, *, slot: int | None, position: int) -> None:
    """Records that the item is assigned to this person, and open."""
    values = {"slot": slot, "state": "open", "position": position, "turn": position}
    if assignment_of(connection, serial, person) is not None:
        set_assignment(connection, serial, person, **values)
        return
    connection.execute(insert(assignment), {"item": serial, "reviewer": person} | values)


def take_place(connection: Connection, serial: int, person: str, *, overlap: int) -> bool:
    """Takes a place for someone who gave theirs back. Returns False if none is free."""
    slot = _free_slot(connection, serial, overlap=overlap)
    if slot is not None:
        set_assignment(connection, serial, person, slot=slot)
    return slot is not None


def set_assignment(connection: Connection, serial: int, person: str, **values: str | int | None) -> None:
    mine = (assignment.c.item == serial, assignment.c.reviewer == person)
    connection.execute(update(assignment).where(*mine).values(**values))


def reopen(connection: Connection, serial: int, person: str) -> None:
    """Opens an item again for a person, ahead of all else they have open."""
    query = select(func.coalesce(func.min(assignment.c.turn), 0)).where(
        assignment.c.reviewer == person, assignment.c.state == "open"
    )
    first = int(connection.execute(query).scalar_one())
    set_assignment(connection, serial, person, state="open", turn=min(first, 0) - 1)


def release(connection: Connection, person: str, *, at: str) -> int:
    """Frees the places of all that a person has open. Returns how many."""
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
    """Updates the stored standing of an item from its places and decisions."""
    before = connection.execute(select(standing).where(standing.c.item == serial)).one()
    free, state = _standing_of(decisions_of(connection, serial), len(_held(connection, serial)), overlap=overlap)
    values: dict[str, Any] = {"free": free, "state": state}
    if free > before.free:
        values |= {"position": following(connection, standing.c.position), "moves": before.moves + 1}
    connection.execute(update(standing).where(standing.c.item == serial).values(**values))


def set_overlap(connection: Connection, overlap: int, *, at: str) -> None:
    """Puts an overlap in force. If it is another one, the places of every item are counted anew."""
    before = value_of(connection, "overlap")
    if before == overlap:
        return
    set_counter(connection, "overlap", overlap)
    record_event(connection, "overlap", at=at, detail=f"{before} to {overlap}")
    said = decisions_by_serial(connection)
    counted = select(assignment.c.item, func.count(assignment.c.slot).label("held")).group_by(assignment.c.item)
    held = {row.item: row.held for row in connection.execute(counted)}
    position, changed = following(connection, standing.c.position), []
    for row in connection.execute(select(standing).order_by(standing.c.position)).all():
        free, state = _standing_of(said.get(row.item, []), held.get(row.item, 0), overlap=overlap)
        values = {"which": row.item, "free": free, "state": state, "position": row.position, "moves": row.moves}
        if free > row.free:
            values |= {"position": position, "moves": row.moves + 1}
            position += 1
        changed.append(values)
    if changed:
        connection.execute(update(standing).where(standing.c.item == bindparam("which")), changed)


def disputed_item(connection: Connection, person: str, *, behind: int) -> int | None:
    """The next disputed item, after the one named, that the person has not decided on; the first follows the last."""
    took_part = select(1).where(
        assignment.c.item == standing.c.item, assignment.c.reviewer == person, assignment.c.state == "decided"
    )
    waiting = select(standing.c.item).where(is_disputed, ~took_part.exists())
    for part in (standing.c.item > behind, standing.c.item <= behind):
        found = connection.execute(waiting.where(part).order_by(standing.c.item).limit(1)).scalar_one_or_none()
        if found is not None:
            return int(found)
    return None


def progress(connection: Connection, person: str) -> ReviewProgress:
    mine = assignment.c.reviewer == person
    counted = select(assignment.c.state, func.count().label("items")).where(mine).group_by(assignment.c.state)
    states: dict[str, int] = {row.state: row.items for row in connection.execute(counted)}
    disputed = select(func.count()).select_from(standing).where(is_disputed)
    return ReviewProgress(
        left=states.get("open", 0) + _count_free(connection, person),
        done=states.get("decided", 0),
        total=newest(connection, item.c.serial),
        disputed=connection.execute(disputed).scalar_one(),
    )


def _can_be_given(person: str) -> tuple[ColumnElement[bool], ...]:
    """The conditions on an item of the queue that a person can be given."""
    mine = assignment.c.reviewer == person
    last = select(func.coalesce(func.max(assignment.c.position), 0)).where(mine).scalar_subquery()
    has = select(1).where(assignment.c.item == standing.c.item, mine, assignment.c.state != "released").exists()
    return (is_free, standing.c.position > last, ~has)


def _count_free(connection: Connection, person: str) -> int:
    """How many items a person can be given: all free ones behind the last they had, except those they had before.

    An item that they had before can be behind only if it moved since, so only moved items are searched for those.
    """
    free, behind, has_not = _can_be_given(person)
    waiting = select(func.count()).select_from(standing).where(free, behind)
    again = select(func.count()).select_from(standing).where(is_free_again, behind, ~has_not)
    return int(connection.execute(waiting).scalar_one()) - int(connection.execute(again).scalar_one())


def _standing_of(said: Sequence[ReviewDecision], held: int, *, overlap: int) -> tuple[int, OutcomeState]:
    """How many places are free, and the state that the decisions lead to. A settled item has no free place."""
    free = 0 if adjudication(said) else max(0, overlap - held)
    return free, state_of(said, overlap=overlap)


def _free_slot(connection: Connection, serial: int, *, overlap: int) -> int | None:
    """A place that nobody holds, by the assignments themselves: the queue's count may be older than the lock."""
    held = _held(connection, serial)
    return None if len(held) >= overlap else next(slot for slot in range(overlap) if slot not in held)


def _held(connection: Connection, serial: int) -> set[int]:
    query = select(assignment.c.slot).where(assignment.c.item == serial, assignment.c.slot.is_not(None))
    return {row.slot for row in connection.execute(query)}
