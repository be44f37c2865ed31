"""Effects of crossed two-level factors, by least squares on sums, with a jackknife over clusters."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.jackknife import Jackknife, jackknife


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

    def fit(kept: NDArray[np.bool_]) -> NDArray[np.float64]:
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


def _by_cluster(clusters: ArrayLike, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the sums of rows by cluster."""
    names, places = np.unique(np.asarray(clusters), return_inverse=True)
    found = np.zeros((len(names), *rows.shape[1:]))
    np.add.at(found, places, rows)
    return found
