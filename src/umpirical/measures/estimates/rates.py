"""A rate over tasks: point estimate, interval and what was left out, from one grouping."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from umpirical.domain.measures import Estimate, Interval, Result, Undefined, Unit
from umpirical.stats.clusters import cluster_wilson, planning_wilson

__all__ = ["Counted", "clustered_rate"]

PLANNING_CORRELATION = 0.05
"""Intra-task correlation assumed where a rate of 0 or 1 leaves none to be seen."""


class Counted(NamedTuple):
    """A numerator and a denominator in one task."""

    task_id: str
    numerator: float
    denominator: int


def clustered_rate(counts: Sequence[Counted], *, unit: Unit, empty: str, left_out: Mapping[str, int]) -> Result:
    """The rate with its cluster-Wilson interval, clusters being tasks.

    `empty` is the reason given when nothing is in the denominator; `left_out` says what is not, by reason.
    """
    sums: dict[str, tuple[float, int]] = {}
    for task_id, numerator, denominator in counts:
        y, n = sums.get(task_id, (0.0, 0))
        sums[task_id] = (y + numerator, n + denominator)
    used = [(y, n) for y, n in sums.values() if n > 0]
    missing = {reason: count for reason, count in left_out.items() if count}
    if not used:
        return Undefined(empty, left_out=missing)
    if len(used) == 1:
        return Undefined("only one task was measured: an interval needs at least two", left_out=missing)
    numerators, denominators = [y for y, _ in used], [n for _, n in used]
    rate = cluster_wilson(numerators, denominators)
    total, count, absent = sum(numerators), sum(denominators), sum(missing.values())
    planning = None
    if rate.design_effect is None:
        low, high = planning_wilson(rate, denominators, correlation=PLANNING_CORRELATION)
        planning = Interval(low, high, f"cluster-Wilson at an assumed intra-task correlation of {PLANNING_CORRELATION}")
    return Estimate(
        value=rate.value,
        numerator=total,
        denominator=count,
        unit=unit,
        interval=Interval(rate.low, rate.high, "cluster-Wilson over tasks"),
        clusters=rate.clusters,
        design_effect=rate.design_effect,
        planning_interval=planning,
        left_out=missing,
        bounds=(total / (count + absent), (total + absent) / (count + absent)) if absent else None,
    )
