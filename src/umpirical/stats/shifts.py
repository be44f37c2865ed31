"""The mean of a quantity of either sign that is mostly 0, such as how far grades move."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.ratios import ClusterRatio, cluster_mean

Floats = NDArray[np.float64]


def signed_mean(ups: ArrayLike, downs: ArrayLike, units: ArrayLike, *, level: float = 0.95) -> ClusterRatio:
    """Returns moves up minus moves down, per unit, from sums by cluster; both are sums of sizes and not negative.

    Each of the two means has a score interval over clusters, and the squared distances to their limits are
    added, minus twice their product times the correlation of the two over clusters. With many moves both ways that is
    Student's t on the clusters' net moves; with few, it is skewed like the two means; with none at all it is as wide as
    for 0 events in that many units, where t would claim certainty.

    Reference: G. Y. Zou and A. Donner, Construction of confidence limits about effect measures: a general approach,
    Statistics in Medicine 27 (2008).
    """
    up, down, n = (np.asarray(column, dtype=float) for column in (ups, downs, units))
    rising, falling = cluster_mean(up, n, level=level), cluster_mean(down, n, level=level)
    r = _correlation(up - rising.value * n, down - falling.value * n)
    value = rising.value - falling.value
    below = _joined(rising.value - rising.low, falling.high - falling.value, r)
    above = _joined(rising.high - rising.value, falling.value - falling.low, r)
    return ClusterRatio(value, value - below, value + above, rising.clusters)


def _correlation(residuals: Floats, others: Floats) -> float:
    """Returns the correlation over clusters; 0 if one of the two does not vary."""
    scale = sqrt(float(residuals @ residuals) * float(others @ others))
    return float(residuals @ others) / scale if scale > 0 else 0.0


def _joined(one: float, other: float, r: float) -> float:
    return sqrt(max(0.0, one * one + other * other - 2 * r * one * other))
