"""Rates over tasks and their differences: value, interval and excluded units, from one grouping by task."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple, TypeVar

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Result, Undefined, Unit
from umpirical.stats.differences import paired_difference, sign_flip_p
from umpirical.stats.intervals import cluster_wilson, heavy_parts, kish_effect, planning_wilson

ONE_TASK = "the data come from only one task; an interval needs at least two"

LOST_REPEATS = "in unanswered repeats, in total"
"""What is missing of units that are counted by their other repeats."""

PLANNING_CORRELATION = 0.05
"""Intra-task correlation assumed where a rate of 0 or 1 does not show any."""

CALL_CORRELATION = 0.12
"""The same among all calls of a task, which are many: what makes one answer unreadable makes others so. With less, a
judge at the limit of 2% is accepted in a tenth of runs if calls correlate at .2."""

Number = TypeVar("Number", int, float)

DIGITS = 9
"""Sums are rounded to so many decimals: three thirds are 1, and a rate of 1 is treated differently from .9999."""


class Counted(NamedTuple):
    """A numerator and a denominator in one task. Either may be a sum of shares of repeats."""

    cluster: str
    numerator: float
    denominator: float


def clustered_rate(
    counts: Sequence[Counted],
    *,
    unit: Unit,
    empty: str,
    excluded: Mapping[str, int],
    lost: float = 0.0,
    joint: float | None = None,
) -> Result:
    """The rate with its cluster-Wilson interval; a cluster is a task.

    `joint` is how many units may be wrong together: where no error was seen, so many count as one.
    `empty` is the reason given when the denominator is 0; `excluded` counts the units outside it, by reason; `lost` is
    what is missing of the units inside it, whose other repeats were answered. A denominator that is no whole number,
    as that of a share of shares, is reported rounded, and the numerator to match.
    """
    used = [(round(y, DIGITS), round(n, DIGITS)) for y, n in task_sums(counts).values()]
    used = [(y, n) for y, n in used if n > 0]
    missing = {reason: count for reason, count in excluded.items() if count}
    absent = sum(missing.values())
    if round(lost, DIGITS) > 0:
        missing[LOST_REPEATS] = ceil(round(lost, DIGITS))
    if len(used) < 2:
        return Undefined(ONE_TASK if used else empty, excluded=missing)
    numerators, denominators = [y for y, _ in used], [n for _, n in used]
    rate = cluster_wilson(numerators, denominators)
    misses = [n - y for y, n in used]
    total, count = sum(numerators), sum(denominators)
    whole, everything = max(1, round(count)), count + absent
    planning, correlation = None, CALL_CORRELATION if unit == "call" else PLANNING_CORRELATION
    if rate.design_effect is None:
        low, high = planning_wilson(rate, denominators, correlation=correlation)
        planning = Interval(low, high, method=f"cluster-Wilson at an assumed intra-task correlation of {correlation}")
    return Estimate(
        value=rate.value,
        numerator=total if whole == count else rate.value * whole,
        denominator=whole,
        unit=unit,
        interval=Interval(rate.low, rate.high, method="cluster-Wilson over tasks"),
        clusters=rate.clusters,
        design_effect=rate.design_effect,
        planning_interval=planning,
        planning_effect=kish_effect(denominators, correlation=correlation),
        joint=joint,
        heavy_hits=heavy_parts(numerators, denominators),
        heavy_misses=heavy_parts(misses, denominators),
        per_task=tuple((y, n, tasks) for (y, n), tasks in sorted(Counter(used).items())),
        excluded=missing,
        bounds=(max(0.0, total - lost) / everything, min(everything, total + lost + absent) / everything)
        if missing
        else None,
    )


def by_task(counts: Iterable[tuple[str, float, float]]) -> tuple[list[float], list[float]]:
    """Numerators and denominators of the tasks whose denominator is not 0, in order of task."""
    used = [(y, n) for _, (y, n) in sorted(task_sums(counts).items()) if n > 0]
    return [y for y, _ in used], [float(n) for _, n in used]


def task_sums(counts: Iterable[tuple[str, float, Number]]) -> dict[str, tuple[float, Number]]:
    """(task, numerator, denominator) added up by task."""
    sums: dict[str, tuple[float, Number]] = {}
    for cluster, numerator, denominator in counts:
        y, n = sums.get(cluster, (0.0, 0))
        sums[cluster] = (y + numerator, n + denominator)
    return sums


# Differences of two rates over the same tasks.


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


def difference_result(
    paired: Paired, *, unit: Unit, empty: str, excluded: Mapping[str, int], excess: bool = False
) -> Result:
    """One rate minus the other, in units of the first rate's denominator; `excess` as in `paired_difference`."""
    missing = {reason: count for reason, count in excluded.items() if count}
    least = min(np.count_nonzero(paired.denominators), np.count_nonzero(paired.other_denominators))
    if least < 2:
        return Undefined(ONE_TASK if least else empty, excluded=missing)
    found, count = paired_difference(*paired, excess=excess), round(sum(paired.denominators))
    limits = Interval(found.low, found.high, method=METHOD)
    return Estimate(found.value, found.value * count, count, unit, limits, found.clusters, excluded=missing)


def sign_flip_result(
    paired: Paired, *, unit: Unit, empty: str, excluded: Mapping[str, int], rng: np.random.Generator
) -> Result:
    """P-value of the difference if the two sides could be exchanged within each task; counts are the difference's."""
    plain = difference_result(paired, unit=unit, empty=empty, excluded=excluded)
    if isinstance(plain, Undefined):
        return plain
    return replace(plain, value=sign_flip_p(*paired, rng=rng), interval=None)
