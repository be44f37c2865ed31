"""Ratios of sums over clusters that are not shares: a slope, a mean distance."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.clusters import student

Floats = NDArray[np.float64]

MIN_DISPERSION = 0.25
"""A lower value is the luck of a small sample, and must not narrow the interval further."""


@dataclass(frozen=True, slots=True)
class ClusterRatio:
    """A ratio of sums, with its interval."""

    value: float
    low: float
    high: float
    clusters: int


def cluster_ratio(
    numerators: ArrayLike, denominators: ArrayLike, *, least: float = 0.0, level: float = 0.95
) -> ClusterRatio:
    """Returns the sum of numerators over that of denominators, of any sign: linearised over clusters, with Student's t.

    The standard error is at least `least`: clusters that all agree to the last digit show no spread, and an interval
    without width would claim that there is none. Clusters without a denominator are ignored.
    """
    y, x = _used(numerators, denominators)
    value, clusters, total = float(y.sum() / x.sum()), len(x), float(x.sum())
    half = student(clusters, level) * max(least, sqrt(_variance(y - value * x) / total**2))
    return ClusterRatio(value, value - half, value + half, clusters)


def cluster_mean(totals: ArrayLike, units: ArrayLike, *, level: float = 0.95) -> ClusterRatio:
    """Mean of a quantity that is never negative and often 0, such as a distance: a score interval with Student's t.

    The variance of the mean is assumed to be proportional to it, as for counts; the factor, which reflects the size of
    nonzero units and how alike a cluster's units are, is estimated from the clusters. The interval contains every mean
    m with |mean - m| <= t·sqrt(factor·m / n), so it never extends below 0, and if everything is 0 it still has an upper
    limit: that of a share of units of size 1.
    """
    y, n = _used(totals, units)
    if (y < 0).any():
        raise ValueError("a total is negative")
    count, clusters = float(n.sum()), len(n)
    mean, factor = float(y.sum()) / count, 1.0
    if mean > 0:
        factor = max(MIN_DISPERSION, _variance(y - mean * n) / (count * mean))
    reach = student(clusters, level) ** 2 * factor / count
    half = sqrt(reach * mean + reach**2 / 4)
    return ClusterRatio(mean, max(0.0, mean + reach / 2 - half), mean + reach / 2 + half, clusters)


def _used(numerators: ArrayLike, denominators: ArrayLike) -> tuple[Floats, Floats]:
    y, x = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if (x < 0).any():
        raise ValueError("a denominator is negative")
    y, x = y[x > 0], x[x > 0]
    if len(x) < 2:
        raise ValueError(f"a cluster-aware interval needs at least two clusters, got {len(x)}")
    return y, x


def _variance(residuals: Floats) -> float:
    """Variance of a sum of independent cluster residuals."""
    clusters = len(residuals)
    return float(clusters / (clusters - 1) * (residuals**2).sum())
