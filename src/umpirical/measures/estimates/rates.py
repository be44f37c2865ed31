"""Rates over tasks: value, interval and what was left out, all from one grouping by task."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple, TypeVar

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined, Unit
from umpirical.domain.stimuli import TIER_2
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.stats.clusters import cluster_wilson, kish_effect, planning_wilson

ONE_TASK = "only one task was measured: an interval needs at least two"

LOST_REPEATS = "in repeats that were not answered, put together"
"""What is missing of units that are counted by their other repeats."""

PLANNING_CORRELATION = 0.05
"""Intra-task correlation assumed where a rate of 0 or 1 does not show any."""

Number = TypeVar("Number", int, float)

DIGITS = 9
"""Sums are rounded to so many decimals: three thirds are 1, and a rate of 1 is treated differently from .9999."""


class Counted(NamedTuple):
    """A numerator and a denominator in one task. Either may be a sum of shares of repeats."""

    cluster: str
    numerator: float
    denominator: float


def clustered_rate(
    counts: Sequence[Counted], *, unit: Unit, empty: str, left_out: Mapping[str, int], lost: float = 0.0
) -> Result:
    """The rate with its cluster-Wilson interval; a cluster is a task.

    `empty` is the reason given when the denominator is 0; `left_out` counts the units outside it, by reason; `lost` is
    what is missing of the units inside it, whose other repeats were answered. A denominator that is no whole number,
    as that of a share of shares, is reported rounded, and the numerator to match.
    """
    used = [(round(y, DIGITS), round(n, DIGITS)) for y, n in task_sums(counts).values()]
    used = [(y, n) for y, n in used if n > 0]
    missing = {reason: count for reason, count in left_out.items() if count}
    absent = sum(missing.values())
    if round(lost, DIGITS) > 0:
        missing[LOST_REPEATS] = ceil(round(lost, DIGITS))
    if len(used) < 2:
        return Undefined(ONE_TASK if used else empty, left_out=missing)
    numerators, denominators = [y for y, _ in used], [n for _, n in used]
    rate = cluster_wilson(numerators, denominators)
    total, count = sum(numerators), sum(denominators)
    whole, everything = max(1, round(count)), count + absent
    planning = None
    if rate.design_effect is None:
        low, high = planning_wilson(rate, denominators, correlation=PLANNING_CORRELATION)
        planning = Interval(low, high, f"cluster-Wilson at an assumed intra-task correlation of {PLANNING_CORRELATION}")
    return Estimate(
        value=rate.value,
        numerator=total if whole == count else rate.value * whole,
        denominator=whole,
        unit=unit,
        interval=Interval(rate.low, rate.high, "cluster-Wilson over tasks"),
        clusters=rate.clusters,
        design_effect=rate.design_effect,
        planning_interval=planning,
        planning_effect=kish_effect(denominators, correlation=PLANNING_CORRELATION),
        left_out=missing,
        bounds=(max(0.0, total - lost) / everything, min(everything, total + lost + absent) / everything)
        if missing
        else None,
    )


def call_share(name: str, tallies: Tallies, arm: str, count: Callable[[CallTally], int]) -> list[Measure]:
    """A share of the calls made in tier 1, over the whole arm; planned calls not made yet are left out.

    Tier 2 has its own rows in the audit table.
    """
    chosen = [tally for tally in tallies.calls if tally.arm == arm and tally.family not in TIER_2]
    result = clustered_rate(
        [Counted(tally.cluster, count(tally), tally.planned - tally.unasked) for tally in chosen],
        unit="call",
        empty="no call was made",
        left_out={"not asked yet": sum(tally.unasked for tally in chosen)},
    )
    return [Measure(name, result, arm)]


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
