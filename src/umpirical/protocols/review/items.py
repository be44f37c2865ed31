"""What a generator wrote, as people review it: an item for each text that passed its checks and its validators.

What a program has proved needs nobody's eyes and is no item.
"""

from typing import TYPE_CHECKING

from umpirical.domain.attempts import Attempt
from umpirical.domain.reviews import ReviewItem
from umpirical.protocols.writing import Writing
from umpirical.stimuli.generation.commissions import Commission

if TYPE_CHECKING:
    from umpirical.review.desk import Desk

__all__ = ["ItemFeed", "review_item"]

BATCH = 500
"""Texts that are brought at a time."""


class ItemFeed:
    """The items of a study in the order they were written. Generation may go on meanwhile in another process."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._serial = 0

    @property
    def wanted(self) -> int:
        """Items there will be if every text that is asked for is written."""
        return self._writing.wanted

    def into(self, desk: "Desk") -> int:
        """Brings to the desk what has come since the last call. Returns how many items were new to it."""
        new = 0
        while found := self._writing.items_after(self._serial, most=BATCH):
            new += desk.add(item for _, item in found if item is not None)
            # Only now: what did not reach the desk is brought the next time.
            self._serial = found[-1][0]
        return new


def review_item(commission: Commission, attempt: Attempt, *, sensitive: bool = False) -> ReviewItem:
    """An attempt that was taken, as a reviewer meets it."""
    if attempt.stimulus is None:
        raise ValueError(f"attempt {attempt.number} at {attempt.commission} was rejected, and is nothing to review")
    perturbation, terms, source = commission.perturbation, commission.terms, commission.source
    labelled = perturbation.expectation != "same-verdict"
    return ReviewItem(
        id=attempt.stimulus.id,
        test=perturbation.name,
        question=perturbation.review_question,
        task=source.task,
        # A text written from nothing has an original of its own task only as an example.
        before="" if perturbation.expectation == "given-label" else source.candidates[0],
        after=attempt.text,
        generator=terms.generator.model,
        rubric=terms.rubric,
        labels=terms.scale.labels if labelled else (),
        target=commission.target,
        checks=attempt.checks,
        opinions=attempt.opinions,
        sensitive=sensitive,
    )
