"""The interval of a coefficient of agreement or correlation: jackknife over clusters, on Fisher's scale."""

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, exp, inf, isfinite, log, sqrt

import numpy as np
from numpy.typing import NDArray

from umpirical.stats.clusters import student

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
    centre = _fisher(value, answers)
    return Coefficient(value, _back(centre - half, answers), _back(centre + half, answers), sample.clusters)


def _least_dispersion(sample: Sample) -> float:
    differing = sample.units * sample.diversity
    return min(1.0, max(MIN_DISPERSION, FEW_DIFFERENT / differing)) if differing > 0 else 1.0


def _unseen(sample: Sample, t: float) -> float:
    return t * t / (sample.units + t * t) / sample.diversity if sample.diversity > 0 else inf


def _fisher(value: float, answers: float) -> float:
    return atanh(value) if answers == 2 else log((1 + (answers - 1) * value) / (1 - value)) / 2


def _back(place: float, answers: float) -> float:
    if place > 300:
        return 1.0
    grown = exp(2 * place)
    return (grown - 1) / (grown + answers - 1)
