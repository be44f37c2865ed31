"""What one person may see of an item. Nothing that is hidden from them leaves this module."""

from dataclasses import replace

from umpirical.domain.reviews import ReviewMode
from umpirical.review.database.looking import Held
from umpirical.review.records import Shown

__all__ = ["everything", "shown_to"]


def shown_to(person: str, found: Held, *, mode: ReviewMode) -> Shown:
    """The item as a reviewer may see it now."""
    if not _hides(person, found, mode=mode):
        return everything(person, found)
    own = found.own(person)
    # A text that somebody else made tells what they said; one that this person has made too is theirs.
    made = {said.revision for said in found.decisions if said.reviewer == person}
    return Shown(
        item=replace(found.item, target="", opinions=()),
        revisions=tuple(revision for revision in found.revisions if revision.number in made | {0}),
        own=own[-1] if own else None,
        others=(),
    )


def everything(person: str, found: Held) -> Shown:
    """The item as an adjudicator sees it, and a reviewer who has decided."""
    standing = [said for said in found.decisions if not said.undone]
    own = [said for said in standing if said.reviewer == person]
    # What somebody has replaced is theirs no more: only the newest of each counts, and only it is shown.
    newest = {(said.reviewer, said.adjudicates): said.number for said in standing}
    others = tuple(
        said for said in standing if said.reviewer != person and newest[said.reviewer, said.adjudicates] == said.number
    )
    return Shown(found.item, found.revisions, own[-1] if own else None, others)


def _hides(person: str, found: Held, *, mode: ReviewMode) -> bool:
    """Whether a blind reviewer has yet to commit; a skip commits to nothing."""
    own = found.own(person)
    return mode == "blind" and not (own and own[-1].kind != "skip")
