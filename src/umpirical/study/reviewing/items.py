"""What a generator wrote, as people review it: an item for each text that passed its checks and its validators.

What a program has proved needs nobody's eyes and is no item.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from umpirical.domain.attempts import Attempt
from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewItem
from umpirical.stimuli.generation.commissions import Commission
from umpirical.study.files import Study
from umpirical.study.stress.making import existing_generation
from umpirical.study.stress.originals import read_originals
from umpirical.study.stress.writing import planned_commissions

if TYPE_CHECKING:
    from umpirical.review.desk import Desk

__all__ = ["ItemFeed", "review_item"]

BATCH = 500
"""Attempts that are brought at a time."""


class ItemFeed:
    """The items of a study in the order they were written. Generation may go on meanwhile in another process.

    Only what the study asks for as it stands now: a text written for another rubric is in the record, and no item.
    """

    def __init__(self, study: Study) -> None:
        if study.stress is None or not study.stress.generated:
            raise UsageError(
                "no test of the study is written by a model, so there is nothing to review",
                fix="name a test such as paraphrase under stress, with a generator and a validator",
            )
        self._folder = study.folder
        self._sensitive = frozenset(study.spec.review.sensitive)
        planned = planned_commissions(study, read_originals(study).stimuli)
        self._commissions = {commission.id: commission for commission in planned.commissions}
        self._serial = 0

    @property
    def wanted(self) -> int:
        """Items there will be if every text that is asked for is written."""
        return len(self._commissions)

    def into(self, desk: "Desk") -> int:
        """Brings to the desk what has come since the last call. Returns how many items were new to it."""
        # Nothing is held open in between: generation may not have begun, and its record is not made by looking.
        store = existing_generation(self._folder)
        if store is None:
            return 0
        new = 0
        try:
            while found := list(islice(store.accepted_after(self._serial), BATCH)):
                new += desk.add(self._items(attempt for _, attempt in found))
                # Only now: what did not reach the desk is brought the next time.
                self._serial = found[-1][0]
        finally:
            store.close()
        return new

    def _items(self, attempts: Iterable[Attempt]) -> Iterator[ReviewItem]:
        for attempt in attempts:
            if commission := self._commissions.get(attempt.commission):
                yield review_item(commission, attempt, sensitive=attempt.test in self._sensitive)


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
