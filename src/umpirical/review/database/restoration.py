"""Adding what was decided elsewhere, under the names and times it was decided with: all of it, or nothing."""

from dataclasses import replace

from sqlalchemy import Connection, select

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewDecision
from umpirical.review.database.assignments import (
    append_decision,
    append_undo,
    assign,
    assignment_of,
    decisions_of,
    refresh,
    set_assignment,
    set_overlap,
    take_place,
)
from umpirical.review.database.connection import Database
from umpirical.review.database.events import add_guidelines, bump, record_event
from umpirical.review.database.items import batches, insert_items, revision_with, serial_of
from umpirical.review.database.people import role_of
from umpirical.review.database.tables import revision
from umpirical.review.records import Additions, Revision, current

SETTLING = ("adjudicator", "owner")

UNDONE = "nothing was imported; "


def restore(database: Database, additions: Additions, *, overlap: int, at: str) -> int:
    """Adds what is new, with decisions renumbered in their order. Returns how many decisions are new.

    It is one transaction: if one record does not fit, the database is as it was.
    """
    texts = {(made.item, made.number): made for made in additions.revisions if made.number}
    new: list[tuple[int, ReviewDecision]] = []
    with database.write() as connection:
        set_overlap(connection, overlap, at=at)
        added = sum(insert_items(connection, some, overlap=overlap, at=at) for some in batches(additions.items))
        versions = add_guidelines(connection, additions.guidelines, in_force=additions.in_force, at=at)
        for said in sorted(additions.decisions, key=lambda decision: decision.number):
            here = replace(said, guideline=versions.get(said.guideline, said.guideline))
            serial = _restore(connection, here, texts, overlap=overlap, at=at, source=additions.source)
            if serial is not None:
                new.append((serial, said))
        _check_adjudications(connection, new, additions.places)
        if new or added:
            bump(connection)
    return len(new)


def _restore(
    connection: Connection,
    said: ReviewDecision,
    texts: dict[tuple[str, int], Revision],
    *,
    overlap: int,
    at: str,
    source: str,
) -> int | None:
    """Adds a decision, and returns the serial number of its item; None if it is known."""
    serial = serial_of(connection, said.item)
    if serial is None:
        raise UsageError(
            f"a decision is about item {said.item}, which is not in this review", fix=f"{UNDONE}add the items first"
        )
    if said.revision:
        said = replace(said, revision=_number(connection, serial, said, texts))
    if any(replace(said, number=known.number) == known for known in decisions_of(connection, serial)):
        return None
    added = append_decision(connection, serial, said)
    if source:
        record_event(connection, "imported", at=at, person=said.reviewer, decision=added.number, detail=source)
    if said.undone:
        append_undo(connection, added.number, person=said.reviewer, at=at)
    elif not said.adjudicates:
        _assign_decided(connection, serial, said, overlap=overlap)
    refresh(connection, serial, overlap=overlap)
    return serial


def _number(connection: Connection, serial: int, said: ReviewDecision, texts: dict[tuple[str, int], Revision]) -> int:
    """The number here of the text that a decision is about: a new text, or one that was here before."""
    made = texts.get((said.item, said.revision))
    if made is not None:
        return revision_with(connection, serial, made)
    known = select(revision.c.number).where(revision.c.item == serial, revision.c.number == said.revision)
    if connection.execute(known).scalar_one_or_none() is None:
        raise UsageError(f"revision {said.revision} of item {said.item} has no text", fix=UNDONE.strip("; "))
    return said.revision


def _check_adjudications(connection: Connection, new: list[tuple[int, ReviewDecision]], places: dict[int, str]) -> None:
    """An adjudication from a file is held to what the desk asks: the role, a disagreement, and no part in it."""
    for serial, said in new:
        if not said.adjudicates or said.undone:
            continue
        place = f"{places[said.number]}: " if said.number in places else ""
        if role_of(connection, said.reviewer) not in SETTLING:
            raise UsageError(
                f"{place}{said.reviewer} decides a dispute but is not an adjudicator of this review",
                fix=f"{UNDONE}to make them one: umpirical review invite {said.reviewer} STUDY --role adjudicator",
            )
        decisions = decisions_of(connection, serial)
        settled = {one.reviewer for one in decisions if one.adjudicates and not one.undone}
        standing = current(decisions)
        if settled != {said.reviewer} or said.reviewer in {one.reviewer for one in standing}:
            raise UsageError(
                f"{place}{said.reviewer} decides a dispute that they reviewed, or that someone else has decided",
                fix=f"{UNDONE}remove this decision",
            )
        if len({one.says for one in standing}) < 2:
            raise UsageError(
                f"{place}{said.reviewer} decides an item without a dispute", fix=f"{UNDONE}remove this decision"
            )


def _assign_decided(connection: Connection, serial: int, said: ReviewDecision, *, overlap: int) -> None:
    """Takes a place for the reviewer, if one is left. Nobody who decided elsewhere is given the item again."""
    given = assignment_of(connection, serial, said.reviewer)
    if given is None:
        assign(connection, serial, said.reviewer, slot=None, position=0)
    if said.kind == "skip":
        set_assignment(connection, serial, said.reviewer, state="skipped", slot=None)
        return
    set_assignment(connection, serial, said.reviewer, state="decided")
    if given is None or given.slot is None:
        take_place(connection, serial, said.reviewer, overlap=overlap)
