"""Finds the most likely parameters of the signal-detection model inside their bounds."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from umpirical.stats.signal_likelihood import PARAMETERS, Kinds, PairCounts, kind_likelihoods, log_prior

Floats = NDArray[np.float64]

LOWEST_VARIANCE = 1e-6
"""A tau² that counts as 0, where the slope in tau² can still be computed."""

LOWEST_LAPSE = 1e-3
"""A lapse that counts as 0: below it the logit has no slope, and a search would stop anywhere."""

PLATEAU = 15.0
"""Bound on resolution times the smallest difference: beyond it, no answer becomes any likelier."""

CLOSE = 1e-5
"""A step smaller than this, relative to 1 + |parameter|, ends a refit."""

SCOUTING = 8
"""Number of steps from each of several starting points."""

LONGEST_CLIMB = 200
"""Most steps from the best of them."""

PATIENCE = 30
"""Number of Newton steps after which the general search takes over a refit."""


@dataclass(frozen=True, slots=True)
class Space:
    """What is searched: the kinds of pairs, the held parameters, and the bounds of the others."""

    kinds: Kinds
    free: NDArray[np.bool_]
    held: Floats
    """Values of the held parameters, 0 elsewhere."""
    low: Floats
    high: Floats

    def objective(self, theta: Floats, weights: Floats) -> tuple[float, Floats]:
        """Log-likelihood plus log prior, and its gradient."""
        values, gradients = kind_likelihoods(theta, self.kinds)
        prior, slope, _ = log_prior(theta)
        return float(weights @ values) + prior, weights @ gradients + slope

    def hold(self, parameter: int, value: float) -> "Space":
        """Returns the same space with one more parameter held at `value`."""
        free, held = self.free.copy(), self.held.copy()
        free[parameter], held[parameter] = False, value
        return Space(self.kinds, free, held, self.low, self.high)

    def at_bound(self, theta: Floats) -> NDArray[np.bool_]:
        near = 1e-8 * (1 + abs(theta))
        return self.free & ((theta <= self.low + near) | (theta >= self.high - near))


def space_of(pairs: PairCounts, kinds: Kinds, held: Mapping[int, float]) -> Space:
    steps = abs(pairs.delta[pairs.delta != 0])
    steepest = PLATEAU / float(steps.min()) if len(steps) else 1.0
    free, values = np.ones(len(PARAMETERS), dtype=bool), np.zeros(len(PARAMETERS))
    for parameter, value in held.items():
        free[parameter], values[parameter] = False, value
    low = np.array([-steepest, 0.0, -8.0, LOWEST_VARIANCE, -50.0, logit(LOWEST_LAPSE)])
    high = np.array([steepest, 8.0, 8.0, 25.0, 50.0, 0.0])
    return Space(kinds, free, values, low, high)


def search(space: Space, weights: Floats, starts: list[Floats]) -> tuple[Floats, float]:
    """Returns the highest point of the objective inside the bounds, and the objective there.

    With several starts, a few steps are made from each, and the search continues from the best. The steps are those of
    Levenberg and Marquardt with the pairs' own gradients as the curvature (Berndt, Hall, Hall and Hausman), which is
    never that of a valley; Newton steps finish it. A general optimiser needs as many evaluations, but the linear
    algebra that scipy calls starts threads for its 6 x 6 matrices, and takes ten times as long on a busy machine.
    """
    points = [np.where(space.free, np.clip(start, space.low, space.high), space.held) for start in starts]
    if len(points) > 1:
        points = [max((_climb(space, weights, point, SCOUTING) for point in points), key=lambda end: end[1])[0]]
    theta, value = _climb(space, weights, points[0], LONGEST_CLIMB)
    polished = _polish(space, weights, theta, curvature(space, weights, theta))
    if polished is not None:
        top = space.objective(polished, weights)[0]
        if top >= value - 1e-9:
            return polished, top
    return theta, value


def _climb(space: Space, weights: Floats, theta: Floats, steps: int) -> tuple[Floats, float]:
    """Makes damped steps, each of which raises the objective, until none does."""
    value, gradient, curved = _outer_curvature(space, weights, theta)
    damping, idle = 0.01, 0
    for _ in range(steps):
        movable = space.free & ~_outwards(space, theta, gradient)
        # The 1 is for parameters that the answers say nothing about, whose curvature is 0.
        step = _newton_step(curved + np.diag(damping * (np.diag(curved) + 1)), gradient, movable)
        if step is None:
            break
        moved = np.where(space.free, np.clip(theta + step, space.low, space.high), theta)
        found = _outer_curvature(space, weights, moved)
        if found[0] > value:
            idle = idle + 1 if found[0] - value < 1e-8 else 0
            theta, (value, gradient, curved) = moved, found
            damping = max(1e-6, damping / 5)
        else:
            damping *= 5
        if idle > 2 or damping > 1e9:
            break
    return theta, value


def _outer_curvature(space: Space, weights: Floats, theta: Floats) -> tuple[float, Floats, Floats]:
    """Returns the objective, its gradient, and the sum of outer products of the pairs' gradients."""
    values, gradients = kind_likelihoods(theta, space.kinds)
    prior, slope, curved = log_prior(theta)
    total = (gradients * weights[:, None]).T @ gradients + np.diag(curved)
    return float(weights @ values) + prior, weights @ gradients + slope, total


def _outwards(space: Space, theta: Floats, gradient: Floats) -> NDArray[np.bool_]:
    """Returns which parameters lie on a bound and would move beyond it."""
    return ((theta <= space.low) & (gradient < 0)) | ((theta >= space.high) & (gradient > 0))


def curvature(space: Space, weights: Floats, theta: Floats) -> Floats:
    """Returns minus the second derivatives of the objective, from differences of its gradient inside the bounds."""
    size = len(theta)
    found = np.zeros((size, size))
    for parameter in np.flatnonzero(space.free):
        step = 1e-4 * (1 + abs(theta[parameter]))
        ends = []
        for side in (-step, step):
            point = theta.copy()
            point[parameter] = np.clip(point[parameter] + side, space.low[parameter], space.high[parameter])
            ends.append((point[parameter], space.objective(point, weights)[1]))
        (left, before), (right, after) = ends
        found[:, parameter] = (before - after) / (right - left)
    return (found + found.T) / 2


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A fit, and what is needed to refit with a few pairs more or fewer."""

    space: Space
    theta: Floats
    curved: Floats
    gradients: Floats
    """Gradients of each kind, at the fit."""

    @classmethod
    def of(cls, space: Space, weights: Floats, theta: Floats) -> "Neighbourhood":
        return cls(space, theta, curvature(space, weights, theta), kind_likelihoods(theta, space.kinds)[1])

    def refit(self, weights: Floats) -> Floats:
        """Returns the fit to weights that differ little from those of the old fit.

        Newton steps with the old curvature, repeated until they vanish: the same answer as a search from scratch, in
        about three evaluations instead of sixty. If they fail, the general search takes over.
        """
        gradient = weights @ self.gradients + log_prior(self.theta)[1]
        start = _newton_move(self.space, self.theta, gradient, self.curved)
        found = None if start is None else _polish(self.space, weights, start, self.curved)
        return search(self.space, weights, [self.theta])[0] if found is None else found


def _polish(space: Space, weights: Floats, theta: Floats, curved: Floats) -> Floats | None:
    """Makes Newton steps with one curvature until they vanish; None if they lead down or do not end."""
    reached = -np.inf
    for _ in range(PATIENCE):
        value, gradient = space.objective(theta, weights)
        if value < reached - 1e-3:
            return None
        reached = max(value, reached)
        moved = _newton_move(space, theta, gradient, curved)
        if moved is None:
            return None
        if (abs(moved - theta) < CLOSE * (1 + abs(theta))).all():
            return moved
        theta = moved
    return None


def _newton_move(space: Space, theta: Floats, gradient: Floats, curved: Floats) -> Floats | None:
    """Returns where a Newton step leads inside the bounds."""
    step = _newton_step(curved, gradient, space.free & ~_outwards(space, theta, gradient))
    return None if step is None else np.where(space.free, np.clip(theta + step, space.low, space.high), theta)


def _newton_step(curved: Floats, gradient: Floats, movable: NDArray[np.bool_]) -> Floats | None:
    """Returns the Newton step; None if the curvature is not that of a maximum."""
    step = np.zeros(len(gradient))
    if movable.any():
        block = curved[np.ix_(movable, movable)]
        try:
            np.linalg.cholesky(block)
        except np.linalg.LinAlgError:
            return None
        step[movable] = np.linalg.solve(block, gradient[movable])
    return step
