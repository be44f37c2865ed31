"""Differences on the same clusters: of two rates, of moves up and moves down, and of the levels of crossed factors."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.intervals import ClusterRatio, Jackknife, cluster_mean, cluster_wilson, jackknife, student

Floats = NDArray[np.float64]

ENUMERATED = 14
"""With up to this many clusters that differ, every way of flipping signs is tried; with more, `DRAWS` of them."""

DRAWS = 20_000

TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Difference:
    """One rate minus another."""

    value: float
    low: float
    high: float
    clusters: int


def paired_difference(
    numerators: ArrayLike,
    denominators: ArrayLike,
    other_numerators: ArrayLike,
    other_denominators: ArrayLike,
    *,
    excess: bool = False,
    level: float = 0.95,
) -> Difference:
    """Difference of two rates of sums over the same clusters, with its interval.

    Each rate has its cluster-Wilson limits; the squared distances from the rates to their limits are added, minus twice
    their product times the correlation of the two rates over clusters. Well inside 0 and 1 that is Student's t on the
    clusters' differences; near 0 and 1, where t covers .70 to .92, it is skewed like the rates' own intervals. If all
    clusters differ by the same amount and vary, the limits are as far away as those of 0 events are from 0.
    A cluster may lack units on one side (numerator and denominator 0); it then informs only the other rate.

    With `excess`, both rates are of errors, and the question is how far the first may lie above the other. No error
    may then lead to a better limit. So the correlation is taken to be 0, since errors that coincide would narrow the
    interval by more than they raise it; and the upper limit is never below that of 0 events in the first rate's units,
    since errors on the other side lower the difference.

    Reference: R. G. Newcombe, Improved confidence intervals for the difference between binomial proportions based on
    paired data, Statistics in Medicine 17 (1998), method 10; with clusters, the intervals and the correlation are
    those of clusters.
    """
    y, n = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    z, m = np.asarray(other_numerators, dtype=float), np.asarray(other_denominators, dtype=float)
    if len(n) != len(m):
        raise ValueError(f"a paired difference needs the same clusters on both sides, got {len(n)} and {len(m)}")
    one, other = cluster_wilson(y, n, level=level), cluster_wilson(z, m, level=level)
    residuals, others = (y - one.value * n) / n.sum(), (z - other.value * m) / m.sum()
    r = 0.0 if excess else _correlation(residuals, others)
    value = one.value - other.value
    below = _joined(one.value - one.low, other.high - other.value, r)
    above = _joined(one.high - one.value, other.value - other.low, r)
    if r and np.allclose(residuals, others, rtol=0, atol=TINY):
        unseen = _unseen(n if n.sum() < m.sum() else m, level)
        below, above = max(below, unseen), max(above, unseen)
    high = max(value + above, _unseen(n, level)) if excess else value + above
    return Difference(value, max(-1.0, value - below), min(1.0, high), int(np.count_nonzero(n + m)))


def _unseen(denominators: Floats, level: float) -> float:
    """Returns the upper limit of a rate of which no event was seen."""
    return cluster_wilson(np.zeros(len(denominators)), denominators, level=level).high


def excess_rate(
    numerators: ArrayLike,
    denominators: ArrayLike,
    baseline: Callable[[NDArray[np.bool_]], float],
    *,
    region: "Region | None" = None,
    level: float = 0.95,
) -> Difference:
    """A rate minus what it would be by chance, where chance is also estimated from the same clusters.

    `baseline` takes a mask of the clusters kept. Its standard error, and its covariance with the rate, come from
    leaving out one cluster at a time; the rate's own limits are cluster-Wilson's, joined as in `paired_difference`.
    A plain jackknife interval agrees if the rate is well inside 0 and 1, and covers only .86 to .93 if it is not.
    Every cluster must have units.

    Where the rate and chance rise together the two errors cancel, and limits joined so claim certainty: they cover .69
    where a judge names position 1 in .4 of families and ties in the rest. With `region`, the interval also holds every
    value within it, and value and limits stay within what is possible.
    """
    y, n = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    rate = cluster_wilson(y, n, level=level)

    def estimate(kept: NDArray[np.bool_]) -> list[float]:
        share, chance = float(y[kept].sum() / n[kept].sum()), baseline(kept)
        return [share, chance, share - chance]

    found = jackknife(estimate, len(n), level=level)
    own, chance, both = found.standard_error
    r = (own**2 + chance**2 - both**2) / (2 * own * chance) if own * chance > 0 else 0.0
    reach, value = student(len(n), level) * float(chance), float(found.value[2])
    below = _joined(rate.value - rate.low, reach, r)
    above = _joined(rate.high - rate.value, reach, r)
    low, high = value - below, value + above
    ends = None if region is None else region.ends(y, n, level)
    # Clusters that are all alike span no region, and then the joined limits are those of what was not seen.
    if ends is not None and ends.high - ends.low > TINY:
        value = min(value, ends.most)
        low, high = min(low, ends.low, value), max(min(high, ends.most), ends.high, value)
    return Difference(value, low, high, len(n))


class Ends(NamedTuple):
    """The least and the greatest excess within a region, and the greatest that is possible there."""

    low: float
    high: float
    most: float


@dataclass(frozen=True, slots=True)
class Region:
    """Where a rate, and the two that chance follows from, may lie together: an ellipsoid, as wide as Student's t."""

    first: Floats
    """Units of the first kind by cluster."""
    second: Floats
    units: Floats
    """All units by cluster, of both kinds and of others."""
    chance: Callable[[Floats, Floats], Floats]
    """The rate by chance, from the rates of both kinds."""
    most: Callable[[Floats, Floats], Floats]
    """The greatest rate that goes with them."""

    def ends(self, numerators: Floats, denominators: Floats, level: float) -> Ends:
        columns = ((numerators, denominators), (self.first, self.units), (self.second, self.units))
        centre = np.array([y.sum() / n.sum() for y, n in columns])
        residuals = np.array([(y - rate * n) / n.sum() for (y, n), rate in zip(columns, centre, strict=True)])
        clusters = len(denominators)
        values, vectors = np.linalg.eigh(clusters / (clusters - 1) * residuals @ residuals.T)
        spread = vectors * np.sqrt(np.maximum(values, 0.0))
        inside = centre[:, None] + student(clusters, level) * spread @ _BALL
        one, two = np.clip(inside[1], 0, 1), np.clip(inside[2], 0, 1)
        over = np.maximum(one + two, 1.0)
        one, two = one / over, two / over
        most = self.most(one, two)
        excess = np.clip(inside[0], 0, most) - self.chance(one, two)
        return Ends(float(excess.min()), float(excess.max()), float((most - self.chance(one, two)).max()))


def _ball(points: int = 400, radii: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)) -> Floats:
    """Returns points of a ball, spread evenly over spheres."""
    place = np.arange(points) + 0.5
    height, turn = 1 - 2 * place / points, np.pi * (1 + sqrt(5)) * place
    wide = np.sqrt(1 - height**2)
    sphere = np.array([wide * np.cos(turn), wide * np.sin(turn), height])
    return np.concatenate([radius * sphere for radius in radii], axis=1)


_BALL = _ball()


def sign_flip_p(
    numerators: ArrayLike,
    denominators: ArrayLike,
    other_numerators: ArrayLike,
    other_denominators: ArrayLike,
    *,
    rng: np.random.Generator,
) -> float:
    """P(a difference at least as large | the two sides could be exchanged within each cluster), two-sided.

    The clusters' differences, weighted by their units on both sides together, are summed under every way of flipping
    their signs; with more than 14 clusters that differ, under 20,000 random ways and the observed one.
    Every cluster must have units on both sides.
    """
    y, n = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    z, m = np.asarray(other_numerators, dtype=float), np.asarray(other_denominators, dtype=float)
    terms = (y / n - z / m) * (n + m)
    terms = terms[np.abs(terms) > 1e-12]
    if not len(terms):
        return 1.0
    observed = abs(terms.sum()) - 1e-9 * np.abs(terms).sum()
    if len(terms) <= ENUMERATED:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(terms))))
        return float(np.mean(np.abs(signs @ terms) >= observed))
    signs = rng.choice((-1.0, 1.0), size=(DRAWS, len(terms)))
    return float((1 + np.count_nonzero(np.abs(signs @ terms) >= observed)) / (1 + DRAWS))


def _correlation(residuals: Floats, others: Floats) -> float:
    """Returns the correlation over clusters; 0 if one of the two does not vary."""
    scale = sqrt(float(residuals @ residuals) * float(others @ others))
    return float(residuals @ others) / scale if scale > 0 else 0.0


def _joined(one: float, other: float, r: float) -> float:
    return sqrt(max(0.0, one * one + other * other - 2 * r * one * other))


# The mean of a quantity of either sign that is mostly 0, such as how far grades move.


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


# Effects of crossed two-level factors, by least squares on sums, with a jackknife over clusters.


def crossed_effects(
    clusters: ArrayLike, factors: ArrayLike, units: ArrayLike, sums: ArrayLike, *, level: float = 0.95
) -> Jackknife:
    """Returns the least-squares coefficients of y on the columns of `factors`, fitted to all units.

    A row stands for `units` units of one cluster that share the values in `factors` and whose y sum to `sums`, so the
    fit is that of the single units. A coefficient that the rows do not determine is NaN. The interval is Student's t
    with one degree of freedom less than clusters; see `jackknife` for fits that depend on one cluster.

    >>> found = crossed_effects([0, 0, 1, 1], [[1, 1], [1, -1], [1, 1], [1, -1]], [1, 1, 1, 1], [0.6, 0.2, 0.8, 0.0])
    >>> [round(float(value), 6) for value in found.value]  # the mean, and half the difference of the two means
    [0.4, 0.3]
    """
    columns, weights, totals = (np.asarray(each, dtype=float) for each in (factors, units, sums))
    squares = np.einsum("r,ri,rj->rij", weights, columns, columns)
    products = columns * totals[:, None]
    left, right = _by_cluster(clusters, squares), _by_cluster(clusters, products)

    def fit(kept: NDArray[np.bool_]) -> Floats:
        normal = left[kept].sum(axis=0)
        if np.linalg.matrix_rank(normal) < len(normal):
            return np.full(len(normal), np.nan)
        return np.linalg.solve(normal, right[kept].sum(axis=0))

    return jackknife(fit, len(left), level=level)


def contrast(
    clusters: ArrayLike,
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    *,
    level: float = 0.95,
) -> Jackknife:
    """Returns the difference of two ratios of sums over the same clusters; each is given as (sums, units) by row."""
    parts = [_by_cluster(clusters, np.asarray(each, dtype=float)) for each in (*first, *second)]

    def difference(kept: NDArray[np.bool_]) -> float:
        one, one_units, other, other_units = (float(part[kept].sum()) for part in parts)
        return one / one_units - other / other_units if one_units and other_units else float("nan")

    return jackknife(difference, len(parts[0]), level=level)


def _by_cluster(clusters: ArrayLike, rows: Floats) -> Floats:
    names, places = np.unique(np.asarray(clusters), return_inverse=True)
    found = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(found, places, rows)
    return found
