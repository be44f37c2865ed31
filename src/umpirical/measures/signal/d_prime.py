"""d': sensitivity at each step, apart from the readiness to tie."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import NO_PAIR, UNANSWERED, by_step, equal_pairs, ladder_pairs
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.jackknife import jackknife
from umpirical.stats.marginal import sensitivity

__all__ = ["SPEC", "d_prime"]

FEW = 5
"""With fewer events, a normal quantile of their rate is mostly the correction that keeps it finite."""


def d_prime(tallies: Tallies, arm: str) -> list[Measure]:
    """How far apart a step of the ladder and equal quality are, in standard deviations of the judge's noise.

    Formula: z(H) - z(F / 2), with H the rate at which the better answer is named at the step and F the rate at which
    any is named at equal quality (both tails), each with half an event added. Only what the calls add up to is used,
    so slot bias and taste for a wording count as noise; `resolution` separates them. Not the d' of the Dark Current
    paper, which compares correct with wrong calls and at 20 of 20 is 3.38 for any judge.
    Level: call; the denominator counts those of the step. Bounds: none, lower is worse; 0 is blind.
    Undefined at the ceiling, where fewer than five calls of the step are correct or not correct, or fewer than five
    name a winner at equal quality: it would reflect the number of calls rather than the judge.
    Interval: task jackknife with Student's t.
    """
    equal = equal_pairs(tallies, arm)
    return by_step(SPEC.name, ladder_pairs(tallies, arm), arm, lambda step: _d_prime(step, equal))


def _d_prime(step: Sequence[PairTally], equal: Sequence[PairTally]) -> Result:
    incomplete = sum(tally.incomplete for tally in (*step, *equal))
    missing = {UNANSWERED: incomplete} if incomplete else {}
    sums = _by_task(step, equal)
    correct, calls = sums[:, :2].sum(axis=0)
    reason = _no_value(sums)
    if reason:
        return Undefined(reason, left_out=missing)

    def estimate(kept: NDArray[np.bool_]) -> float:
        correct, calls, named, equal_calls = (int(total) for total in sums[kept].sum(axis=0))
        # A step that loses its only task has no rate; NaN tells the jackknife that it hangs on a single task.
        if not calls or not equal_calls:
            return float("nan")
        return sensitivity(correct, calls, named=named, equal_calls=equal_calls).d_prime

    found = jackknife(estimate, len(sums))
    if not np.isfinite(found.standard_error) or found.standard_error == 0:
        return Undefined("it hangs on a single task, or no task moves it: there is no spread to go by", missing)
    limits = Interval(float(found.low), float(found.high), "task jackknife")
    return Estimate(float(found.value), float(correct), int(calls), "call", limits, len(sums), left_out=missing)


def _by_task(step: Sequence[PairTally], equal: Sequence[PairTally]) -> NDArray[np.int64]:
    """Per task: correct calls and calls at the step, calls that named a winner and calls at equal quality."""
    sums: dict[str, list[int]] = {}
    for tally in (*step, *equal):
        row = sums.setdefault(tally.task_id, [0, 0, 0, 0])
        place = 2 if tally.family == Family.DELTA0 else 0
        row[place] += 2 * tally.pairs - tally.tie_calls if place else tally.correct_calls
        row[place + 1] += 2 * tally.pairs
    rows = [row for _, row in sorted(sums.items()) if row[1] or row[3]]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def _no_value(sums: NDArray[np.int64]) -> str:
    """Why there is none; empty if there is one."""
    correct, calls, named, equal_calls = sums.sum(axis=0)
    reasons = {
        NO_PAIR: not calls or not equal_calls,
        ONE_TASK: len(sums) < 2,
        f"ceiling: of {calls} calls, all but {calls - correct} are correct": calls - correct < FEW,
        f"floor: of {calls} calls, {correct} are correct": correct < FEW,
        f"ceiling: of {equal_calls} calls at equal quality, {named} name a winner": named < FEW,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


SPEC = MeasureSpec(
    name="d-prime",
    title="d′",
    about="How clearly it sees a difference of each size, whatever its readiness to tie.",
    worse="lower",
    compute=d_prime,
    scale="latent",
    symbol="d′",
)
