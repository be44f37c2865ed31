"""Adding decisions that were made elsewhere, under the names and times they were made with."""

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewDecision
from umpirical.review.database.assignments import (
    assign,
    assignment_of,
    refresh,
    set_assignment,
    set_overlap,
    take_place,
)
from umpirical.review.database.connection import Database
from umpirical.review.database.counters import bump
from umpirical.review.database.decisions import append_decision, append_undo, decisions_of
from umpirical.review.database.items import serial_of
from umpirical.review.database.revisions import revision_with
from umpirical.review.records import Revision

__all__ = ["restore"]


def restore(
    database: Database, revisions: Iterable[Revision], decisions: Iterable[ReviewDecision], *, overlap: int, at: str
) -> int:
    """Adds the decisions that are new, all or none, renumbered in their order. Returns how many."""
    texts = {(revision.item, revision.number): revision for revision in revisions if revision.number}
    new = 0
    with database.write() as connection:
        set_overlap(connection, overlap, at=at)
        for said in sorted(decisions, key=lambda decision: decision.number):
            new += _restore(connection, said, texts, overlap=overlap, at=at)
        if new:
            bump(connection)
    return new


def _restore(
    connection: Connection, said: ReviewDecision, texts: dict[tuple[str, int], Revision], *, overlap: int, at: str
) -> bool:
    serial = serial_of(connection, said.item)
    if serial is None:
        raise UsageError(
            f"a decision is about item {said.item}, which is not in this review", fix="add the items first"
        )
    if said.revision:
        made = texts.get((said.item, said.revision))
        if made is None:
            raise UsageError(f"the text of revision {said.revision} of item {said.item} is missing")
        said = replace(said, revision=revision_with(connection, serial, made))
    if any(_same(said, known) for known in decisions_of(connection, serial)):
        return False
    added = append_decision(connection, serial, said)
    if said.undone:
        append_undo(connection, added.number, person=said.reviewer, at=at)
    elif not said.adjudicates:
        _assign_decided(connection, serial, said, overlap=overlap)
    refresh(connection, serial, overlap=overlap)
    return True


def _same(said: ReviewDecision, known: ReviewDecision) -> bool:
    return replace(said, number=known.number) == known


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
