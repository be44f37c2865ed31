"""Tests with the signal-detection model: how two groups differ, and whether the model fits at all."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, stdtr

from umpirical.stats.intervals import MIN_DESIGN_EFFECT, jackknife
from umpirical.stats.signal_estimates import SignalFit, most_likely, natural_values, prepare
from umpirical.stats.signal_model import (
    PARAMETERS,
    Neighbourhood,
    PairCounts,
    Space,
    call_rates,
    curvature,
    kind_likelihoods,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A parameter of the second group minus that of the first, over the tasks they share."""

    value: float
    standard_error: float
    """Infinite if the difference depends on a single task."""
    low: float
    high: float
    p: float
    """Two-sided, from Student's t with one degree of freedom fewer than there are tasks."""


@dataclass(frozen=True, slots=True)
class _Fitted:
    space: Space
    weights: Floats
    theta: Floats

    @classmethod
    def of(cls, pairs: PairCounts) -> "_Fitted":
        space, weights = prepare(pairs, {})
        return cls(space, weights, most_likely(space, weights)[0])


def parameter_difference(
    first: PairCounts,
    second: PairCounts,
    *,
    parameter: Literal["resolution", "criterion", "slot_bias"],
    level: float = 0.95,
) -> Difference:
    """Returns how much a parameter differs between two groups on the same tasks, by leaving tasks out of both at once.

    What a task does to both groups alike cancels, and what it does to one of them is in the error. Tasks that only one
    of the groups has count as separate tasks.

    Raises ValueError as `fit_signal` does, and if the parameter lies on a bound in a group, where there is no spread.
    """
    _, task = np.unique(np.concatenate([first.task, second.task]), return_inverse=True)
    tasks = (task[: len(first.task)], task[len(first.task) :])
    fits = [_Fitted.of(group) for group in (first, second)]
    index = PARAMETERS.index(parameter)
    if any(fit.space.at_bound(fit.theta)[index] for fit in fits):
        raise ValueError(f"{parameter} is at its limit in one of the groups, so the difference has no jackknife error")
    near = [Neighbourhood.of(fit.space, fit.weights, fit.theta) for fit in fits]

    def estimate(kept: NDArray[np.bool_]) -> float:
        values = []
        for group, fit, member in zip((first, second), near, tasks, strict=True):
            weights = fit.space.kinds.weights(group.weight * kept[member])
            theta = fit.theta if kept.all() else fit.refit(weights)
            values.append(float(natural_values(theta)[index]))
        return values[1] - values[0]

    clusters = int(task.max()) + 1
    found = jackknife(estimate, clusters, level=level)
    value, error = float(found.value), float(found.standard_error)
    p = 2 * float(stdtr(clusters - 1, -abs(value) / error)) if error > 0 else float(value == 0)
    return Difference(value, error, float(found.low), float(found.high), p)


# Whether the model fits: expected against given answers, cell by cell.

SMALLEST_CELL = 5.0
"""A cell with fewer expected answers is merged, as the chi-squared approximation requires."""


@dataclass(frozen=True, slots=True)
class GoodnessOfFit:
    """Pearson's test of the model, allowing for the dependence of calls."""

    statistic: float
    """Sum over cells of (observed - expected)² / expected."""
    df: int
    """Number of cells, minus one per difference and order, minus the fitted parameters that are not on a bound."""
    dispersion: float
    """What the statistic would be on average if the model held, divided by df: near 1 for independent calls.
    At least the lowest design effect of a rate, since closer agreement is luck."""
    p: float
    """The p-value of statistic / dispersion on df degrees of freedom."""


def goodness_of_fit(pairs: PairCounts, fit: SignalFit) -> GoodnessOfFit | None:
    """Pearson's chi-squared over cells (difference x order x answer), scaled for what calls of one task share.

    In each difference and order, answers expected fewer than five times are merged with the next rarest. The two calls
    of a pair share its surface preference, and tasks may differ, so the cells are not multinomial. Their covariance is
    therefore taken from the tasks' own residuals, with the effect of fitting removed, and the statistic is divided by
    its mean under the model (Rao and Scott's first-order correction). Without task effects the dispersion is close to
    1; differences between tasks raise it instead of being mistaken for a wrong curve.

    None if merging leaves no degrees of freedom, or with fewer than two tasks.

    Reference: J. N. K. Rao and A. J. Scott, On chi-squared tests for multiway contingency tables with cell proportions
    estimated from survey data, Annals of Statistics 12 (1984).
    """
    cells = _Cells.of(pairs)
    if cells.tasks < 2:
        return None
    expected = cells.sums(_expected(pairs, fit.theta))
    merge, margins = _merging(expected.sum(axis=0))
    inside = np.array([name not in fit.held | fit.at_bound for name in PARAMETERS])
    df = len(merge) - margins - int(inside.sum())
    if df < 1:
        return None
    total = merge @ expected.sum(axis=0)
    residuals = (cells.sums(pairs.counts * pairs.weight[:, None]) - expected) @ merge.T
    slopes = np.array([merge @ cells.sums(slope).sum(axis=0) for slope in _slopes(pairs, fit.theta, inside)])
    settled = residuals - _influences(pairs, fit, cells, inside) @ slopes
    settled = settled - settled.mean(axis=0)
    dispersion = max(MIN_DESIGN_EFFECT, float((settled**2 / total).sum()) * cells.tasks / (cells.tasks - 1) / df)
    statistic = float((residuals.sum(axis=0) ** 2 / total).sum())
    return GoodnessOfFit(statistic, df, dispersion, float(chdtrc(df, statistic / dispersion)))


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cell of each row of the pairs: six cells for each difference, in each task."""

    place: NDArray[np.intp]
    tasks: int
    differences: int

    @classmethod
    def of(cls, pairs: PairCounts) -> "_Cells":
        names, task = np.unique(pairs.task, return_inverse=True)
        steps, step = np.unique(pairs.delta, return_inverse=True)
        return cls(task * len(steps) + step, len(names), len(steps))

    def sums(self, rows: Floats) -> Floats:
        size = self.tasks * self.differences
        columns = [np.bincount(self.place, weights=column, minlength=size) for column in rows.T]
        return np.column_stack(columns).astype(float).reshape(self.tasks, -1)

    def by_task(self, rows: Floats) -> Floats:
        task = self.place // self.differences
        columns = [np.bincount(task, weights=column, minlength=self.tasks) for column in rows.T]
        return np.column_stack(columns).astype(float)


def _expected(pairs: PairCounts, theta: Floats) -> Floats:
    calls = np.repeat(pairs.counts.reshape(-1, 2, 3).sum(axis=2), 3, axis=1)
    expected: Floats = call_rates(theta, pairs.delta, pairs.log_length) * calls * pairs.weight[:, None]
    return expected


def _merging(expected: Floats) -> tuple[Floats, int]:
    """Returns which cells make up each merged cell (rows of 0 and 1), and the number of differences and orders."""
    merged: list[Floats] = []
    margins = 0
    for first in range(0, len(expected), 3):
        groups = [[first], [first + 1], [first + 2]]
        while len(groups) > 1:
            groups.sort(key=lambda group: float(expected[group].sum()))
            if expected[groups[0]].sum() >= SMALLEST_CELL:
                break
            groups[:2] = [groups[0] + groups[1]]
        if expected[first : first + 3].sum() == 0:
            continue
        margins += 1
        merged += [np.isin(np.arange(len(expected)), group).astype(float) for group in groups]
    return np.array(merged), margins


def _slopes(pairs: PairCounts, theta: Floats, inside: NDArray[np.bool_]) -> list[Floats]:
    """Returns how the expected answers change with each fitted parameter."""
    found = []
    for parameter in np.flatnonzero(inside):
        step = np.zeros(len(theta))
        # At most half of tau², so that it stays positive.
        step[parameter] = min(1e-4, theta[parameter] / 2) if PARAMETERS[parameter] == "surface" else 1e-4
        found.append((_expected(pairs, theta + step) - _expected(pairs, theta - step)) / (2 * step[parameter]))
    return found


def _influences(pairs: PairCounts, fit: SignalFit, cells: _Cells, inside: NDArray[np.bool_]) -> Floats:
    """Returns how far each task pulls each fitted parameter, one row per task."""
    space, weights = prepare(pairs, {})
    curved = curvature(space, weights, fit.theta)[np.ix_(inside, inside)]
    _, gradients = kind_likelihoods(fit.theta, space.kinds)
    scores = cells.by_task(gradients[space.kinds.kind] * pairs.weight[:, None])
    return scores[:, inside] @ np.linalg.pinv(curved)
