"""Agreement with gold: coefficients of scores and of labels, all with a jackknife over clusters, on Fisher's scale."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import atanh, exp, inf, isfinite, log, sqrt
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from umpirical.stats.intervals import ClusterRatio, student

Floats = NDArray[np.float64]

MIN_DISPERSION = 0.25
"""If the variance on Fisher's scale, relative to 1/n, is below this, the clusters agree by luck of a small sample."""

FEW_DIFFERENT = 10.0
"""Units times the chance that two differ. Below this, a spread smaller than that of chance is not trusted: if 3 of 20
items have another label than the rest, one of them decides."""

BLOCK = 4_000_000
"""How many numbers are held at a time for leave-one-out sums, so that memory does not grow with clusters."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient with its interval. If it is undefined, it is NaN with uninformative limits."""

    value: float
    low: float
    high: float
    clusters: int


@dataclass(frozen=True, slots=True)
class Sample:
    """What a coefficient was measured on."""

    clusters: int
    units: float
    diversity: float
    """The chance that two units drawn at random differ."""
    answers: float = 2.0
    """Answers per unit: two for every correlation, the number of repeats for an intraclass correlation."""
    freedom: float = 1.0
    """Number of ways in which two raters can agree by chance: K - 1 for K labels without order."""


def delete_one(parts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, Floats]:
    """Returns the statistic of the sum of all clusters' parts, and of the sum without each of them.

    The first axis of `parts` is clusters; `statistic` takes an array of sums and returns a number for each.
    """
    total = parts.sum(axis=0)
    rows = max(1, BLOCK // max(1, total.size))
    blocks = [statistic(total - parts[start : start + rows]) for start in range(0, len(parts), rows)]
    return float(statistic(total)), np.concatenate(blocks)


def jackknife_error(replicates: Floats) -> float:
    """Returns the standard error from leave-one-out values; infinite if one of them is undefined."""
    clusters = len(replicates)
    if not np.isfinite(replicates).all():
        return inf
    return sqrt((clusters - 1) / clusters * float(((replicates - replicates.mean()) ** 2).sum()))


def coefficient_interval(value: float, error: float, sample: Sample, *, level: float = 0.95) -> Coefficient:
    """Returns the limits of a coefficient that is at most 1, from its standard error: Student's t on Fisher's scale.

    The scale is that of an intraclass correlation, whose least value is -1/(answers - 1); for two answers, and so for
    every correlation, it is the inverse hyperbolic tangent. The error is transformed by the slope of the scale: a
    leave-one-out value of 1 would lie at infinity. It is at least half of what unrelated units give, since clusters
    that all agree show no spread.

    At 1 and at the lowest value, the far limit is that of a judge that answers at random too rarely to be noticed: the
    upper limit for 0 events in that many units, divided by the chance that two of them differ.

    Reference: R. A. Fisher, Statistical Methods for Research Workers (1925), sections 35 and 39.
    """
    answers, least = sample.answers, -1.0 / (sample.answers - 1)
    if not isfinite(value):
        return Coefficient(value, least, 1.0, sample.clusters)
    t = student(sample.clusters, level)
    if value >= 1 - 1e-12:
        return Coefficient(1.0, max(least, 1.0 - _unseen(sample, t)), 1.0, sample.clusters)
    if value <= least + 1e-12:
        return Coefficient(least, least, min(1.0, least + _unseen(sample, t)), sample.clusters)
    slope = answers / (2 * (1 + (answers - 1) * value) * (1 - value))
    half = t * max(error * slope, sqrt(_least_dispersion(sample) / (sample.units * sample.freedom)))
    centre = atanh(value) if answers == 2 else log((1 + (answers - 1) * value) / (1 - value)) / 2
    return Coefficient(value, _back(centre - half, answers), _back(centre + half, answers), sample.clusters)


def _least_dispersion(sample: Sample) -> float:
    differing = sample.units * sample.diversity
    return min(1.0, max(MIN_DISPERSION, FEW_DIFFERENT / differing)) if differing > 0 else 1.0


def _unseen(sample: Sample, t: float) -> float:
    return t * t / (sample.units + t * t) / sample.diversity if sample.diversity > 0 else inf


def _back(place: float, answers: float) -> float:
    if place > 300:
        return 1.0
    grown = exp(2 * place)
    return (grown - 1) / (grown + answers - 1)


# Agreement of scores with gold, from sums of products by cluster: concordance, correlation, calibration line.

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
            raise ValueError(f"columns have different lengths: {len(x)}, {len(y)}, {len(w)}, {len(group)}")
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


def concordance_difference(one: Ratings, other: Ratings, *, level: float = 0.95) -> ClusterRatio | None:
    """The concordance of `other` less that of `one`, on the same clusters; None if one of them is not defined.

    The error comes from leaving out one cluster of both at a time: what a cluster does to both is no difference. It is
    at least that of one item in all that is graded otherwise, since two judges that agree on everything show no spread.
    """
    (first, without), (second, others) = (delete_one(side.moments, _concordance) for side in (one, other))
    if not (isfinite(first) and isfinite(second)):
        return None
    error = max(jackknife_error(others - without), 1 / min(one.units, other.units))
    half = student(one.clusters, level) * error
    value = second - first
    return ClusterRatio(value, max(-2.0, value - half), min(2.0, value + half), one.clusters)


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


def partial_correlation(
    ratings: Ratings, controls: Floats, *, labels: bool = False, level: float = 0.95
) -> Coefficient:
    """The correlation of gold and given once each column of `controls`, and its square, is taken off both.

    A control counts by its mid-ranks. What is left of gold and of given are the residuals of two regressions. `labels`
    are numbers without order: each has a column of its own, and covariances are summed over them, as in Matthews'
    correlation. NaN if nothing is left of gold or of given, or if there are no more items than parameters.

    The error is the jackknife over clusters of the residuals' products. That the fit would move without a cluster is of
    second order, since residuals are orthogonal to what was fitted; the parameters are taken off the degrees of
    freedom instead.

    Reference: R. A. Fisher, The distribution of the partial correlation coefficient, Metron 3 (1924).
    """
    weight = ratings.weight
    ranks = [2 * _Ranked.of(column, weight / ratings.units).place - 1 for column in controls.T]
    fitted = np.column_stack([np.ones_like(weight), *ranks, *(rank**2 for rank in ranks)])
    left = ratings.units - (fitted.shape[1] - 1)
    sample = Sample(ratings.clusters, max(left, 1.0), ratings.diversity)
    known = np.unique(np.concatenate([ratings.gold, ratings.given])) if labels else None
    gold, given = (_residuals(_columns_of(side, known), fitted, weight) for side in (ratings.gold, ratings.given))
    products = [(gold * gold).sum(axis=1), (gold * given).sum(axis=1), (given * given).sum(axis=1)]
    parts = np.column_stack([np.bincount(ratings.cluster, weights=weight * each) for each in products])
    value, replicates = delete_one(parts / ratings.units, _of_products)
    if left <= 3 or not isfinite(value):
        return coefficient_interval(float("nan"), inf, sample, level=level)
    error = jackknife_error(replicates) * ratings.units / left
    return coefficient_interval(value, error, sample, level=level)


def _columns_of(side: Floats, labels: Floats | None) -> Floats:
    if labels is None:
        return (side / (np.abs(side).max() or 1.0))[:, None]
    result: Floats = (side[:, None] == labels).astype(float)
    return result


def _residuals(columns: Floats, fitted: Floats, weight: Floats) -> Floats:
    root = np.sqrt(weight)[:, None]
    found = np.linalg.lstsq(fitted * root, columns * root, rcond=None)[0]
    result: Floats = columns - fitted @ found
    return result


def _of_products(sums: Floats) -> Floats:
    gold, both, given = np.moveaxis(sums, -1, 0)
    varied = (gold > TINY) & (given > TINY)
    return _over(both, np.where(varied, np.sqrt(np.maximum(gold, 0) * np.maximum(given, 0)), 0.0))


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


# Agreement of labels with gold, from tables of gold against given by cluster: Krippendorff and Matthews.

Metric = Literal["nominal", "ordinal", "interval"]
"""The distance of two values: whether they differ; the ranks between them; their difference."""

ROUNDING = 1e-12


def krippendorff_alpha(ratings: Ratings, *, metric: Metric, level: float = 0.95) -> Coefficient:
    """Krippendorff's alpha of two raters who both rated every item, gold and judge. NaN if all values are equal.

    Labels are numbers in order; on a nominal scale, any numbers. The standard error comes from leaving out one cluster
    at a time, with the ranks of an ordinal scale recomputed each time.

    Reference: K. Krippendorff, Computing Krippendorff's alpha-reliability (2011).
    """
    values = np.unique(np.concatenate([ratings.gold, ratings.given]))
    if metric == "interval":
        value, replicates = _interval_alpha(ratings)
    else:

        def statistic(tables: Floats) -> Floats:
            return alpha_of(tables + np.swapaxes(tables, -1, -2), metric=metric)

        value, replicates = _delete_one_table(ratings, values, statistic)
    freedom = float(len(values) - 1) if metric == "nominal" else 1.0
    return _table_interval(ratings, value, replicates, freedom, level)


def alpha_of(coincidences: ArrayLike, *, metric: Metric, values: ArrayLike | None = None) -> Floats:
    """Returns alpha of a coincidence matrix (how often two values met in one unit), or of an array of them.

    Each unit that m raters rated adds 1/(m - 1) for each ordered pair of its ratings. `values` are those of the rows,
    for the interval metric. NaN if all values are equal.

    >>> float(alpha_of([[4, 1], [1, 4]], metric="nominal"))
    0.64
    """
    met = np.asarray(coincidences, dtype=float)
    held = met.sum(axis=-1)
    total = held.sum(axis=-1)
    if metric == "nominal":
        differ = total - np.einsum("...ii->...", met)
        expected = total**2 - (held**2).sum(axis=-1)
    else:
        # The ordinal distance, which counts the values between two with half of each end, is a difference of mid-ranks.
        place = np.cumsum(held, axis=-1) - held / 2 if metric == "ordinal" else np.asarray(values, dtype=float)
        square = (place[..., :, None] - place[..., None, :]) ** 2
        differ = (met * square).sum(axis=(-1, -2))
        expected = (held[..., :, None] * held[..., None, :] * square).sum(axis=(-1, -2))
    return _one_less(total, differ, expected)


def matthews(ratings: Ratings, *, level: float = 0.95) -> Coefficient:
    """Matthews' correlation, extended to more than two labels. NaN if either side has only one label.

    References: B. W. Matthews, Biochimica et Biophysica Acta 405 (1975); J. Gorodkin, Comparing two K-category
    assignments by a K-category correlation coefficient, Computational Biology and Chemistry 28 (2004).
    """
    values = np.unique(np.concatenate([ratings.gold, ratings.given]))
    value, replicates = _delete_one_table(ratings, values, matthews_of)
    return _table_interval(ratings, value, replicates, float(len(values) - 1), level)


def matthews_of(tables: Floats) -> Floats:
    """Returns Matthews' correlation of a table of gold against given, or of an array of them."""
    gold, given = tables.sum(axis=-1), tables.sum(axis=-2)
    total = gold.sum(axis=-1)
    met = np.einsum("...ii->...", tables) * total - (gold * given).sum(axis=-1)
    squares = (total**2 - (gold**2).sum(axis=-1)) * (total**2 - (given**2).sum(axis=-1))
    known = squares > ROUNDING * total**4
    result: Floats = np.where(known, met, np.nan) / np.sqrt(np.where(known, squares, 1.0))
    return result


def _interval_alpha(ratings: Ratings) -> tuple[float, Floats]:
    """Computes alpha from sums of products alone, since values on an interval scale may all differ."""
    total = ratings.moments.sum(axis=0)

    def statistic(sums: Floats) -> Floats:
        n, x, y, xx, xy, yy = np.moveaxis(sums, -1, 0)
        expected = 2 * (2 * n * (xx + yy) - (x + y) ** 2)
        return _one_less(2 * n, 2 * (xx + yy - 2 * xy), expected)

    return float(statistic(total)), statistic(total - ratings.moments)


def _one_less(total: Floats, differ: Floats, expected: Floats) -> Floats:
    known = expected > ROUNDING * total**2
    result: Floats = 1 - np.where(known, (total - 1) * differ, np.nan) / np.where(known, expected, 1.0)
    return result


def _delete_one_table(ratings: Ratings, values: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, Floats]:
    """Returns the statistic of the whole table, and of the table without each cluster, in blocks of clusters."""
    size = len(values)
    cell = np.searchsorted(values, ratings.gold) * size + np.searchsorted(values, ratings.given)
    whole = np.bincount(cell, weights=ratings.weight, minlength=size * size).astype(float)
    order = np.argsort(ratings.cluster, kind="stable")
    cluster, cell, weight = ratings.cluster[order], cell[order], ratings.weight[order]
    rows = max(1, BLOCK // whole.size)
    replicates = []
    for start in range(0, ratings.clusters, rows):
        stop = min(start + rows, ratings.clusters)
        part = slice(*np.searchsorted(cluster, [start, stop]))
        place = (cluster[part] - start) * whole.size + cell[part]
        own = np.bincount(place, weights=weight[part], minlength=(stop - start) * whole.size)
        left = np.maximum(whole - own.reshape(-1, whole.size), 0.0)
        replicates.append(statistic(left.reshape(-1, size, size)))
    return float(statistic(whole.reshape(size, size))), np.concatenate(replicates)


def _table_interval(ratings: Ratings, value: float, replicates: Floats, freedom: float, level: float) -> Coefficient:
    sample = ratings.sample(freedom=max(1.0, freedom))
    return coefficient_interval(value, jackknife_error(replicates), sample, level=level)
