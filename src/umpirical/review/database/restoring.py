"""Taking in decisions that were made elsewhere, under their own names and times."""

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import Connection

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewDecision
from umpirical.review.database.connecting import Database
from umpirical.review.database.counting import bump
from umpirical.review.database.looking import serial_of
from umpirical.review.database.places import assignment_of, hold, put_down, refresh, set_assignment, set_overlap
from umpirical.review.database.rows import decisions_of
from umpirical.review.database.saying import append_decision, append_undo, revision_with
from umpirical.review.records import Revision

__all__ = ["restore"]


def restore(
    database: Database, revisions: Iterable[Revision], decisions: Iterable[ReviewDecision], *, overlap: int, at: str
) -> int:
    """Adds the decisions that are not there yet, all or none, numbered anew in their order. Returns how many."""
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
        _take_place(connection, serial, said, overlap=overlap)
    refresh(connection, serial, overlap=overlap)
    return True


def _same(said: ReviewDecision, known: ReviewDecision) -> bool:
    return replace(said, number=known.number) == known


def _take_place(connection: Connection, serial: int, said: ReviewDecision, *, overlap: int) -> None:
    """The reviewer's place, if there is one left. Nobody who has decided elsewhere is given the item again."""
    given = assignment_of(connection, serial, said.reviewer)
    if given is None:
        put_down(connection, serial, said.reviewer, slot=None, position=0)
    if said.kind == "skip":
        set_assignment(connection, serial, said.reviewer, state="skipped", slot=None)
        return
    set_assignment(connection, serial, said.reviewer, state="decided")
    if given is None or given.slot is None:
        hold(connection, serial, said.reviewer, overlap=overlap)
