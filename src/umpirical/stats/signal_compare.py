"""Tests whether two prompts, versions or judges differ in what they see, or only in their criterion."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from umpirical.stats.jackknife import jackknife
from umpirical.stats.marginal import LikelihoodRatio
from umpirical.stats.signal import Parameter, most_likely, natural_values, prepare
from umpirical.stats.signal_likelihood import PARAMETERS, PairCounts
from umpirical.stats.signal_search import Neighbourhood, Space, search

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


def compare_shared(groups: list[PairCounts], *, share: Parameter) -> LikelihoodRatio:
    """Likelihood-ratio test that one parameter is the same in all groups, with all others free in each.

    `share="resolution"`: do the groups differ in more than criterion, biases and lapse? `share="criterion"`: in more
    than resolution, biases and lapse? There is one degree of freedom for each group but the first. The weak priors
    enter both models alike. The test treats pairs as independent: at a level of .05 it rejects .05 of runs without
    and .06 with moderate differences between tasks. If tasks differ much, use `parameter_difference`.

    Raises ValueError as `fit_signal` does for any group, if there is one group only, or if the parameter cannot be
    fitted in a group.
    """
    from scipy.optimize import minimize_scalar  # half a second of import

    fits = [_Fitted.of(group) for group in groups]
    parameter = PARAMETERS.index(share)
    if len(fits) < 2:
        raise ValueError(f"a comparison needs at least two groups, got {len(fits)}")
    if any(not fit.space.free[parameter] for fit in fits):
        raise ValueError(f"{share} cannot be fitted in every group")
    values = [float(fit.theta[parameter]) for fit in fits]
    free = sum(fit.top for fit in fits)
    if max(values) - min(values) < 1e-9:
        return LikelihoodRatio.of(free, free, len(fits) - 1)

    def cost(value: float) -> float:
        return -sum(fit.profile(parameter, value) for fit in fits)

    # Each group's profile falls on both sides of its own estimate, so the shared one lies between them.
    shared = minimize_scalar(cost, bounds=(min(values), max(values)), method="bounded", options={"xatol": 1e-5})
    ends = [cost(min(values)), cost(max(values))]
    return LikelihoodRatio.of(free, -min(float(shared.fun), *ends), len(fits) - 1)


@dataclass(frozen=True, slots=True)
class _Fitted:
    space: Space
    weights: Floats
    theta: Floats
    top: float

    @classmethod
    def of(cls, pairs: PairCounts) -> "_Fitted":
        space, weights = prepare(pairs, {})
        return cls(space, weights, *most_likely(space, weights))

    def profile(self, parameter: int, value: float) -> float:
        """Returns the highest objective with the parameter at `value`."""
        return search(self.space.hold(parameter, value), self.weights, [self.theta])[1]


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
        raise ValueError(f"{parameter} lies on a bound in one of the groups: a difference has no jackknife error")
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
