"""The shares of stable and positional pairs beyond those that chance alone would produce at equal quality.

There are two baselines. Against the position rates, calls are independent and name position 1 with rate p1 and position
2 with rate p2, whatever the pair. Against repeats, swapping the order does no more than asking the same prompt again.
Then two replies to one prompt stand for the two orders of the pair.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, PairTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part, by_itself
from umpirical.measures.estimates.pairs import NO_PAIR, UNANSWERED, UNKNOWN_SLOTS, equal_pairs, slots_known
from umpirical.stats.differences import Difference, Region, excess_rate, paired_difference

Floats = NDArray[np.float64]
Kept = NDArray[np.bool_]


class Excess(NamedTuple):
    """One class of pairs: how to count it, and its share by chance."""

    counted: Callable[[PairTally], float]
    crossed: Callable[[int, int, int, int], int]
    """Pairs of calls of this class, given position 1 and position 2 answers in one order and in the other."""
    repeated: Callable[[int, int], int]
    """Ordered pairs of two repeats of one prompt that look like this class, given its position 1 and position 2
    answers."""
    expected: Callable[[Floats, Floats, Floats], float]
    """The share by chance, given position 1 calls, position 2 calls and calls per task."""
    chance: Callable[[Floats, Floats], Floats]
    """The same, given the rates of position 1 and position 2."""
    most: Callable[[Floats, Floats], Floats]
    """The greatest share that goes with these rates."""


def two_tasks(first: Floats, second: Floats, calls: Floats) -> float:
    """Product of two rates, over pairs of calls from different tasks, so that no call is multiplied by itself."""
    products = first.sum() * second.sum() - (first * second).sum()
    return float(products / (calls.sum() ** 2 - (calls**2).sum()))


def excess_over_chance(tallies: Tallies, variant: str, excess: Excess) -> list[Part]:
    """The excess over the position rates and, where prompts were repeated, the excess over repeats."""
    equal = equal_pairs(tallies, variant)
    outcomes = [
        t for t in tallies.outcomes if t.variant == variant and t.family == Family.EQUAL and sum(t.counts[:3]) > 1
    ]
    parts = [Part(_against_slot_rates(equal, excess))]
    if outcomes:
        parts.append(Part(_against_repeats(outcomes, excess), "against repeats"))
    return parts


def _against_slot_rates(equal: Sequence[PairTally], excess: Excess) -> Result:
    sums = _by_task(
        (t.cluster, [t.pairs, excess.counted(t), t.position_1_calls, t.position_2_calls]) for t in equal if t.pairs
    )
    incomplete = sum(tally.incomplete for tally in equal)
    missing = {UNANSWERED: incomplete} if incomplete else {}
    if not slots_known(equal):
        return Undefined(UNKNOWN_SLOTS, excluded=missing)
    if len(sums) < 3:
        return _too_few(len(sums), missing)
    pairs, counted, first, second = sums.T

    def baseline(kept: Kept) -> float:
        return excess.expected(first[kept], second[kept], 2 * pairs[kept])

    region = Region(first, second, 2 * pairs, excess.chance, excess.most)
    found = excess_rate(counted, pairs, baseline, region=region)
    method = "cluster-Wilson limits, joined with a task jackknife of the chance level, and a joint region of the rates"
    return _estimate(found, int(pairs.sum()), method, missing)


def _against_repeats(outcomes: Sequence[OutcomeTally], excess: Excess) -> Result:
    sums = _by_task((tally.cluster, _repeat_sums(tally, excess)) for tally in outcomes)
    if len(sums) < 3:
        return _too_few(len(sums), {})
    pairs, counted, chance = sums.T
    found = paired_difference(counted, pairs, chance, pairs)
    return _estimate(found, int(pairs.sum()), "cluster-Wilson limits of both rates, joined over tasks", {})


def _repeat_sums(tally: OutcomeTally, excess: Excess) -> list[float]:
    uv_1, uv_2, uv_tie, vu_1, vu_2, vu_tie = tally.counts
    uv, vu = uv_1 + uv_2 + uv_tie, vu_1 + vu_2 + vu_tie
    across = excess.crossed(uv_1, uv_2, vu_1, vu_2) / (uv * vu)
    within = excess.repeated(uv_1, uv_2) / (uv * (uv - 1)) + excess.repeated(vu_1, vu_2) / (vu * (vu - 1))
    return [tally.pairs, tally.pairs * across, tally.pairs * within / 2]


def _by_task(rows: Iterable[tuple[str, Sequence[float]]]) -> Floats:
    sums: dict[str, Floats] = {}
    for cluster, values in rows:
        sums[cluster] = sums.get(cluster, np.zeros(len(values))) + np.asarray(values, dtype=float)
    return np.array([sums[cluster] for cluster in sorted(sums)])


def _estimate(found: Difference, pairs: int, method: str, missing: dict[str, int]) -> Estimate:
    limits = Interval(found.low, found.high, method=method)
    return Estimate(found.value, found.value * pairs, pairs, "pair", limits, found.clusters, excluded=missing)


def _too_few(tasks: int, missing: dict[str, int]) -> Undefined:
    reasons = {
        0: NO_PAIR,
        1: "the data come from only one task; a chance level needs at least three",
    }
    few = "the data come from only two tasks; a chance level needs at least three"
    return Undefined(reasons.get(tasks, few), missing)


EXCESS = MeasureFamily(
    by_itself,
    scale="difference",
    contract=(
        "Undefined with fewer than three tasks, or if positions were not counted, as in published counts. Interval: "
        "cluster-Wilson limits of the share, joined with a task jackknife of the product of position rates, widened to "
        "a joint region of the three rates and cut to what is possible; or joined with the limits of the repeats' rate."
    ),
)


@EXCESS.measure(
    "Wording bias beyond chance",
    "How much more often than by chance it prefers the same answer in both orders.",
    worse="depends",
)
def excess_stable(tallies: Tallies, variant: str) -> list[Part]:
    """Wording bias minus its chance level: preference for a wording, separate from noise.

    Formula: stable / pairs - 2 p1 p2, with p1 and p2 the rates of position 1 and position 2 over calls; the product is
    taken over calls of different tasks. A judge that answers at random with these rates scores 0. If prompts were
    repeated, also `against repeats`: stable pairs over all combinations of a pair's repeats, minus the rate at which
    two replies to one prompt name different positions. That is 0 if swapping does no more than asking again. Level:
    canonical pair of equal quality. Bounds: -0.5 to 1; 0 is chance, above it is worse.
    """
    # The same content sits in position 1 in one order and in position 2 in the other.
    stable = Excess(
        counted=lambda tally: tally.stable,
        crossed=lambda uv_1, uv_2, vu_1, vu_2: uv_1 * vu_2 + uv_2 * vu_1,
        repeated=lambda first, second: 2 * first * second,
        expected=lambda first, second, calls: 2 * two_tasks(first, second, calls),
        chance=lambda one, two: 2 * one * two,
        most=lambda one, two: 2 * np.minimum(one, two),
    )
    return excess_over_chance(tallies, variant, stable)


@EXCESS.measure(
    "Position bias beyond chance",
    "How much more often than its position rates explain it names the same position in both orders.",
    worse="depends",
)
def excess_positional(tallies: Tallies, variant: str) -> list[Part]:
    """Position bias minus its chance level.

    Formula: positional / pairs - (p1² + p2²), with p1 and p2 the rates of position 1 and position 2 over calls; the
    products are taken over calls of different tasks. A constant lean to one position is already in p1 and p2. A value
    above 0 means that the favored position changes with the pair, or that position or guessing decides some tasks and
    others are tied. A value below 0 means that a preference for a wording overrides the position. If prompts were
    repeated, also `against repeats`: positional pairs over all combinations of a pair's repeats, minus the rate at
    which two replies to one prompt name the same position. The more the content matters, the further this is below 0.
    Level: canonical pair of equal quality. Bounds: -1 to 0.5; 0 is chance.
    """
    positional = Excess(
        counted=lambda tally: tally.positional,
        crossed=lambda uv_1, uv_2, vu_1, vu_2: uv_1 * vu_1 + uv_2 * vu_2,
        repeated=lambda first, second: first * (first - 1) + second * (second - 1),
        expected=lambda first, second, calls: two_tasks(first, first, calls) + two_tasks(second, second, calls),
        chance=lambda one, two: one**2 + two**2,
        most=lambda one, two: one + two,
    )
    return excess_over_chance(tallies, variant, positional)
