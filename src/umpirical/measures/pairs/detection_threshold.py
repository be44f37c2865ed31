"""Detection threshold: the smallest quality difference seen three times in four."""

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import PairCount, correct_pairs, left_out
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.isotonic import isotonic_fit, threshold, threshold_interval

TARGET = 0.75


def detection_threshold(tallies: Tallies, arm: str) -> list[Measure]:
    """Delta75: where the target-sensitivity curve first reaches .75, in requirements.

    A `grade` judge sees a difference if it grades the better answer higher. Formula: isotonic fit over the ladder
    steps, weighted by pairs, crossing interpolated linearly. It is left-censored if the first step already reaches .75,
    right-censored if no step does; a censored value is bounded on one side at most. Level: ladder; the denominator
    counts pairs. Bounds: the first and the last ladder step; higher is worse. Undefined with fewer than two steps or
    two tasks that have answered pairs, and for a probe that skips steps of the baseline. Interval: inversion of the
    cluster-Wilson test along the interpolated curve.
    Reference: the Dark Current paper, equation 10.
    """
    ladder = correct_pairs(tallies, arm)
    here, whole = ({count.delta for count in each} for each in (ladder, correct_pairs(tallies, BASELINE)))
    if here < whole and arm != BASELINE:
        some = ", ".join(f"{step:g}" for step in sorted(here)) or "none"
        reason = f"a probe has no threshold: of the ladder's steps, this arm was asked at {some}"
        return [Measure(SPEC.name, Undefined(reason, left_out=left_out(ladder)), arm)]
    return [Measure(SPEC.name, _threshold(ladder), arm)]


def _threshold(ladder: list[PairCount]) -> Result:
    steps = sorted({count.delta for count in ladder if count.pairs})
    missing = left_out(ladder)
    if len(steps) < 2:
        return Undefined("a threshold needs at least two ladder steps with answered pairs", left_out=missing)
    correct, pairs = _by_task_and_step(ladder, steps)
    if len(pairs) < 2:
        return Undefined(ONE_TASK, left_out=missing)
    weights = pairs.sum(axis=0)
    crossing = threshold(steps, isotonic_fit(correct.sum(axis=0) / weights, weights), target=TARGET)
    low, high = threshold_interval(steps, correct, pairs, target=TARGET)
    # A curve that falls steeply somewhere is no psychometric curve; the interval then still holds the estimate.
    low = None if low is None or crossing.censoring == "left" else min(low, crossing.value)
    high = None if high is None or crossing.censoring == "right" else max(high, crossing.value)
    method = "inverted cluster-Wilson test along the interpolated curve"
    return Estimate(
        value=crossing.value,
        numerator=float(correct.sum()),
        denominator=int(weights.sum()),
        unit="pair",
        interval=None if low is None and high is None else Interval(low, high, method),
        clusters=len(pairs),
        censoring=crossing.censoring,
        left_out=missing,
    )


def _by_task_and_step(
    ladder: list[PairCount], steps: list[float]
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    tasks = sorted({count.cluster for count in ladder if count.pairs})
    rows = {task: row for row, task in enumerate(tasks)}
    correct, pairs = np.zeros((len(tasks), len(steps))), np.zeros((len(tasks), len(steps)))
    for count in ladder:
        if count.pairs:
            cell = rows[count.cluster], steps.index(count.delta)
            correct[cell] += count.score
            pairs[cell] += count.pairs
    return correct, pairs


SPEC = MeasureSpec(
    name="detection-threshold",
    title="Detection threshold (Δ75)",
    about="The smallest difference, in requirements met, that it sees three times in four.",
    worse="higher",
    compute=detection_threshold,
    scale="requirements",
    kinds=("compare", "grade"),
    symbol="Δ*75",
)
