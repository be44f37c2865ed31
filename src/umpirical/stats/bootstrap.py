"""Cluster bootstrap from per-cluster sums: one pass over the data, then only small matrices."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from umpirical.stats.wilson import Bounds

__all__ = ["cluster_bootstrap", "percentile_interval"]

Floats = NDArray[np.float64]

ROWS_PER_BLOCK = 1_000_000
"""Weights are drawn in blocks of about this many numbers, so that memory does not grow with clusters."""


def cluster_bootstrap(
    sums: Floats, statistic: Callable[[Floats], Floats], *, rng: np.random.Generator, replicates: int = 2000
) -> Floats:
    """Values of `statistic` on totals of clusters drawn with replacement.

    `sums` has one row per cluster; `statistic` takes an array of totals, one row per replicate, and returns one
    number per row. Whole clusters are resampled, never the units inside them.
    """
    clusters = len(sums)
    block = max(1, ROWS_PER_BLOCK // clusters)
    even = np.full(clusters, 1 / clusters)
    values = [
        statistic(rng.multinomial(clusters, even, size=min(block, replicates - start)) @ sums)
        for start in range(0, replicates, block)
    ]
    return np.concatenate(values)


def percentile_interval(values: Floats, *, level: float = 0.95) -> Bounds:
    """The middle `level` of the replicates."""
    tail = (1 - level) / 2 * 100
    low, high = np.percentile(values, [tail, 100 - tail])
    return Bounds(float(low), float(high))
