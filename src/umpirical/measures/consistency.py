"""Whether verdicts stay the same when the two answers are swapped, and why they change: noise, position, or tasks.

A judge that guesses reverses its verdict on swapping as often as one that follows a position in half of the pairs. But
it names both positions equally often, and the other does not. So noise is separated from bias without any repeats.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import TIER_2, Family
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import WHOLE_VARIANT
from umpirical.measures.estimates.pairs import NO_PAIR, UNKNOWN_SLOTS, incomplete, pair_share, slots_known
from umpirical.measures.estimates.rates import ONE_TASK, Counted, by_task, difference_result, paired_by_task
from umpirical.measures.natural import NATURAL
from umpirical.stats.intervals import jackknife, student
from umpirical.stats.repeats import icc_of, repeat_sums

Floats = NDArray[np.float64]

UNPOOLED = TIER_2 | {Family.FINE}

LARGE = 2.0
"""Requirements. A judge that reads the task sees a difference of this size or more."""


def swapped_pairs(tallies: Tallies, variant: str) -> list[PairTally]:
    """All pairs of two different answers. Any judge guesses on fine differences that it cannot see: they are left out.

    Labelled pairs of a group are also among all of them: each counts once.
    """
    own = [tally for tally in tallies.pairs if tally.variant == variant and tally.family not in UNPOOLED]
    return [tally for tally in own if tally.family != NATURAL or not tally.stratum]


@WHOLE_VARIANT.measure(
    "Verdicts that change with the order",
    "How often its verdict changes when the two answers are swapped.",
    worse="higher",
    protocols=("datasheet", "pairs"),
)
def swap_inconsistency(tallies: Tallies, variant: str) -> Result:
    """Share of pairs whose two orders have different verdicts, over all pairs, whichever answer is better.

    Formula: (positional + one-sided) / pairs, without fine differences. Both noise and position bias cause it; the lean
    to one position distinguishes them. Level: canonical pair, asked in both orders; repeats are averaged. Bounds: 0 to
    1, higher is worse. Undefined without a pair answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return pair_share(swapped_pairs(tallies, variant), lambda tally: tally.positional + tally.one_sided)


@WHOLE_VARIANT.measure(
    "Lean to one position",
    "How much more often it names one position than the other. Each answer is in each position once.",
    worse="higher",
    protocols=("datasheet", "pairs"),
)
def position_lean(tallies: Tallies, variant: str) -> Result:
    """Difference between how often the two positions are named, over the calls on all pairs asked in both orders.

    Formula: |position 1 calls - position 2 calls| / (2 · pairs). Each answer is in each position once, so a preference
    for an answer cancels out, and so does guessing. A judge that always names one position scores 1, random guessing 0.
    Level: call. Bounds: 0 to 1, higher is worse. Undefined without two tasks with a pair answered in both orders, or if
    positions were not counted, as in published counts. Interval: cluster-Wilson limits of both rates, joined over tasks
    (Newcombe's square-and-add), without their signs; it starts at 0 if the two may be equal.
    """
    pairs = swapped_pairs(tallies, variant)
    missing = {reason: 2 * count for reason, count in incomplete(pairs).items()}
    if not slots_known(pairs):
        return Undefined(UNKNOWN_SLOTS, excluded={reason: count for reason, count in missing.items() if count})
    one, other = (
        [Counted(tally.cluster, getattr(tally, name), 2 * tally.pairs) for tally in pairs]
        for name in ("position_1_calls", "position_2_calls")
    )
    found = difference_result(paired_by_task(one, other), unit="call", empty=NO_PAIR, excluded=missing)
    if isinstance(found, Undefined) or found.interval is None:
        return found
    ends = [found.interval.low or 0.0, found.interval.high or 0.0]
    low = 0.0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends))
    return replace(
        found,
        value=abs(found.value),
        numerator=abs(found.numerator),
        interval=replace(found.interval, low=low, high=max(map(abs, ends))),
    )


@WHOLE_VARIANT.measure(
    "Errors in some task families",
    "How similar its results are within a task family: 0 if errors are spread evenly, 1 if each family is all right "
    "or all wrong.",
    worse="depends",
    scale="coefficient",
)
def error_clustering(tallies: Tallies, variant: str) -> Result:
    """Intraclass correlation of correct verdicts within task families, at differences of 2 requirements or more.

    Formula: ICC(1) of correct calls, by analysis of variance over families. Errors that occur anywhere give 0. A judge
    that is perfect on half of the families and guesses on the others gives 1/3. Level: call, on pairs of different
    quality; the denominator counts calls. Bounds: at most 1; neither direction is bad in itself. Undefined without an
    error, without a correct verdict, or with fewer than three families. Interval: family jackknife of Fisher's z, with
    Student's t.
    """
    chosen = [t for t in tallies.pairs if t.variant == variant and t.family == Family.GRADED and t.delta >= LARGE]
    missing = {reason: 2 * count for reason, count in incomplete(chosen).items() if count}
    right, calls = (
        np.array(column)
        for column in by_task((tally.cluster, tally.correct_calls, 2 * tally.pairs) for tally in chosen)
    )
    if len(calls) < 3:
        return Undefined(ONE_TASK if len(calls) == 1 else "fewer than three families were measured", excluded=missing)
    if not 0 < right.sum() < calls.sum():
        return Undefined("its verdicts on large differences are all correct, or all wrong", excluded=missing)
    value, low, high = _correlation(right, calls)
    if not np.isfinite([low, high]).all():
        return Undefined("its errors, or its correct verdicts, are all in one family", excluded=missing)
    total = round(float(calls.sum()))
    limits = Interval(low, high, method="family jackknife of Fisher's z")
    return Estimate(value, value * total, total, "call", limits, len(calls), excluded=missing)


def _correlation(right: Floats, calls: Floats) -> tuple[float, float, float]:
    """The correlation and its limits, on Fisher's scale: z = log((1 + (m - 1) r) / (1 - r)) / 2, for m calls a family.

    Families that are alike to a call would show no spread. So the standard error is at least .8 of that of normal
    numbers, sqrt(m / (2 (m - 1) (families - 2))); half as many errors as families show little of it by themselves.
    """
    families, size = len(calls), max(2.0, float(calls.mean()))
    parts = repeat_sums(calls, right, right, np.ones(families))

    def fisher(kept: NDArray[np.bool_]) -> float:
        r = np.clip(icc_of(parts[kept].sum(axis=0)), -0.99 / (size - 1), 0.999)
        return float(np.log((1 + (size - 1) * r) / (1 - r)) / 2)

    found = jackknife(fisher, families)
    least = 0.8 * np.sqrt(size / (2 * (size - 1) * (families - 2)))
    if not np.isfinite(found.standard_error):
        return float("nan"), float("nan"), float("nan")
    half = student(families, 0.95) * max(least, float(found.standard_error))
    odds = np.exp(2 * (float(found.value) + np.array([-half, half])))
    low, high = (odds - 1) / (odds + size - 1)
    return float(icc_of(parts.sum(axis=0))), float(low), float(high)
