"""Two decisions agree if they come down to the same."""

from typing import get_args

import pytest

from umpirical.domain.reviews import REASONS, Reason, ReviewDecision, ReviewOutcome


def said(kind: str, **fields) -> ReviewDecision:
    given = {"revision": 0, "at": "", "milliseconds": 0, "mode": "blind", "guideline": 0}
    return ReviewDecision(1, "item", "ana", kind, **given | fields)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (said("accept"), said("accept", comment="yes", milliseconds=7, mode="assisted", guideline=2), True),
        (said("accept"), said("reject"), False),
        (said("accept"), said("skip"), False),
        (said("accept", label="1"), said("accept", label="2"), False),
        (said("accept", revision=1), said("edit", revision=1), True),
        (said("edit", revision=1), said("edit", revision=2), False),
        (said("reject", reason="label", label="2"), said("reject", reason="other", revision=3), True),
    ],
)
def test_decisions_agree_on_text_and_label(one, other, agree):
    assert (one.says == other.says) is agree


def test_there_is_a_word_for_every_reason_and_a_key():
    assert tuple(REASONS) == get_args(Reason)
    assert len(REASONS) == 6
    assert all(words and words[0].islower() for words in REASONS.values())


def test_an_outcome_is_told_by_what_counts():
    accepted = ReviewOutcome("item", "accepted", text="Text.", label="1", reviewers=("ana",))
    assert accepted.digest == ReviewOutcome("item", "accepted", text="Text.", label="1", reviewers=("bob",)).digest
    for other in (
        ReviewOutcome("other", "accepted", text="Text.", label="1"),
        ReviewOutcome("item", "rejected", text="Text.", label="1"),
        ReviewOutcome("item", "accepted", text="Text!", label="1"),
        ReviewOutcome("item", "accepted", text="Text.", label="2"),
    ):
        assert other.digest != accepted.digest
