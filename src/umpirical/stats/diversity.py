"""The effective number of categories that are used, from counts by cluster."""

import numpy as np
from numpy.typing import ArrayLike

from umpirical.stats.clusters import student
from umpirical.stats.jackknife import jackknife
from umpirical.stats.ratios import ClusterRatio


def effective_number(counts: ArrayLike) -> float:
    """Returns one over the chance that two units of different clusters are in the same category.

    That many evenly used categories would give the same chance. Rows of `counts` are clusters, columns are categories.
    Units of one cluster are not compared with each other: they are alike for other reasons, and within a sample a unit
    always equals itself, which makes the plain sum of squared shares too large. NaN if no two clusters have units,
    infinite if no two of them share a category.

    Reference: M. O. Hill, Diversity and evenness, Ecology 54 (1973), the number of order 2.

    >>> effective_number([[2, 0], [0, 2], [1, 1]])
    3.0
    """
    table = np.asarray(counts, dtype=float)
    same = float((table.sum(axis=0) ** 2).sum() - (table**2).sum())
    sizes = table.sum(axis=1)
    pairs = float(sizes.sum() ** 2 - (sizes**2).sum())
    if pairs <= 0:
        return float("nan")
    return pairs / same if same > 0 else float("inf")


def effective_number_interval(counts: ArrayLike, *, level: float = 0.95) -> ClusterRatio:
    """Returns the effective number with its interval: a jackknife of its logarithm over clusters, with Student's t.

    The standard error is at least that of one unit of another category, since clusters that all agree show no spread;
    the interval does not extend below 1. At least three clusters with units are needed.
    """
    table = np.asarray(counts, dtype=float)
    table = table[table.sum(axis=1) > 0]
    found = jackknife(lambda kept: np.log(effective_number(table[kept])), len(table), level=level)
    least = 2 / float(table.sum())
    half = student(len(table), level) * max(least, float(found.standard_error))
    low, high = np.exp([found.value - half, found.value + half])
    return ClusterRatio(float(np.exp(found.value)), max(1.0, float(low)), float(high), len(table))
