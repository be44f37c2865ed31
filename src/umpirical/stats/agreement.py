"""Agreement of scores with gold, from sums of products by cluster: concordance, correlation, calibration line."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from umpirical.stats.coefficients import Coefficient, Sample, coefficient_interval, delete_one, jackknife_error
from umpirical.stats.ratios import ClusterRatio

Floats = NDArray[np.float64]

TINY = 1e-10
"""With scores from -1 to 1, a variance below this is a rounding error of shares that add up to one."""


@dataclass(frozen=True)
class Ratings:
    """Scores of items by gold and by the judge."""

    gold: Floats
    given: Floats
    weight: Floats
    """Items, or shares of an item, with these two scores."""
    cluster: NDArray[np.intp]
    """Index of each row's cluster, from 0; every index up to the highest occurs."""

    @classmethod
    def of(
        cls, gold: ArrayLike, given: ArrayLike, weight: ArrayLike | None = None, cluster: ArrayLike | None = None
    ) -> Self:
        """Makes ratings with one item per row, each a cluster of its own, unless stated otherwise."""
        x, y = np.asarray(gold, dtype=float), np.asarray(given, dtype=float)
        w = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=float)
        group = np.arange(len(x)) if cluster is None else np.unique(np.asarray(cluster), return_inverse=True)[1]
        if not len(x) == len(y) == len(w) == len(group):
            raise ValueError(f"columns of unequal length: {len(x)}, {len(y)}, {len(w)}, {len(group)}")
        return cls(x, y, w, group.astype(np.intp))

    @cached_property
    def clusters(self) -> int:
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    @cached_property
    def units(self) -> float:
        return float(self.weight.sum())

    @cached_property
    def diversity(self) -> float:
        """Chance that two items drawn at random differ in gold."""
        shares = np.bincount(np.unique(self.gold, return_inverse=True)[1], weights=self.weight) / self.units
        return 1 - float((shares**2).sum())

    def sample(self, *, freedom: float = 1.0) -> Sample:
        return Sample(self.clusters, self.units, self.diversity, freedom=freedom)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """Midpoint of all scores, and how far they extend from it; 1 if all scores are equal."""
        low, high = min(self.gold.min(), self.given.min()), max(self.gold.max(), self.given.max())
        return float(low + high) / 2, float(high - low) / 2 or 1.0

    @cached_property
    def moments(self) -> Floats:
        """Sums of 1, x, y, xx, xy, yy by cluster, with scores scaled to -1..1 so that rounding can be recognized."""
        middle, reach = self.reach
        x, y = (self.gold - middle) / reach, (self.given - middle) / reach
        columns = (np.ones_like(x), x, y, x * x, x * y, y * y)
        return np.column_stack([np.bincount(self.cluster, weights=self.weight * column) for column in columns])


def concordance(ratings: Ratings, *, level: float = 0.95) -> Coefficient:
    """Lin's concordance: 2 cov(x, y) / (var x + var y + (mean x - mean y)²), with sums over n and not n - 1.

    With scores in steps it equals Cohen's kappa with quadratic weights. NaN if all scores are equal.

    References: L. I. Lin, A concordance correlation coefficient to evaluate reproducibility, Biometrics 45 (1989);
    J. L. Fleiss and J. Cohen, The equivalence of weighted kappa and the intraclass correlation coefficient as measures
    of reliability, Educational and Psychological Measurement 33 (1973).
    """
    return _from_moments(ratings, _concordance, level)


def pearson(ratings: Ratings, *, level: float = 0.95) -> Coefficient:
    """The product-moment correlation. NaN if either side does not vary."""
    return _from_moments(ratings, _pearson, level)


def spearman(ratings: Ratings, *, level: float = 0.95) -> Coefficient:
    """The correlation of mid-ranks. NaN if either side does not vary.

    The standard error is the infinitesimal jackknife over clusters: each item's influence on the coefficient, which
    includes how it moves the ranks of all others. Leaving out clusters one by one gives the same result, but would
    have to rank all items again each time.
    """
    weight = ratings.weight / ratings.units
    x, y = _Ranked.of(ratings.gold, weight), _Ranked.of(ratings.given, weight)
    if min(x.variance, y.variance) < TINY:
        return _interval(ratings, float("nan"), float("inf"), level)
    value = float((weight * x.place * y.place).sum() - 0.25) / np.sqrt(x.variance * y.variance)
    moved = x.place * y.place + x.mean_above(y.place, weight) + y.mean_above(x.place, weight)
    covariance = moved - float((weight * moved).sum())
    influence = covariance / np.sqrt(x.variance * y.variance)
    influence -= value / 2 * (x.variance_influence(weight) / x.variance + y.variance_influence(weight) / y.variance)
    parts = np.bincount(ratings.cluster, weights=weight * influence)
    clusters = ratings.clusters
    return _interval(ratings, value, float(np.sqrt(clusters / (clusters - 1) * (parts**2).sum())), level)


@dataclass(frozen=True, slots=True)
class Line:
    """The regression of given on gold."""

    slope: ClusterRatio
    """Below 1, the judge has a central tendency."""
    at: ClusterRatio
    """The fitted score at a chosen place of the scale, minus that place: above 0, the judge is lenient there."""


def calibration_line(ratings: Ratings, *, place: float, level: float = 0.95) -> Line | None:
    """Least squares over items; None if leaving out one cluster leaves gold without variation.

    Errors come from leaving out one cluster at a time, and are at least those of one item at the end of the range that
    is graded a step off: a judge that fits a line exactly shows no spread. Student's t has as many degrees of freedom
    as the spread of the clusters' influence allows, since few clusters, such as those of a rare label, may dominate.
    """
    moments = ratings.moments
    slope, slopes = delete_one(moments, _slope)
    if not np.isfinite(slope) or not np.isfinite(slopes).all():
        return None
    middle, reach = ratings.reach
    off, offs = delete_one(moments, lambda sums: reach * _fitted(sums, (place - middle) / reach) - place + middle)
    mean = float((ratings.weight * ratings.gold).sum()) / ratings.units
    gap = ratings.gold - mean
    least = float(np.abs(gap).max() / (ratings.weight * gap * gap).sum())
    return Line(
        _limits(slope, slopes, least=least, level=level),
        _limits(off, offs, least=1 / ratings.units + abs(place - mean) * least, level=level),
    )


def _limits(value: float, replicates: Floats, *, least: float, level: float) -> ClusterRatio:
    half = float(stdtrit(_freedom(replicates), 0.5 + level / 2)) * max(least, jackknife_error(replicates))
    return ClusterRatio(value, value - half, value + half, len(replicates))


def _freedom(replicates: Floats) -> float:
    """Satterthwaite's degrees of freedom of a jackknife variance: 2 V² over the variance of V, at most G - 1."""
    clusters = len(replicates)
    squares = (replicates - replicates.mean()) ** 2
    spread = float((squares**2).sum() - squares.sum() ** 2 / clusters)
    most = clusters - 1.0
    return min(most, max(1.0, 2 * float(squares.sum()) ** 2 / spread)) if spread > 0 else most


def _from_moments(ratings: Ratings, statistic: Callable[[Floats], Floats], level: float) -> Coefficient:
    value, replicates = delete_one(ratings.moments, statistic)
    return _interval(ratings, value, jackknife_error(replicates), level)


def _interval(ratings: Ratings, value: float, error: float, level: float) -> Coefficient:
    return coefficient_interval(value, error, ratings.sample(), level=level)


def _concordance(sums: Floats) -> Floats:
    x, y, xx, xy, yy = _central(sums)
    return _over(2 * xy, xx + yy + (x - y) ** 2)


def _pearson(sums: Floats) -> Floats:
    _, _, xx, xy, yy = _central(sums)
    varied = (xx > TINY) & (yy > TINY)
    return _over(xy, np.where(varied, np.sqrt(np.maximum(xx, 0) * np.maximum(yy, 0)), 0.0))


def _slope(sums: Floats) -> Floats:
    _, _, xx, xy, _ = _central(sums)
    return _over(xy, xx)


def _fitted(sums: Floats, place: float) -> Floats:
    x, y, *_ = _central(sums)
    return y + _slope(sums) * (place - x)


def _central(sums: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Means of x and y, and their central second moments xx, xy, yy."""
    n, sx, sy, sxx, sxy, syy = np.moveaxis(sums, -1, 0)
    # Without the only cluster nothing is left: then every ratio is 0/0, which is NaN.
    n = np.where(n > TINY, n, np.nan)
    x, y = sx / n, sy / n
    return x, y, sxx / n - x * x, sxy / n - x * y, syy / n - y * y


def _over(numerator: Floats, denominator: Floats) -> Floats:
    """Divides; NaN where the denominator is nothing but rounding."""
    known = denominator > TINY
    result: Floats = np.where(known, numerator, np.nan) / np.where(known, denominator, 1.0)
    return result


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Mid-ranks of scores as shares from 0 to 1, whose mean is one half."""

    level: NDArray[np.intp]
    """Index of each row's score among the distinct scores, in order."""
    place: Floats
    variance: float

    @classmethod
    def of(cls, scores: Floats, weight: Floats) -> Self:
        level = np.unique(scores, return_inverse=True)[1]
        held = np.bincount(level, weights=weight)
        place = (np.cumsum(held) - held / 2)[level]
        return cls(level, place, float((weight * place**2).sum()) - 0.25)

    def mean_above(self, values: Floats, weight: Floats) -> Floats:
        """For each row, the sum of `values` over rows with a higher score plus half of those with the same score."""
        held = np.bincount(self.level, weights=weight * values)
        above: Floats = (held.sum() - np.cumsum(held) + held / 2)[self.level]
        return above

    def variance_influence(self, weight: Floats) -> Floats:
        moved = self.place**2 + 2 * self.mean_above(self.place, weight)
        influence: Floats = moved - float((weight * moved).sum())
        return influence
