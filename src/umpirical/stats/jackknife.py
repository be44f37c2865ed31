"""The delete-one-cluster jackknife: an interval from how far an estimate moves when one task is left out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.clusters import student

Floats = NDArray[np.float64]


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
