"""A rate over the user's items, of which each may count in shares: an item asked several times is split by answer."""

from collections.abc import Iterable, Mapping
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.measures.estimates.own_data import ONE_CLUSTER
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.measures.estimates.tasks import by_task
from umpirical.stats.clusters import cluster_wilson, planning_wilson

__all__ = ["item_rate", "shares_by_task", "whole"]

ROUNDING = 1e-9


def item_rate(hits: ArrayLike, misses: ArrayLike, *, empty: str, left_out: Mapping[str, float]) -> Result:
    """The share of hits with its cluster-Wilson interval, from items and shares of items by cluster.

    Hits and misses come apart, since shares that should add up to 1 may not do so to the last digit, and a rate of 1 is
    another matter than one of 0.9999. `empty` is the reason given when there are neither; `left_out` says what is in
    neither, by reason.
    """
    y = np.asarray(hits, dtype=float)
    n = y + np.asarray(misses, dtype=float)
    y, n = y[n > 0], n[n > 0]
    missing = {reason: whole(count) for reason, count in left_out.items() if whole(count)}
    if len(n) < 2:
        return Undefined(ONE_CLUSTER if len(n) else empty, left_out=missing)
    rate = cluster_wilson(y, n)
    total, count, absent = float(y.sum()), float(n.sum()), sum(left_out.values())
    planning = None
    if rate.design_effect is None:
        low, high = planning_wilson(rate, n, correlation=PLANNING_CORRELATION)
        planning = Interval(
            low, high, f"cluster-Wilson at an assumed correlation of {PLANNING_CORRELATION} in clusters"
        )
    return Estimate(
        value=rate.value,
        numerator=total,
        denominator=round(count),
        unit="item",
        interval=Interval(rate.low, rate.high, "cluster-Wilson over clusters of items"),
        clusters=rate.clusters,
        design_effect=rate.design_effect,
        planning_interval=planning,
        left_out=missing,
        bounds=(total / (count + absent), (total + absent) / (count + absent)) if missing else None,
    )


def shares_by_task(counts: Iterable[tuple[str, float, float]]) -> tuple[list[float], list[float]]:
    """(cluster, hits, items) to hits and misses of the clusters that have items."""
    shares = [(_clear(y), _clear(n - y)) for y, n in zip(*by_task(counts), strict=True)]
    return [hit for hit, _ in shares], [miss for _, miss in shares]


def whole(count: float) -> int:
    """Items of which at least a share is meant; a rounding error is none."""
    return ceil(count - ROUNDING)


def _clear(share: float) -> float:
    """Without what thirds leave over when they are added up."""
    return share if share > ROUNDING else 0.0
