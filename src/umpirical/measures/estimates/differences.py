"""Differences of two rates over the same tasks."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined, Unit
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.estimates.rates import DIGITS, ONE_TASK, Counted, task_sums
from umpirical.stats.differences import paired_difference, sign_flip_p

BASELINE = "baseline"

NO_SHARED_PAIRS = "no task has answered pairs in this arm and in the baseline"

METHOD = "cluster-Wilson limits of both rates, joined over tasks"


class Paired(NamedTuple):
    """Two rates per task."""

    numerators: list[float]
    denominators: list[float]
    other_numerators: list[float]
    other_denominators: list[float]


def paired_by_task(counts: Iterable[Counted], others: Iterable[Counted], *, shared: bool = True) -> Paired:
    """Sums per task: for the tasks that have both rates, or, if not `shared`, for those that have either."""
    one, other = ({task: sums for task, sums in task_sums(side).items() if sums[1]} for side in (counts, others))
    tasks = sorted(one.keys() & other.keys() if shared else one.keys() | other.keys())
    none = (0.0, 0.0)
    ours, theirs = [one.get(task, none) for task in tasks], [other.get(task, none) for task in tasks]
    return Paired(
        [round(y, DIGITS) for y, _ in ours],
        [n for _, n in ours],
        [round(y, DIGITS) for y, _ in theirs],
        [n for _, n in theirs],
    )


def difference_result(paired: Paired, *, unit: Unit, empty: str, left_out: Mapping[str, int]) -> Result:
    """One rate minus the other, in units of the first rate's denominator."""
    missing = {reason: count for reason, count in left_out.items() if count}
    least = min(np.count_nonzero(paired.denominators), np.count_nonzero(paired.other_denominators))
    if least < 2:
        return Undefined(ONE_TASK if least else empty, left_out=missing)
    found, count = paired_difference(*paired), round(sum(paired.denominators))
    limits = Interval(found.low, found.high, METHOD)
    return Estimate(found.value, found.value * count, count, unit, limits, found.clusters, left_out=missing)


def sign_flip_result(
    paired: Paired, *, unit: Unit, empty: str, left_out: Mapping[str, int], rng: np.random.Generator
) -> Result:
    """P-value of the difference if the two sides could be exchanged within each task; counts are the difference's."""
    plain = difference_result(paired, unit=unit, empty=empty, left_out=left_out)
    if isinstance(plain, Undefined):
        return plain
    return replace(plain, value=sign_flip_p(*paired, rng=rng), interval=None)


# An arm against the baseline.


def shifts_by_step(
    name: str,
    tallies: Tallies,
    arm: str,
    *,
    families: Collection[str],
    score: Callable[[PairTally], float],
    result: Callable[[Paired, dict[str, int], str], Result],
) -> list[Measure]:
    """`result` for the rates of the arm and of the baseline, at each step that both were asked; none for the baseline.

    Tasks without answered pairs on one of the sides are left out. `result` takes the two rates per task, what was left
    out, and the name of the step.
    """
    if arm == BASELINE:
        return []
    chosen = [tally for tally in tallies.pairs if tally.family in families]
    steps = sorted({t.delta for t in chosen if t.arm == arm} & {t.delta for t in chosen if t.arm == BASELINE})
    found = []
    for step in steps:
        here = [tally for tally in chosen if tally.arm == arm and tally.delta == step]
        there = [tally for tally in chosen if tally.arm == BASELINE and tally.delta == step]
        paired = paired_by_task(
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in here],
            [Counted(tally.cluster, score(tally), tally.pairs) for tally in there],
        )
        missing = {
            "without an answer in both orders, this arm": sum(tally.incomplete for tally in here),
            "without an answer in both orders, baseline": sum(tally.incomplete for tally in there),
        }
        found.append(Measure(name, result(paired, missing, f"{step:g}"), arm, f"{step:g}"))
    return found
