"""The items that people review: one for each generated text that passed its checks and its validators.

A text that a program has proved correct needs no review and is not an item.
"""

from typing import TYPE_CHECKING

from umpirical.domain.attempts import Attempt
from umpirical.domain.reviews import ReviewItem
from umpirical.protocols.writing import Writing
from umpirical.stimuli.generation.commissions import Commission

if TYPE_CHECKING:
    from umpirical.review.desk import Desk

BATCH = 500
"""How many texts are added at a time."""


class ItemFeed:
    """The items of a study in the order they were written. Another process may still be generating."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._serial = 0

    @property
    def wanted(self) -> int:
        """How many items there will be if every requested text is written."""
        return self._writing.wanted

    def into(self, desk: "Desk") -> int:
        """Adds to the desk what has been written since the last call. Returns how many items were new."""
        new = 0
        while found := self._writing.items_after(self._serial, most=BATCH):
            new += desk.add(item for _, item in found if item is not None)
            # Only now: whatever did not reach the desk is added next time.
            self._serial = found[-1][0]
        return new


def review_item(commission: Commission, attempt: Attempt, *, sensitive: bool = False) -> ReviewItem:
    """Returns an accepted attempt as an item for reviewers."""
    if attempt.stimulus is None:
        raise ValueError(
            f"attempt {attempt.number} at {attempt.commission} was rejected, so there is nothing to review"
        )
    perturbation, terms, source = commission.perturbation, commission.terms, commission.source
    labelled = perturbation.expectation != "same-verdict"
    return ReviewItem(
        id=attempt.stimulus.id,
        test=perturbation.name,
        question=perturbation.review_question,
        task=source.task,
        # A text written from scratch has no original; the one of its task is only an example.
        before="" if perturbation.expectation == "given-label" else source.candidates[0],
        after=attempt.text,
        generator=terms.generator.model,
        rubric=commission.rubric,
        labels=terms.scale.labels if labelled else (),
        target=commission.target,
        checks=attempt.checks,
        opinions=attempt.opinions,
        sensitive=sensitive,
    )
