"""The cluster-Wilson interval, the default for every rate: the unit is the pair, the cluster is the task."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, stdtrit

from umpirical.stats.wilson import Bounds, wilson

MIN_DESIGN_EFFECT = 0.25
"""A lower value is the luck of a small sample, and must not narrow the interval further."""


FEW_EVENTS = 5
"""Effective events (or misses) below which Wilson's limit on that side is checked against Clopper-Pearson's."""


@dataclass(frozen=True, slots=True)
class ClusterRate:
    """A rate over clustered units, with its interval."""

    value: float
    low: float
    high: float
    clusters: int
    design_effect: float | None
    """None at 0 and 1, where it cannot be estimated."""


def cluster_wilson(numerators: ArrayLike, denominators: ArrayLike, *, level: float = 0.95) -> ClusterRate:
    """Returns rate and interval from per-cluster sums: Wilson on the effective sample size, with Student's t.

    The variance of the ratio of sums is linearised over clusters; the design effect is that variance divided by
    p(1-p)/n, at least 0.25, and 1 if the rate is 0 or 1. If fewer than five effective events were seen, the limit on
    that side is the more cautious of Wilson's and Clopper-Pearson's: plain Wilson covers only .87 there.
    Units may score between 0 and 1 (a pair of which one order is right scores one half). Clusters without units are
    ignored; at least two with units are needed.
    """
    y, n = _used(numerators, denominators)
    clusters, units = len(n), float(n.sum())
    p = float(y.sum()) / units
    effect = None
    if 0 < p < 1:
        effect = max(MIN_DESIGN_EFFECT, _variance((y - p * n) / units) / (p * (1 - p) / units))
    low, high = _cautious(p, units / (effect or 1.0), clusters, level)
    return ClusterRate(p, low, high, clusters, effect)


def combined_wilson(
    numerators: NDArray[np.float64], denominators: NDArray[np.float64], weights: ArrayLike, *, level: float = 0.95
) -> Bounds:
    """Returns the interval of a weighted mean of several rates measured on the same clusters.

    Columns are rates, rows are clusters; `weights` sum to 1. The variance includes what the rates share
    within a cluster, because the linearised residuals are added up before they are squared.
    """
    w = np.asarray(weights, dtype=float)
    totals = denominators.sum(axis=0)
    p = numerators.sum(axis=0) / totals
    mean = float(p @ w)
    # Units of the weighted mean: as many independent units as would give the same binomial variance.
    units = 1.0 / float((w**2 / totals).sum())
    if not 0 < mean < 1:
        return _cautious(mean, units, len(numerators), level)
    variance = _variance(((numerators - p * denominators) / totals) @ w)
    effect = max(MIN_DESIGN_EFFECT, variance / (mean * (1 - mean) / units))
    return _cautious(mean, units / effect, len(numerators), level)


def planning_wilson(rate: ClusterRate, denominators: ArrayLike, *, correlation: float, level: float = 0.95) -> Bounds:
    """Returns the interval if units of one cluster had this correlation: for rates of 0 and 1."""
    units = float(np.asarray(denominators, dtype=float).sum())
    return _cautious(rate.value, units / kish_effect(denominators, correlation=correlation), rate.clusters, level)


def kish_effect(denominators: ArrayLike, *, correlation: float) -> float:
    """Returns the design effect if units of one cluster had this correlation, for clusters of unequal sizes."""
    n = np.asarray(denominators, dtype=float)
    return float(1 + ((n**2).sum() / n.sum() - 1) * correlation)


def _cautious(p: float, n_eff: float, clusters: int, level: float) -> Bounds:
    """Returns Wilson with Student's t; near 0 and 1, where a rare event moves that too far, Clopper-Pearson's limit."""
    hits, misses, tail = p * n_eff, (1 - p) * n_eff, (1 - level) / 2
    low, high = wilson(hits, n_eff, critical=student(clusters, level))
    if 0 < hits < FEW_EVENTS:
        low = min(low, float(betaincinv(hits, misses + 1, tail)))
    if 0 < misses < FEW_EVENTS:
        high = max(high, float(betaincinv(hits + 1, misses, 1 - tail)))
    return Bounds(low, high)


def student(clusters: int, level: float) -> float:
    """Returns Student's t quantile with one degree of freedom fewer than there are clusters."""
    return float(stdtrit(clusters - 1, 0.5 + level / 2))


def _used(numerators: ArrayLike, denominators: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y = np.asarray(numerators, dtype=float)
    n = np.asarray(denominators, dtype=float)
    y, n = y[n > 0], n[n > 0]
    if len(n) < 2:
        raise ValueError(f"a cluster-aware interval needs at least two clusters, got {len(n)}")
    if (y < 0).any() or (y > n).any():
        raise ValueError("a numerator lies outside 0..denominator")
    return y, n


def _variance(residuals: NDArray[np.float64]) -> float:
    """Variance of a sum of independent cluster residuals."""
    clusters = len(residuals)
    return float(clusters / (clusters - 1) * (residuals**2).sum())
