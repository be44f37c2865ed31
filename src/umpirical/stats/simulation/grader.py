"""The latent rule of a grading judge, and the value that every measure has under it.

A judge places an answer on its scale at Z = 1/2 + leniency + gain·(level - middle) + eta + noise·eps, where 0 is the
lowest grade and 1 the highest, and gives the nearest of the scale's evenly spaced grades. eta ~ N(0, surface²) belongs
to the answer's wording, eps ~ N(0, 1) to the call. A blank answer is placed at `blank` + noise·eps. With probability
`lapse` any grade is given instead. The same rule draws the grades of simulated judges, so what a measure should
recover is known exactly. Grades are numbered from 0, the lowest; a difference of grades is in steps of the scale.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LatentGrader:
    """The known properties of a simulated `grade` judge. Lengths are shares of the scale, lowest to highest grade."""

    gain: float
    """kappa: how far one more requirement lifts an answer; 0.2 spans the scale with five, less compresses it."""
    noise: float
    """sigma: spread of one answer's place from call to call."""
    leniency: float = 0.0
    """alpha: how far every answer is lifted; negative for a severe judge."""
    surface: float = 0.0
    """Spread of the places of equally good answers with different wordings."""
    lapse: float = 0.0
    """Share of calls that give any grade at random."""
    blank: float = -1.0
    """Where an answer without content is placed: high values reward blank answers."""
    middle: float = 2.5
    """The quality, in requirements, whose place is the middle of the scale."""


@dataclass(frozen=True, slots=True)
class Order:
    """How often the better of two answers has the higher, the same, or the lower grade."""

    higher: Floats
    equal: Floats
    lower: Floats


def centre(grader: LatentGrader, level: ArrayLike) -> Floats:
    return 0.5 + grader.leniency + grader.gain * (np.asarray(level, dtype=float) - grader.middle)


def cut_points(grades: int) -> Floats:
    """Returns places halfway between neighbouring grades, so that the nearest grade is given."""
    if grades < 2:
        raise ValueError(f"a scale needs at least two grades, got {grades}")
    return (np.arange(1, grades) - 0.5) / (grades - 1)


def grade_rates(grader: LatentGrader, level: ArrayLike, *, grades: int) -> Floats:
    """P(grade | quality): one row per level, one column per grade."""
    spread = np.sqrt(grader.noise**2 + grader.surface**2)
    return _rates(np.atleast_1d(centre(grader, level)), float(spread), grader.lapse, grades)


def dark_current(grader: LatentGrader, *, grades: int) -> float:
    """P(a blank answer gets more than the lowest grade)."""
    return 1 - float(_rates(np.array([grader.blank]), grader.noise, grader.lapse, grades)[0, 0])


def pair_order(grader: LatentGrader, base: ArrayLike, delta: ArrayLike, *, grades: int) -> Order:
    """P(higher), P(equal), P(lower) of an answer that is better by `delta` than one of quality `base`."""
    lesser = np.atleast_1d(np.asarray(base, dtype=float))
    low = grade_rates(grader, lesser, grades=grades)
    high = grade_rates(grader, lesser + np.asarray(delta, dtype=float), grades=grades)
    below = np.cumsum(low, axis=1) - low
    higher: Floats = (high * below).sum(axis=1)
    equal: Floats = (high * low).sum(axis=1)
    return Order(higher, equal, 1 - higher - equal)


def concordance(grader: LatentGrader, base: ArrayLike, delta: ArrayLike, *, grades: int) -> float:
    """The share of pairs with different grades in which the better answer has the higher one."""
    order = pair_order(grader, base, delta, grades=grades)
    return float(order.higher.sum() / (order.higher + order.lower).sum())


def grade_spread(grader: LatentGrader, level: ArrayLike, *, grades: int) -> float:
    """Mean distance, in steps, of the grades of two answers of one quality, over the given qualities."""
    rates = grade_rates(grader, level, grades=grades)
    steps = np.arange(grades)
    distance = np.abs(steps[:, None] - steps)
    return float(np.einsum("li,ij,lj->l", rates, distance, rates).mean())


def grade_slope(grader: LatentGrader, level: ArrayLike, task: ArrayLike, *, grades: int) -> float:
    """Slope of the regression of grade on quality within tasks, in steps per requirement, over the given answers.

    `task` is the index of each answer's task, from 0.
    """
    x, group = np.asarray(level, dtype=float), np.asarray(task, dtype=np.intp)
    expected = grade_rates(grader, x, grades=grades) @ np.arange(grades)
    gap = x - (np.bincount(group, weights=x) / np.bincount(group))[group]
    return float(gap @ expected / (gap @ gap))


def _rates(places: Floats, spread: float, lapse: float, grades: int) -> Floats:
    cuts = cut_points(grades)
    gap = cuts - places[:, None]
    # Without any spread, every place has one grade; a place on a cut goes up, as it does when grades are drawn.
    below = (gap > 0).astype(float) if spread == 0 else ndtr(gap / spread)
    upto = np.column_stack([np.zeros(len(places)), below, np.ones(len(places))])
    rates: Floats = lapse / grades + (1 - lapse) * np.diff(upto, axis=1)
    return rates
