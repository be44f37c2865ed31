"""The interval of a coefficient of agreement or correlation: jackknife over clusters, on Fisher's scale."""

from collections.abc import Callable
from dataclasses import dataclass
from math import atanh, exp, inf, isfinite, log, sqrt

import numpy as np
from numpy.typing import NDArray

from umpirical.stats.clusters import student

__all__ = ["Coefficient", "Sample", "coefficient_interval", "delete_one", "jackknife_error"]

Floats = NDArray[np.float64]

MIN_DISPERSION = 0.25
"""Variance on Fisher's scale against 1/n, below which agreement of the clusters is luck of a small sample."""

FEW_DIFFERENT = 10.0
"""Units times the chance that two differ, below which the spread seen is not trusted to be less than that of chance: of
20 items 3 have another label than the rest, and one of them decides."""

BLOCK = 4_000_000
"""Numbers that leave-one-out sums are made of at a time, so that memory does not grow with clusters."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient, with its interval. NaN, with limits that say nothing, where it is not defined."""

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
    """The chance that two units, drawn at random, differ."""
    answers: float = 2.0
    """Of each unit: two for every correlation, as many as there are repeats for an intraclass correlation."""
    freedom: float = 1.0
    """Ways in which two raters can agree by chance: with K labels without order K - 1."""


def delete_one(parts: Floats, statistic: Callable[[Floats], Floats]) -> tuple[float, Floats]:
    """The statistic of the sum of all clusters' parts, and of the sum without each of them.

    The first axis of `parts` is clusters; `statistic` takes an array of sums and returns a number for each.
    """
    total = parts.sum(axis=0)
    rows = max(1, BLOCK // max(1, total.size))
    blocks = [statistic(total - parts[start : start + rows]) for start in range(0, len(parts), rows)]
    return float(statistic(total)), np.concatenate(blocks)


def jackknife_error(replicates: Floats) -> float:
    """Standard error from leave-one-out values; infinite where one of them is not defined."""
    clusters = len(replicates)
    if not np.isfinite(replicates).all():
        return inf
    return sqrt((clusters - 1) / clusters * float(((replicates - replicates.mean()) ** 2).sum()))


def coefficient_interval(value: float, error: float, sample: Sample, *, level: float = 0.95) -> Coefficient:
    """Limits of a coefficient that is 1 at best, from its standard error: Student's t on Fisher's scale.

    The scale is that of an intraclass correlation, whose least value is -1/(answers - 1); for two answers, and so for
    every correlation, it is the inverse hyperbolic tangent. The error is carried over by its slope: a leave-one-out
    value of 1 would lie at infinity. It is not below half of what unrelated units give, since clusters that all agree
    show no spread.

    At 1 and at its least the far limit is that of a judge that answers at random so seldom that it did not show: the
    upper limit of 0 of so many units, over the chance that two of them differ.

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
