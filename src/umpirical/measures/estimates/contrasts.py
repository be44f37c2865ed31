"""The difference of two rates over the same tasks, as a result."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Result, Undefined, Unit
from umpirical.measures.estimates.rates import Counted
from umpirical.stats.differences import paired_difference, sign_flip_p

__all__ = ["Paired", "difference_result", "paired_by_task", "sign_flip_result"]

METHOD = "cluster-Wilson limits of both rates, joined over tasks"


class Paired(NamedTuple):
    """Two rates per task."""

    numerators: list[float]
    denominators: list[int]
    other_numerators: list[float]
    other_denominators: list[int]


def paired_by_task(counts: Iterable[Counted], others: Iterable[Counted], *, shared: bool = True) -> Paired:
    """Sums per task: of the tasks that have both rates, or, if not `shared`, of those that have either."""
    one, other = _sums(counts), _sums(others)
    tasks = sorted(one.keys() & other.keys() if shared else one.keys() | other.keys())
    none = (0.0, 0)
    ours, theirs = [one.get(task, none) for task in tasks], [other.get(task, none) for task in tasks]
    return Paired([y for y, _ in ours], [n for _, n in ours], [y for y, _ in theirs], [n for _, n in theirs])


def difference_result(paired: Paired, *, unit: Unit, empty: str, left_out: Mapping[str, int]) -> Result:
    """One rate minus the other, in units of the first rate's denominator."""
    missing = {reason: count for reason, count in left_out.items() if count}
    least = min(np.count_nonzero(paired.denominators), np.count_nonzero(paired.other_denominators))
    if least < 2:
        one = "only one task was measured: an interval needs at least two"
        return Undefined(one if least else empty, left_out=missing)
    found, count = paired_difference(*paired), sum(paired.denominators)
    limits = Interval(found.low, found.high, METHOD)
    return Estimate(found.value, found.value * count, count, unit, limits, found.clusters, left_out=missing)


def sign_flip_result(
    paired: Paired, *, unit: Unit, empty: str, left_out: Mapping[str, int], rng: np.random.Generator
) -> Result:
    """P of a difference as large if the two sides could be exchanged within each task; counts as of the difference."""
    plain = difference_result(paired, unit=unit, empty=empty, left_out=left_out)
    if isinstance(plain, Undefined):
        return plain
    return replace(plain, value=sign_flip_p(*paired, rng=rng), interval=None)


def _sums(counts: Iterable[Counted]) -> dict[str, tuple[float, int]]:
    sums: dict[str, tuple[float, int]] = {}
    for task_id, numerator, denominator in counts:
        if denominator:
            y, n = sums.get(task_id, (0.0, 0))
            sums[task_id] = (y + numerator, n + denominator)
    return sums
