"""d': sensitivity at each step, apart from the readiness to tie."""

from collections.abc import Sequence
from math import exp, hypot, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from umpirical.domain.measures import Censoring, Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import NO_PAIR, UNANSWERED, by_step, equal_pairs, ladder_pairs
from umpirical.measures.estimates.rates import DIGITS, ONE_TASK
from umpirical.stats.clusters import MIN_DESIGN_EFFECT, cluster_wilson, student
from umpirical.stats.jackknife import jackknife
from umpirical.stats.marginal import sensitivity

LEVEL = 0.95

Counts = NDArray[np.float64]

FEW = 5
"""With fewer events, a normal quantile of their rate is mostly the correction that keeps it finite."""


def d_prime(tallies: Tallies, arm: str) -> list[Measure]:
    """How far apart a step of the ladder and equal quality are, in standard deviations of the judge's noise.

    Formula: z(H) - z(F / 2), with H the rate at which the better answer is named at the step and F the rate at which
    any is named at equal quality (both tails), each with half an event added. Only what the calls add up to is used,
    so slot bias and taste for a wording count as noise; `resolution` separates them. Not the d' of the Dark Current
    paper, which compares correct with wrong calls and at 20 of 20 is 3.38 for any judge.
    Level: call; the denominator counts those of the step. Bounds: none, lower is worse; 0 is blind.
    Where fewer than five calls of the step are not correct, or fewer than five name a winner at equal quality, the
    value would reflect the number of calls rather than the judge: it is right-censored at its lower limit, and
    left-censored at its upper limit where fewer than five are correct. None is withheld: the rest would be a selection.
    Undefined where neither limit exists: fewer than five correct, and fewer than five winners at equal quality.
    Interval: task jackknife with Student's t, with a variance of at least a quarter of that of independent calls, as
    for rates; a limit by the two rates' cluster-Wilson limits, joined.
    Reference: G. Y. Zou and A. Donner, Statistics in Medicine 27 (2008), for joined limits.
    """
    equal = equal_pairs(tallies, arm)
    return by_step(SPEC.name, ladder_pairs(tallies, arm), arm, lambda step: _d_prime(step, equal))


def _d_prime(step: Sequence[PairTally], equal: Sequence[PairTally]) -> Result:
    incomplete = sum(tally.incomplete for tally in (*step, *equal))
    missing = {UNANSWERED: incomplete} if incomplete else {}
    sums = _by_task(step, equal)
    correct, calls, named, equal_calls = sums.sum(axis=0).round(DIGITS)
    if not calls or not equal_calls or len(sums) < 2:
        return Undefined(ONE_TASK if calls and equal_calls else NO_PAIR, left_out=missing)
    above, below = min(calls - correct, named) < FEW, correct < FEW
    if above and below:
        hits = f"of {calls:g} calls {correct:g} are correct"
        reason = f"nothing limits it: {hits}, and {named:g} of {equal_calls:g} at equal quality name a winner"
        return Undefined(reason, left_out=missing)
    if above or below:
        return _limit(sums, "right" if above else "left", missing)

    def estimate(kept: NDArray[np.bool_]) -> float:
        correct, calls, named, equal_calls = (float(total) for total in sums[kept].sum(axis=0).round(DIGITS))
        # A step that loses its only task has no rate; NaN tells the jackknife that it hangs on a single task.
        if not calls or not equal_calls:
            return float("nan")
        return sensitivity(correct, calls, named=named, equal_calls=equal_calls).d_prime

    found = jackknife(estimate, len(sums))
    if not np.isfinite(found.standard_error):
        return Undefined("it hangs on a single task: without it there is no rate", missing)
    value = float(found.value)
    half = student(len(sums), LEVEL) * max(float(found.standard_error), _least_error(*sums.sum(axis=0).tolist()))
    limits = Interval(value - half, value + half, "task jackknife")
    return Estimate(value, float(correct), int(calls), "call", limits, len(sums), left_out=missing)


def _limit(sums: Counts, censoring: Censoring, missing: dict[str, int]) -> Result:
    """The limit on the one side where there is one."""
    # A mean over many repeats that is 0 may have come out a little below.
    sums = sums.round(DIGITS)
    pairs = ((sums[:, 0], sums[:, 1]), (sums[:, 2], sums[:, 3]))
    if any(np.count_nonzero(calls) < 2 for _, calls in pairs):
        return Undefined("it hangs on a single task: without it there is no rate", missing)
    correct, calls, named, equal_calls = (float(total) for total in sums.sum(axis=0).round(DIGITS))
    hits, alarms = (cluster_wilson(*pair, level=LEVEL) for pair in pairs)
    found = sensitivity(correct, calls, named=named, equal_calls=equal_calls)
    # d' rises with the hits and falls with the false alarms; the criterion is -z(F / 2).
    hit = found.d_prime - found.criterion
    ends = (hits.low, alarms.high) if censoring == "right" else (hits.high, alarms.low)
    apart = hypot(float(ndtri(ends[0])) - hit, -float(ndtri(ends[1] / 2)) - found.criterion)
    value = found.d_prime - apart if censoring == "right" else found.d_prime + apart
    low, high = (value, None) if censoring == "right" else (None, value)
    interval = Interval(low, high, "cluster-Wilson limits of two rates, joined")
    of = int(calls)
    return Estimate(value, float(correct), of, "call", interval, len(sums), censoring=censoring, left_out=missing)


def _least_error(correct: float, calls: float, named: float, equal_calls: float) -> float:
    """The standard error of independent calls, at the lowest design effect that a rate is given."""
    hits, alarms = (correct + 0.5) / (calls + 1), (named + 0.5) / (equal_calls + 1)
    variance = hits * (1 - hits) / calls / _density(hits) ** 2
    variance += alarms * (1 - alarms) / equal_calls / (2 * _density(alarms / 2)) ** 2
    return sqrt(MIN_DESIGN_EFFECT * variance)


def _density(share: float) -> float:
    """The normal density at the quantile of a share."""
    return exp(-(float(ndtri(share)) ** 2) / 2) / sqrt(2 * pi)


def _by_task(step: Sequence[PairTally], equal: Sequence[PairTally]) -> Counts:
    """Per task: correct calls and calls at the step, calls that named a winner and calls at equal quality."""
    sums: dict[str, list[float]] = {}
    for tally in (*step, *equal):
        row = sums.setdefault(tally.cluster, [0, 0, 0, 0])
        place = 2 if tally.family == Family.DELTA0 else 0
        row[place] += 2 * tally.pairs - tally.tie_calls - tally.abstained_calls if place else tally.correct_calls
        row[place + 1] += 2 * tally.pairs
    rows = [row for _, row in sorted(sums.items()) if row[1] or row[3]]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


SPEC = MeasureSpec(
    name="d-prime",
    title="d′",
    about="How clearly it sees a difference of each size, whatever its readiness to tie.",
    worse="lower",
    compute=d_prime,
    scale="latent",
    symbol="d′",
)
