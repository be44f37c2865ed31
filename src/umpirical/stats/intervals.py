"""Intervals of a rate, a ratio or any estimate, most of them over clusters. A unit is a pair, a cluster is a task."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

Floats = NDArray[np.float64]


class Bounds(NamedTuple):
    """An interval's limits."""

    low: float
    high: float


def wilson(numerator: float, denominator: float, *, level: float = 0.95, critical: float | None = None) -> Bounds:
    """Wilson score interval of `numerator / denominator`, clipped to [0, 1].

    `denominator` may be an effective sample size, so neither argument needs to be whole. `critical` replaces the
    normal quantile, as a cluster-aware interval does with Student's t.

    Reference: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    >>> low, high = wilson(80, 120)
    >>> round(low, 4), round(high, 4)
    (0.5783, 0.7447)
    """
    if denominator <= 0:
        raise ValueError(f"a proportion needs a positive denominator, got {denominator}")
    z = float(ndtri(0.5 + level / 2)) if critical is None else critical
    p = numerator / denominator
    shrink = 1 + z * z / denominator
    centre = (p + z * z / (2 * denominator)) / shrink
    half = z * sqrt(p * (1 - p) / denominator + z * z / (4 * denominator * denominator)) / shrink
    # At 0 and 1 the limit is exact; rounding must not leave 1e-18 there.
    low = 0.0 if numerator <= 0 else max(0.0, centre - half)
    high = 1.0 if numerator >= denominator else min(1.0, centre + half)
    return Bounds(low, high)


# Exact one-sided limits of a rate, on an effective number of units.


def exact_high(hits: float, units: float, alpha: float) -> float:
    """Returns Clopper and Pearson's upper limit: a rate above it gives so few hits in at most `alpha` of samples.

    >>> round(exact_high(0, 60, 0.05), 4)
    0.0487
    """
    return 1.0 if hits >= units else float(betaincinv(hits + 1, units - hits, 1 - alpha))


def exact_low(hits: float, units: float, alpha: float) -> float:
    """Returns Clopper and Pearson's lower limit: a rate below it gives so many hits in at most `alpha` of samples.

    >>> round(exact_low(60, 60, 0.05), 4)
    0.9513
    """
    return 0.0 if hits <= 0 else float(betaincinv(hits, units - hits + 1, alpha))


@lru_cache(maxsize=1024)
def few_clusters(clusters: int, alpha: float) -> float:
    """Returns what is left of an effective sample whose design effect was estimated from so few clusters.

    Korn and Graubard (1998): the squared ratio of the normal quantile and Student's with one degree of freedom fewer
    than there are clusters.
    """
    return float((ndtri(alpha) / stdtrit(clusters - 1, alpha)) ** 2)


# The cluster-Wilson interval, the default for every rate.

MIN_DESIGN_EFFECT = 0.25
"""A lower value is the luck of a small sample, and must not narrow the interval further. So is a lower dispersion."""

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
    The upper limit is never below that of a part of the events (`event_parts`), nor the lower one above that of a part
    of the misses: one more event never lowers a limit.
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
    highest, lowest = (_highest(np.array(event_parts(side, n)), units, clusters, level) for side in (y, n - y))
    return ClusterRate(p, min(low, 1 - lowest), max(high, highest), clusters, effect)


def _highest(parts: Floats, units: float, clusters: int, level: float) -> float:
    """Returns the highest of the upper limits of parts of the events, each as `_cautious` gives it."""
    p, n_eff = parts[:, 0] / units, units / parts[:, 1]
    z = student(clusters, level) ** 2 / n_eff
    highs = (p + z / 2 + np.sqrt(z * p * (1 - p) + z * z / 4)) / (1 + z)
    hits, misses = p * n_eff, (1 - p) * n_eff
    few = misses < FEW_EVENTS
    exact = betaincinv(hits[few] + 1, misses[few], 0.5 + level / 2)
    return float(max(highs.max(), exact.max(initial=0.0)))


class EventPart(NamedTuple):
    """Some of the events that were seen, with the design effect of these alone."""

    events: float
    effect: float


def event_parts(numerators: ArrayLike, denominators: ArrayLike) -> list[EventPart]:
    """Returns parts of the events: none of them, those of the cluster that has most, of the two that have most, and on.

    A single event elsewhere makes the events of one cluster look less clustered, and can lower a limit by more than it
    raises the rate. So a limit is the highest of those of all parts. With clusters of one size these parts have the
    greatest design effects, and no event lowers a limit; with unequal ones the order is by what adds most to it.
    A part that is smaller than another, and no more clustered, is left out: its limit is lower.
    """
    y, n = (np.asarray(column, dtype=float) for column in (numerators, denominators))
    units = float(n.sum())
    events, variances = _growing(y, n)
    inside = events < units - 1e-9
    p = events[inside] / units
    return _heaviest(events[inside], variances[inside] / (p * (1 - p) * units))


def _growing(y: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Returns sums over the clusters that add most to the variance, from one cluster on, and the variance of each."""
    total = float(n.sum())
    order = np.argsort(2 * y.sum() / total * n - y, kind="stable")
    order = order[y[order] > 0]
    most, sizes = y[order], n[order]
    sums = np.cumsum(most)
    mean = sums / total
    squares = np.cumsum(most**2) - 2 * mean * np.cumsum(most * sizes) + mean**2 * float((n**2).sum())
    return sums, len(n) / (len(n) - 1) * squares


def _heaviest(sums: Floats, effects: Floats) -> list[EventPart]:
    """Returns no events, then all of them, then each smaller part that has a greater effect than any larger one."""
    parts = [EventPart(0.0, 1.0)]
    for part, effect in zip(sums[::-1].tolist(), effects[::-1].tolist(), strict=True):
        if len(parts) == 1 or effect > parts[-1].effect:
            parts.append(EventPart(part, max(MIN_DESIGN_EFFECT, effect)))
    return parts


LEVELS = np.array([0.05, 0.03, 0.012, 0.005, 0.002])
"""One-sided errors for which `heavy_parts` finds the highest limit: a decision's, and those of its next looks."""


LEAST_EFFECT = 0.5
"""The design effect of pairs whose two calls are independent: no decision rests on a lower one."""


def heavy_parts(numerators: ArrayLike, denominators: ArrayLike) -> tuple[EventPart, ...]:
    """Returns the parts of the events whose exact upper limit lies above that of all events; mostly there are none."""
    y, n = _used(numerators, denominators)
    units, clusters = float(n.sum()), len(n)
    parts = event_parts(y, n)[1:]
    if len(parts) < 2:
        return ()
    events, effects = np.array(parts).T
    fewer = np.array([few_clusters(clusters, alpha) for alpha in LEVELS.tolist()])
    effective = units / np.maximum(effects, LEAST_EFFECT) * fewer[:, None]
    hits = events / units * effective
    # As `exact_high`; all events are fewer than all units here.
    highs = betaincinv(hits + 1, effective - hits, 1 - LEVELS[:, None])
    return tuple(sorted({parts[place] for place in highs.argmax(axis=1).tolist()} - {parts[0]}))


def combined_wilson(numerators: Floats, denominators: Floats, weights: ArrayLike, *, level: float = 0.95) -> Bounds:
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


@lru_cache(maxsize=1024)
def student(clusters: int, level: float) -> float:
    """Returns Student's t quantile with one degree of freedom fewer than there are clusters."""
    return float(stdtrit(clusters - 1, 0.5 + level / 2))


def _used(numerators: ArrayLike, denominators: ArrayLike) -> tuple[Floats, Floats]:
    y = np.asarray(numerators, dtype=float)
    n = np.asarray(denominators, dtype=float)
    y, n = y[n > 0], n[n > 0]
    if len(n) < 2:
        raise ValueError(f"a cluster-aware interval needs at least two clusters, got {len(n)}")
    if (y < 0).any() or (y > n).any():
        raise ValueError("a numerator is outside the range 0 to its denominator")
    return y, n


def _variance(residuals: Floats) -> float:
    clusters = len(residuals)
    return float(clusters / (clusters - 1) * (residuals**2).sum())


# Ratios of sums over clusters that are not shares: a slope, a mean distance.


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
    y, x = _ratio_sums(numerators, denominators)
    value, clusters, total = float(y.sum() / x.sum()), len(x), float(x.sum())
    half = student(clusters, level) * max(least, sqrt(_variance(y - value * x) / total**2))
    return ClusterRatio(value, value - half, value + half, clusters)


def cluster_mean(totals: ArrayLike, units: ArrayLike, *, level: float = 0.95) -> ClusterRatio:
    """Mean of a quantity that is never negative and often 0, such as a distance: a score interval with Student's t.

    The variance of the mean is assumed to be proportional to it, as for counts; the factor, which reflects the size of
    nonzero units and how alike a cluster's units are, is estimated from the clusters. The interval contains every mean
    m with |mean - m| <= t·sqrt(factor·m / n), so it never extends below 0, and if everything is 0 it still has an upper
    limit: that of a share of units of size 1. The upper limit is never below that of a part of the total.
    """
    y, n = _ratio_sums(totals, units)
    if (y < 0).any():
        raise ValueError("a total is negative")
    count, clusters = float(n.sum()), len(n)
    sums, variances = _growing(y, n)
    limits = [
        _score_limits(part / count, student(clusters, level) ** 2 * factor / count)
        for part, factor in _heaviest(sums, variances / sums)
    ]
    low = limits[1].low if len(limits) > 1 else 0.0
    return ClusterRatio(float(y.sum()) / count, low, max(each.high for each in limits), clusters)


def _score_limits(mean: float, reach: float) -> Bounds:
    half = sqrt(reach * mean + reach**2 / 4)
    return Bounds(max(0.0, mean + reach / 2 - half), mean + reach / 2 + half)


def _ratio_sums(numerators: ArrayLike, denominators: ArrayLike) -> tuple[Floats, Floats]:
    y, x = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if (x < 0).any():
        raise ValueError("a denominator is negative")
    y, x = y[x > 0], x[x > 0]
    if len(x) < 2:
        raise ValueError(f"a cluster-aware interval needs at least two clusters, got {len(x)}")
    return y, x


# The delete-one-cluster jackknife: an interval from how far an estimate moves when one task is left out.


@dataclass(frozen=True, slots=True)
class Jackknife:
    """An estimate with its jackknife errors; each field has the shape of the estimate."""

    value: Floats
    """The estimate from all clusters."""
    standard_error: Floats
    """Infinite if a leave-one-out estimate is not finite."""
    bias: Floats
    """(G-1) times (mean of the leave-one-out estimates minus `value`); not subtracted from `value`. NaN if unknown."""
    low: Floats
    high: Floats


def jackknife(estimate: Callable[[NDArray[np.bool_]], ArrayLike], clusters: int, *, level: float = 0.95) -> Jackknife:
    """Returns the standard error and Student-t interval of an estimate over independent clusters.

    `estimate` takes a mask of the clusters kept and returns a number or an array of numbers; it is called once with
    all of them and once without each. With G clusters the squared standard error is (G-1)/G times the sum of squared
    deviations of the leave-one-out estimates from their mean, and the interval is value ± t(G-1)·SE, on the scale of
    `estimate`: let it return logarithms if those are closer to normal.

    If leaving out one cluster makes a component infinite or NaN, the estimate depends on that cluster and no spread can
    be given: the standard error is infinite and the bounds are minus and plus infinity. Dropping such replicates would
    make the least certain estimates look the most certain. A component that is not finite itself is treated likewise.

    Reference: B. Efron and C. Stein, The jackknife estimate of variance, Annals of Statistics 9 (1981).

    >>> found = jackknife(lambda kept: np.mean(np.array([1.0, 2.0, 3.0, 6.0])[kept]), 4)
    >>> round(float(found.standard_error), 6)  # the standard error of a mean
    1.080123
    """
    if clusters < 2:
        raise ValueError(f"a jackknife needs at least two clusters, got {clusters}")
    everything = np.ones(clusters, dtype=bool)
    value = np.asarray(estimate(everything), dtype=float)
    parts = np.array([estimate(_without(everything, cluster)) for cluster in range(clusters)], dtype=float)
    known = np.isfinite(value) & np.isfinite(parts).all(axis=0)
    settled = np.where(known, parts, 0.0)
    mean = settled.mean(axis=0)
    spread = np.sqrt((clusters - 1) / clusters * ((settled - mean) ** 2).sum(axis=0))
    error = np.where(known, spread, np.inf)
    half = student(clusters, level) * error
    centre = np.where(known, value, 0.0)
    bias = np.where(known, (clusters - 1) * (mean - centre), np.nan)
    return Jackknife(value, error, bias, centre - half, centre + half)


def _without(everything: NDArray[np.bool_], cluster: int) -> NDArray[np.bool_]:
    kept = everything.copy()
    kept[cluster] = False
    return kept
