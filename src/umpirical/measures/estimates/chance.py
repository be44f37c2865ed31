"""The shares of stable and positional pairs that chance alone would produce at equal quality.

There are two baselines. Against the slot rates, calls are independent and name slot 1 with rate p1 and slot 2 with rate
p2, whatever the pair. Against repeats, swapping the order does no more than asking the same prompt again, so two
answers to one prompt stand for the two orders of the pair.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, PairTally, Tallies
from umpirical.measures.estimates.pairs import NO_PAIR, UNANSWERED, UNKNOWN_SLOTS, equal_pairs, slots_known
from umpirical.stats.differences import Difference, excess_rate, paired_difference

Floats = NDArray[np.float64]
Kept = NDArray[np.bool_]


class Excess(NamedTuple):
    """One class of pairs: how to count it, and its share by chance."""

    counted: Callable[[PairTally], float]
    crossed: Callable[[int, int, int, int], int]
    """Pairs of calls of this class, given slot 1 and slot 2 answers in one order and in the other."""
    repeated: Callable[[int, int], int]
    """Ordered pairs of two repeats of one prompt that look like this class, given its slot 1 and slot 2 answers."""
    expected: Callable[[Floats, Floats, Floats], float]
    """The share by chance, given slot 1 calls, slot 2 calls and calls per task."""


def two_tasks(first: Floats, second: Floats, calls: Floats) -> float:
    """Product of two rates, over pairs of calls from different tasks, so that no call is multiplied by itself."""
    products = first.sum() * second.sum() - (first * second).sum()
    return float(products / (calls.sum() ** 2 - (calls**2).sum()))


def excess_measures(name: str, tallies: Tallies, arm: str, excess: Excess) -> list[Measure]:
    """The excess over the slot rates and, where prompts were repeated, the excess over repeats."""
    equal = equal_pairs(tallies, arm)
    outcomes = [t for t in tallies.outcomes if t.arm == arm and t.family == Family.DELTA0 and sum(t.counts[:3]) > 1]
    measures = [Measure(name, _against_slot_rates(equal, excess), arm)]
    if outcomes:
        measures.append(Measure(name, _against_repeats(outcomes, excess), arm, "against repeats"))
    return measures


def _against_slot_rates(equal: Sequence[PairTally], excess: Excess) -> Result:
    sums = _by_task((t.cluster, [t.pairs, excess.counted(t), t.slot_1_calls, t.slot_2_calls]) for t in equal if t.pairs)
    incomplete = sum(tally.incomplete for tally in equal)
    missing = {UNANSWERED: incomplete} if incomplete else {}
    if not slots_known(equal):
        return Undefined(UNKNOWN_SLOTS, left_out=missing)
    if len(sums) < 3:
        return _too_few(len(sums), missing)
    pairs, counted, first, second = sums.T

    def baseline(kept: Kept) -> float:
        return excess.expected(first[kept], second[kept], 2 * pairs[kept])

    found = excess_rate(counted, pairs, baseline)
    method = "cluster-Wilson limits, joined with a task jackknife of the chance level"
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
    limits = Interval(found.low, found.high, method)
    return Estimate(found.value, found.value * pairs, pairs, "pair", limits, found.clusters, left_out=missing)


def _too_few(tasks: int, missing: dict[str, int]) -> Undefined:
    reasons = {
        0: NO_PAIR,
        1: "only one task was measured: a chance level needs at least three",
    }
    return Undefined(reasons.get(tasks, "only two tasks were measured: a chance level needs at least three"), missing)
