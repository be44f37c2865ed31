"""Pairs of answers, compared in both orders by a `compare` judge or graded one by one by a `grade` judge.

Which pairs a measure is about, how they are counted, and shares of them: of all, by step of the ladder, by transform.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from math import isclose
from typing import NamedTuple

from umpirical.domain.measures import Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradePairTally, OutcomeTally, PairTally, Tallies
from umpirical.measures.catalogue import Part
from umpirical.measures.estimates.items import chance_corrected
from umpirical.measures.estimates.rates import Counted, clustered_rate

UNANSWERED = "without an answer in both orders"
UNGRADED = "without a grade for both answers"

CONTROLS = {Family.SUBSET: "different-subset", Family.LENGTH: "longer"}
"""Pairs beside those of equal quality that have no better content either, and what they are called: answers that meet
as many requirements but not the same, and answers of which one says the same in more words."""

NO_PAIR = "no pair has an answer in both orders"
ABSTAINED = "with an abstention"
NO_VERDICTS = "no pair has a verdict in both orders"
NO_GRADED_PAIR = "no pair has a grade for both answers"
UNKNOWN_SLOTS = "the named position is unknown for some calls"


# Which pairs.


def equal_pairs(tallies: Tallies, variant: str) -> list[PairTally]:
    return of_family(tallies, variant, Family.EQUAL)


def ladder_pairs(tallies: Tallies, variant: str) -> list[PairTally]:
    return of_family(tallies, variant, Family.GRADED)


def of_family(tallies: Tallies, variant: str, family: str) -> list[PairTally]:
    return [tally for tally in tallies.pairs if tally.variant == variant and tally.family == family]


def incomplete_pairs(tallies: Tallies, variant: str, families: Collection[str] = ()) -> dict[str, int]:
    """Pairs of `families` (of every family, if none is named) that are in no outcome tally, by reason."""
    chosen = [t for t in tallies.pairs if t.variant == variant and (not families or t.family in families)]
    counts = {UNANSWERED: sum(t.incomplete for t in chosen), ABSTAINED: sum(t.abstained_pairs for t in chosen)}
    return {reason: count for reason, count in counts.items() if count}


def only_stratum(tallies: Tallies, stratum: str) -> Tallies:
    """The pairs of one stratum, which counting by family would pool with the others."""
    return replace(
        tallies,
        pairs=tuple(tally for tally in tallies.pairs if tally.stratum == stratum),
        grade_pairs=tuple(tally for tally in tallies.grade_pairs if tally.stratum == stratum),
    )


# How they are counted.


class PairCount(NamedTuple):
    """Pairs of one step in one task, and the sum of their scores."""

    cluster: str
    delta: float
    score: float
    pairs: int
    incomplete: int
    reason: str
    """Why the incomplete ones are left out."""
    lost: float = 0.0
    """What is missing of the counted ones, in repeats that were not answered."""
    stratum: str = ""


def count_pairs(
    tallies: Tallies,
    variant: str,
    families: Sequence[str],
    *,
    compared: Callable[[PairTally], float],
    graded: Callable[[GradePairTally], float],
) -> list[PairCount]:
    """The pairs of some families, whichever kind of judge was asked; `compared` or `graded` gives the score."""
    return [
        *(
            _count(tally, compared(tally), UNANSWERED)
            for tally in tallies.pairs
            if tally.variant == variant and tally.family in families
        ),
        *(
            _count(tally, graded(tally), UNGRADED)
            for tally in tallies.grade_pairs
            if tally.variant == variant and tally.family in families
        ),
    ]


def _count(tally: PairTally | GradePairTally, score: float, reason: str) -> PairCount:
    return PairCount(
        tally.cluster, tally.delta, score, tally.pairs, tally.incomplete, reason, tally.lost, tally.stratum
    )


def correct_pairs(tallies: Tallies, variant: str, family: str = Family.GRADED) -> list[PairCount]:
    """Pairs scored by whether the better answer was preferred, each of two calls counting one half."""
    return count_pairs(
        tallies,
        variant,
        (family,),
        compared=lambda tally: tally.correct_calls / 2,
        graded=lambda tally: tally.better_higher,
    )


def false_preference(tally: PairTally) -> float:
    """Named winners, in pairs: a one-sided commit is one call of two."""
    return tally.stable + tally.positional + tally.one_sided / 2


def different_grades(tally: GradePairTally) -> float:
    return tally.better_higher + tally.lesser_higher


def excluded(counts: Iterable[PairCount]) -> dict[str, int]:
    """Pairs that are in no denominator, by reason."""
    missing: dict[str, int] = {}
    for count in counts:
        if count.incomplete:
            missing[count.reason] = missing.get(count.reason, 0) + count.incomplete
    return missing


class Named(NamedTuple):
    """Calls by the content they named, over all pairs of a tally: two per pair, the repeats of which are averaged."""

    u: float
    v: float
    tie: float

    @property
    def calls(self) -> float:
        return self.u + self.v + self.tie


def named(tally: OutcomeTally) -> Named:
    """Maps positions back to contents: u sits in position 1 of order ab and in position 2 of order ba."""
    uv_1, uv_2, uv_tie, vu_1, vu_2, vu_tie = tally.counts
    once = tally.pairs / (uv_1 + uv_2 + uv_tie)
    return Named(once * (uv_1 + vu_2), once * (uv_2 + vu_1), once * (uv_tie + vu_tie))


# Shares of them.


def counted_share(counts: Iterable[PairCount], *, joint: float | None = None) -> Result:
    """The mean score of a pair; `joint` as in `clustered_rate`."""
    chosen = list(counts)
    graded = any(count.reason == UNGRADED for count in chosen)
    return clustered_rate(
        [Counted(count.cluster, count.score, count.pairs) for count in chosen],
        unit="pair",
        empty=NO_GRADED_PAIR if graded else NO_PAIR,
        excluded=excluded(chosen),
        lost=sum(count.lost for count in chosen),
        joint=joint,
    )


def pair_share(
    tallies: Iterable[PairTally], score: Callable[[PairTally], float], *, joint: float | None = None
) -> Result:
    """The mean of `score` over pairs that were asked in both orders."""
    return counted_share((_count(tally, score(tally), UNANSWERED) for tally in tallies), joint=joint)


def right_half(tally: PairTally) -> float:
    """Right calls in pairs, where a call without a winner counts one half: a coin scores one half."""
    return (2 * tally.pairs + tally.correct_calls - tally.wrong_calls) / 4


def pair_agreement_of(tallies: Iterable[PairTally]) -> Result:
    """Right calls less wrong ones, as a share of all calls: 1 is always right, 0 is chance, -1 is always wrong."""
    return chance_corrected(pair_share(tallies, right_half))


def slot_share(tallies: Iterable[PairTally], score: Callable[[PairTally], float]) -> Result:
    """A share of the calls, two per pair."""
    chosen = list(tallies)
    if not slots_known(chosen):
        return Undefined(UNKNOWN_SLOTS, excluded=incomplete(chosen))
    return clustered_rate(
        [Counted(tally.cluster, score(tally), 2 * tally.pairs) for tally in chosen],
        unit="call",
        empty=NO_PAIR,
        excluded={reason: 2 * count for reason, count in incomplete(chosen).items()},
        lost=2 * lost(chosen),
    )


def slots_known(chosen: Iterable[PairTally]) -> bool:
    """Whether every named winner was also counted by position, which is rare in published counts."""
    return all(
        isclose(
            tally.position_1_calls + tally.position_2_calls,
            2 * (tally.stable + tally.positional) + tally.one_sided,
            abs_tol=1e-9,
        )
        for tally in chosen
    )


IN_QUAD = 2.0
"""Pairs of a crossed pair, which show the same two answers. A judge that misses one of them may always miss the other,
so without an error a crossed pair counts as one unit."""


def share_by_step(counts: Sequence[PairCount], *, joint: float | None = None) -> list[Part]:
    """One share for each size of the quality difference."""
    return [
        Part(counted_share((count for count in counts if count.delta == delta), joint=joint), f"{delta:g}")
        for delta in sorted({count.delta for count in counts})
    ]


def by_step(chosen: Sequence[PairTally], result: Callable[[Sequence[PairTally]], Result]) -> list[Part]:
    """`result` for the pairs of each step, whatever their transforms."""
    return [
        Part(result([tally for tally in chosen if tally.delta == delta]), f"{delta:g}")
        for delta in sorted({tally.delta for tally in chosen})
    ]


def incomplete(chosen: Iterable[PairTally]) -> dict[str, int]:
    """Pairs that were not answered in both orders, by reason."""
    return {UNANSWERED: sum(tally.incomplete for tally in chosen)}


def lost(chosen: Iterable[PairTally]) -> float:
    """What is missing of the counted pairs, in repeats that were not answered."""
    return sum(tally.lost for tally in chosen)
