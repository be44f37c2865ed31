"""Writing into a review what a file adds to it, with where it came from."""

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy import select

from umpirical.domain.reviews import ReviewDecision
from umpirical.review.database.counting import record_event
from umpirical.review.database.tables import guideline
from umpirical.review.desk import Desk
from umpirical.review.exchange.merging import Additions, identity

__all__ = ["guidelines_of", "restore"]


def guidelines_of(desk: Desk) -> tuple[tuple[int, str], ...]:
    """Every guideline there was, by version."""
    query = select(guideline.c.version, guideline.c.text).order_by(guideline.c.version)
    with desk.database.read() as connection:
        return tuple((row.version, row.text) for row in connection.execute(query))


def restore(desk: Desk, additions: Additions, *, source: str, at: str) -> int:
    """Adds what is to be added, and records of each new decision where it came from. Returns how many are new."""
    if not additions.decisions and not additions.items and not additions.guidelines:
        return 0
    desk.add(additions.items)
    versions = _restore_guidelines(desk, additions)
    before = {decision.number for decision in desk.decisions()}
    revisions = [*desk.revisions(), *additions.revisions]
    wanted = [replace(decision, guideline=versions[decision.guideline]) for decision in additions.decisions]
    new = desk.restore(revisions, wanted)
    if new:
        _record_source(desk, before, wanted, source=source, at=at)
    return new


def _restore_guidelines(desk: Desk, additions: Additions) -> Mapping[int, int]:
    """Version in the file to version here. What was in force here stays so, or else the file decides."""
    here = {text: version for version, text in guidelines_of(desk)}
    was = desk.guideline()[1]
    versions = {0: 0}
    for version, text in additions.guidelines:
        versions[version] = here[text] if text in here else desk.set_guideline(text)
    if (meant := was or additions.in_force) and desk.guideline()[1] != meant:
        desk.set_guideline(meant)
    return versions


def _record_source(desk: Desk, before: set[int], wanted: list[ReviewDecision], *, source: str, at: str) -> None:
    came = {identity(decision) for decision in wanted}
    new = [one for one in desk.decisions() if one.number not in before and identity(one) in came]
    with desk.database.write() as connection:
        for decision in new:
            record_event(
                connection, "imported", at=at, person=decision.reviewer, decision=decision.number, detail=source
            )
