"""Forecasts how precise a rate will be, before anything is measured."""

from math import ceil, sqrt

from umpirical.stats.clusters import student

__all__ = ["clusters_needed", "half_width", "units_needed"]


def half_width(p: float, *, clusters: int, per_cluster: float, correlation: float, level: float = 0.95) -> float:
    """Returns the half-width to expect of a cluster-aware interval of a rate `p`.

    Formula: t(G - 1) · sqrt(p (1 - p) (1 + (m - 1) ρ) / (G m)), for G clusters of m units with correlation ρ within
    their cluster. `per_cluster` may be an average. At least two clusters are needed.

    >>> round(half_width(0.5, clusters=10, per_cluster=6, correlation=0.0), 3)
    0.146
    """
    _check(p, correlation)
    if clusters < 2 or per_cluster <= 0:
        raise ValueError(f"expected at least two clusters with units in them, got {clusters} of {per_cluster}")
    return student(clusters, level) * sqrt(_variance(p, per_cluster, correlation) / clusters)


def units_needed(p: float, width: float, *, clusters: int, correlation: float, level: float = 0.95) -> int | None:
    """Returns the fewest units per cluster for a half-width of at most `width`; None if no number of them is enough.

    More units in the same clusters never bring the half-width below t(G - 1) · sqrt(p (1 - p) ρ / G).
    """
    _check(p, correlation)
    _check_width(width)
    if clusters < 2:
        raise ValueError(f"expected at least two clusters, got {clusters}")
    # The variance of a cluster's mean is p (1 - p) ρ, which units cannot lower, plus p (1 - p) (1 - ρ) / m.
    room = clusters * (width / student(clusters, level)) ** 2 - p * (1 - p) * correlation
    needed = p * (1 - p) * (1 - correlation)
    if needed == 0:
        return 1 if room >= 0 else None
    if room <= 0:
        return None
    return max(1, ceil(needed / room - 1e-9))


def clusters_needed(p: float, width: float, *, per_cluster: float, correlation: float, level: float = 0.95) -> int:
    """Returns the fewest clusters of `per_cluster` units for a half-width of at most `width`. Some number is enough."""
    _check(p, correlation)
    _check_width(width)

    def enough(clusters: int) -> bool:
        found = half_width(p, clusters=clusters, per_cluster=per_cluster, correlation=correlation, level=level)
        return found <= width + 1e-12

    high = 2
    while not enough(high):
        high *= 2
    low = 2 if high == 2 else high // 2 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def _variance(p: float, per_cluster: float, correlation: float) -> float:
    """Returns the variance of one cluster's mean."""
    return p * (1 - p) * (1 + (per_cluster - 1) * correlation) / per_cluster


def _check(p: float, correlation: float) -> None:
    if not (0 <= p <= 1 and 0 <= correlation <= 1):
        raise ValueError(f"expected a rate and a correlation from 0 to 1, got {p:g} and {correlation:g}")


def _check_width(width: float) -> None:
    if width <= 0:
        raise ValueError(f"expected a positive half-width, got {width:g}")
