"""The user's own items: rates of them by cluster, and results for every test and group.

An item that was asked several times counts in shares, split by its answers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.domain.measures import Estimate, Interval, Result, Undefined, Unit
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL
from umpirical.measures.catalogue import Part
from umpirical.measures.estimates.rates import PLANNING_CORRELATION, by_task
from umpirical.stats.intervals import Bounds, cluster_wilson, combined_wilson, planning_wilson, student, wilson

Floats = NDArray[np.float64]
NO_ORDER = "the scale has no order"
ONE_CLUSTER = "only one cluster of items was measured; an interval needs at least two"
ROUNDING = 1e-9


# Rates.


def item_rate(hits: ArrayLike, misses: ArrayLike, *, empty: str, excluded: Mapping[str, float]) -> Result:
    """The share of hits with its cluster-Wilson interval, from items and shares of items by cluster.

    Hits and misses are passed separately because shares that should add up to 1 may miss it by the last digit, and a
    rate of exactly 1 is treated differently from one of 0.9999. `empty` is the reason given when there are neither;
    `excluded` counts the items that are in neither, by reason.
    """
    y = np.asarray(hits, dtype=float)
    n = y + np.asarray(misses, dtype=float)
    y, n = y[n > 0], n[n > 0]
    missing = {reason: whole(count) for reason, count in excluded.items() if whole(count)}
    if len(n) < 2:
        return Undefined(ONE_CLUSTER if len(n) else empty, excluded=missing)
    rate = cluster_wilson(y, n)
    total, count, absent = float(y.sum()), float(n.sum()), sum(excluded.values())
    planning = None
    if rate.design_effect is None:
        low, high = planning_wilson(rate, n, correlation=PLANNING_CORRELATION)
        planning = Interval(
            low, high, method=f"cluster-Wilson at an assumed correlation of {PLANNING_CORRELATION} in clusters"
        )
    return Estimate(
        value=rate.value,
        numerator=total,
        denominator=round(count),
        unit="item",
        interval=Interval(rate.low, rate.high, method="cluster-Wilson over clusters of items"),
        clusters=rate.clusters,
        design_effect=rate.design_effect,
        planning_interval=planning,
        excluded=missing,
        bounds=(total / (count + absent), (total + absent) / (count + absent)) if missing else None,
    )


def balanced_share(
    hits: Floats, units: Floats, missing: ArrayLike, *, unit: Unit, excluded: Mapping[str, int]
) -> Estimate:
    """The mean of several rates, each counting alike, whatever its units: columns are rates, rows are clusters.

    `missing` are the units of each that have no verdict: the bounds count them as misses, and as hits.
    """
    right, total, absent = hits.sum(axis=0), units.sum(axis=0), np.asarray(missing, dtype=float)
    value, count = float((right / total).mean()), float(total.sum())
    low, high = _mean_limits(hits, units)
    worst, best = right / (total + absent), (right + absent) / (total + absent)
    return Estimate(
        value=value,
        numerator=value * count,
        denominator=round(count),
        unit=unit,
        interval=Interval(
            low, high, method=f"cluster-Wilson of the mean of {len(total)} rates, over clusters of {unit}s"
        ),
        clusters=len(units),
        excluded=dict(excluded),
        bounds=(float(worst.mean()), float(best.mean())) if excluded else None,
    )


def _mean_limits(hits: Floats, units: Floats) -> Bounds:
    totals = units.sum(axis=0)
    share = float(hits.sum() / totals.sum())
    if 0 < share < 1:
        return combined_wilson(hits, units, np.full(len(totals), 1 / len(totals)))
    # All right or all wrong: the mean of many ones may not round to 1.
    effective = len(totals) ** 2 / float((1 / totals).sum())
    return wilson(share * effective, effective, critical=student(len(hits), 0.95))


def chance_corrected(share: Result) -> Result:
    """A share at which chance scores one half, as agreement: 1 is always right, 0 is chance, -1 is always wrong."""
    if isinstance(share, Undefined) or share.interval is None:
        return share
    low, high = ((2 * end - 1) if end is not None else None for end in (share.interval.low, share.interval.high))
    return Estimate(
        value=2 * share.value - 1,
        numerator=2 * share.numerator - share.denominator,
        denominator=share.denominator,
        unit=share.unit,
        interval=Interval(
            low, high, method=f"twice the limits of the share of right ones, minus 1: {share.interval.method}"
        ),
        clusters=share.clusters,
        excluded=share.excluded,
        bounds=None if share.bounds is None else (2 * share.bounds[0] - 1, 2 * share.bounds[1] - 1),
    )


def shares_by_task(counts: Iterable[tuple[str, float, float]]) -> tuple[list[float], list[float]]:
    """(cluster, hits, items) to hits and misses of the clusters that have items."""
    shares = [(_clear(y), _clear(n - y)) for y, n in zip(*by_task(counts), strict=True)]
    return [hit for hit, _ in shares], [miss for _, miss in shares]


def whole(count: float) -> int:
    """Shares of items rounded up to whole items; a rounding error counts as none."""
    return ceil(count - ROUNDING)


def _clear(share: float) -> float:
    """Zero instead of the remainder that adding up thirds leaves."""
    return share if share > ROUNDING else 0.0


# Tests and groups.


class _Tested(Protocol):
    @property
    def test(self) -> str: ...

    @property
    def group(self) -> str: ...


_Tally = TypeVar("_Tally", bound=_Tested)


def by_part(tallies: Iterable[_Tally], result: Callable[[Sequence[_Tally]], Result]) -> list[Part]:
    """`result` for every test and group there is; within a test all items first, then the user's groups."""
    parts: dict[tuple[str, str], list[_Tally]] = {}
    for tally in tallies:
        parts.setdefault((tally.test, tally.group), []).append(tally)
    return [Part(result(parts[part]), *part) for part in sorted(parts, key=lambda part: part_order(*part))]


def part_order(test: str, group: str) -> tuple[bool, str, str]:
    """Sorts the originals before every test."""
    return test != ORIGINAL, test, group


# Scales.


def span(scale: GradeScale) -> float:
    if scale.low is not None and scale.high is not None:
        return scale.high - scale.low
    return float(len(scale.labels) - 1)


def kept_in(low: float, high: float, *, least: float, most: float) -> tuple[float, float]:
    return max(low, least), min(high, most)
