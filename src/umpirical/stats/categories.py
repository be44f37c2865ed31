"""Agreement of labels with gold, from tables of gold against given by cluster: Krippendorff and Matthews."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.agreement import Ratings
from umpirical.stats.coefficients import BLOCK, Coefficient, coefficient_interval, jackknife_error

Floats = NDArray[np.float64]

Metric = Literal["nominal", "ordinal", "interval"]
"""The distance of two values: whether they differ; the ranks between them; their difference."""

TINY = 1e-12


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
    return _interval(ratings, value, replicates, freedom, level)


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
    return _interval(ratings, value, replicates, float(len(values) - 1), level)


def matthews_of(tables: Floats) -> Floats:
    """Returns Matthews' correlation of a table of gold against given, or of an array of them."""
    gold, given = tables.sum(axis=-1), tables.sum(axis=-2)
    total = gold.sum(axis=-1)
    met = np.einsum("...ii->...", tables) * total - (gold * given).sum(axis=-1)
    squares = (total**2 - (gold**2).sum(axis=-1)) * (total**2 - (given**2).sum(axis=-1))
    known = squares > TINY * total**4
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
    known = expected > TINY * total**2
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


def _interval(ratings: Ratings, value: float, replicates: Floats, freedom: float, level: float) -> Coefficient:
    sample = ratings.sample(freedom=max(1.0, freedom))
    return coefficient_interval(value, jackknife_error(replicates), sample, level=level)
