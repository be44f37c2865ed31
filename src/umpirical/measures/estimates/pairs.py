"""Shares of pairs: compared in both orders by a `compare` judge, or graded one by one by a `grade` judge."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import GradePairTally, PairTally, Tallies
from umpirical.measures.estimates.rates import Counted, clustered_rate

__all__ = [
    "UNANSWERED",
    "UNGRADED",
    "PairCount",
    "count_pairs",
    "counted_share",
    "left_out",
    "pair_share",
    "share_by_step",
]

UNANSWERED = "without an answer in both orders"
UNGRADED = "without a grade for both answers"


class PairCount(NamedTuple):
    """Pairs of one step in one task, and how many of them scored."""

    task_id: str
    delta: float
    score: float
    pairs: int
    incomplete: int
    reason: str
    """Why the incomplete ones are left out."""


def count_pairs(
    tallies: Tallies,
    arm: str,
    families: Sequence[str],
    *,
    compared: Callable[[PairTally], float],
    graded: Callable[[GradePairTally], float],
) -> list[PairCount]:
    """What was counted of some families, whichever kind of judge it was; the two functions give the numerator."""
    return [
        *(
            PairCount(tally.task_id, tally.delta, compared(tally), tally.pairs, tally.incomplete, UNANSWERED)
            for tally in tallies.pairs
            if tally.arm == arm and tally.family in families
        ),
        *(
            PairCount(tally.task_id, tally.delta, graded(tally), tally.pairs, tally.incomplete, UNGRADED)
            for tally in tallies.grade_pairs
            if tally.arm == arm and tally.family in families
        ),
    ]


def counted_share(counts: Iterable[PairCount]) -> Result:
    """The mean score of a pair."""
    chosen = list(counts)
    graded = any(count.reason == UNGRADED for count in chosen)
    return clustered_rate(
        [Counted(count.task_id, count.score, count.pairs) for count in chosen],
        unit="pair",
        empty="no pair has a grade for both answers" if graded else "no pair has an answer in both orders",
        left_out=left_out(chosen),
    )


def left_out(counts: Iterable[PairCount]) -> dict[str, int]:
    """Pairs that are in no denominator, by reason."""
    missing: dict[str, int] = {}
    for count in counts:
        if count.incomplete:
            missing[count.reason] = missing.get(count.reason, 0) + count.incomplete
    return missing


def share_by_step(name: str, counts: Sequence[PairCount], arm: str) -> list[Measure]:
    """One share for each size of the quality difference."""
    return [
        Measure(name, counted_share(count for count in counts if count.delta == delta), arm, f"{delta:g}")
        for delta in sorted({count.delta for count in counts})
    ]


def pair_share(tallies: Iterable[PairTally], score: Callable[[PairTally], float]) -> Result:
    """The mean of `score` over pairs, each pair asked in both orders."""
    return counted_share(
        PairCount(tally.task_id, tally.delta, score(tally), tally.pairs, tally.incomplete, UNANSWERED)
        for tally in tallies
    )
