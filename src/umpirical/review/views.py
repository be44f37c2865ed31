"""What one person may see of an item. Nothing that is hidden from them leaves this module."""

from dataclasses import dataclass, replace

from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewMode
from umpirical.review.database.items import StoredItem
from umpirical.review.records import Revision


@dataclass(frozen=True, slots=True)
class ItemView:
    """What one person may see of an item now. What is hidden from them is not in it."""

    item: ReviewItem
    """Without target and opinions for a blind reviewer who has not decided."""
    revisions: tuple[Revision, ...]
    """In order. A blind reviewer who has not decided sees only the generator's text and their own."""
    own: ReviewDecision | None
    """Their newest decision on it that is not undone."""
    others: tuple[ReviewDecision, ...]
    """What each of the others says now; empty for a blind reviewer who has not decided."""


def view_for(person: str, found: StoredItem, *, mode: ReviewMode) -> ItemView:
    """The item as a reviewer may see it now."""
    if not _hides(person, found, mode=mode):
        return full_view(person, found)
    own = found.own(person)
    # A text that somebody else wrote reveals what they decided; one that this person wrote too is their own.
    made = {said.revision for said in found.decisions if said.reviewer == person}
    return ItemView(
        item=replace(found.item, target="", opinions=()),
        revisions=tuple(revision for revision in found.revisions if revision.number in made | {0}),
        own=own[-1] if own else None,
        others=(),
    )


def full_view(person: str, found: StoredItem) -> ItemView:
    """The item as an adjudicator sees it, or a reviewer who has decided."""
    standing = [said for said in found.decisions if not said.undone]
    own = [said for said in standing if said.reviewer == person]
    # Only the newest decision of each person counts, so only that one is shown.
    newest = {(said.reviewer, said.adjudicates): said.number for said in standing}
    others = tuple(
        said for said in standing if said.reviewer != person and newest[said.reviewer, said.adjudicates] == said.number
    )
    return ItemView(found.item, found.revisions, own[-1] if own else None, others)


def _hides(person: str, found: StoredItem, *, mode: ReviewMode) -> bool:
    """Whether a blind reviewer has yet to commit; a skip does not commit them."""
    own = found.own(person)
    return mode == "blind" and not (own and own[-1].kind != "skip")
