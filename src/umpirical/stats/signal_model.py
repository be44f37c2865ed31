"""The tie-aware signal-detection model: its likelihood over kinds of pairs, and the search for the highest one."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtr

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

PARAMETERS = ("resolution", "criterion", "slot_bias", "surface", "length_weight", "lapse")
"""Order of the working vector. There, `surface` is tau² and `lapse` is the logit of lambda."""

# tau² rather than tau: the likelihood is even in tau, so its slope at tau = 0 is always 0 and a search would stay
# there. In tau² the slope at 0 says whether pairs agree with themselves more than noise allows.
_NODES = np.linspace(-6.4, 6.4, 41)
# The trapezoidal rule under a normal density: a step h has an error of about exp(-2 (pi / (h tau))²), so .32 is enough
# for tau up to 4. Gauss-Hermite with 25 nodes is off by .09 in a log-likelihood at tau = 3, as it wastes nodes far out.
_LOG_WEIGHTS = -(_NODES**2) / 2 - np.log(np.exp(-(_NODES**2) / 2).sum())

LAPSE_PRIOR = (1.0, 9.0)
"""Beta prior of the lapse: mean .1, mode 0. It weighs as much as 8 calls without a lapse: enough to keep the lapse from
taking over what criterion and resolution explain when there are few easy pairs, and too little to hide one in ten."""

SURFACE_PRIOR = 3.0
"""Standard deviation of the half-normal prior of tau. If both orders say nothing about taste (a judge that follows the
position), tau, k, c and b can all be scaled up together at no cost; the prior picks the smallest of these solutions."""


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Answers to pairs, one row per kind of pair seen in a task."""

    task: NDArray[np.intp]
    """The cluster each row belongs to: any numbers from 0 on."""
    delta: Floats
    """By how many requirements content a is better than b; 0 if equal, negative if b is better."""
    log_length: Floats
    """Logarithm of the length of a divided by that of b."""
    counts: Floats
    """Six columns: in order ab position 1, position 2, tie; in order ba position 1, position 2, tie. a is in position
    1 of order ab. The calls of one row share the pair's surface preference: pairs must not be summed into one row."""
    weight: Floats
    """How many pairs had exactly these counts."""

    @classmethod
    def of(
        cls,
        task: ArrayLike,
        delta: ArrayLike,
        counts: ArrayLike,
        *,
        log_length: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> "PairCounts":
        """Makes checked arrays; lengths are equal and weights are 1 if not given."""
        rows = len(np.asarray(delta))
        made = cls(
            np.asarray(task, dtype=np.intp),
            np.asarray(delta, dtype=float),
            np.zeros(rows) if log_length is None else np.asarray(log_length, dtype=float),
            np.asarray(counts, dtype=float).reshape(-1, 6),
            np.ones(rows) if weight is None else np.asarray(weight, dtype=float),
        )
        made.check()
        return made

    def check(self) -> None:
        rows = len(self.delta)
        if rows == 0:
            raise ValueError("no pairs: the model needs pairs with two or more quality differences")
        if any(len(column) != rows for column in (self.task, self.log_length, self.counts, self.weight)):
            raise ValueError("task, delta, log_length, counts and weight must have the same number of rows")
        if (self.task < 0).any() or (self.counts < 0).any() or (self.weight < 0).any():
            raise ValueError("task indices, counts and weights cannot be negative")
        if not (np.isfinite(self.delta).all() and np.isfinite(self.log_length).all()):
            raise ValueError("quality differences and length ratios must be finite")


@dataclass(frozen=True, slots=True)
class Kinds:
    """Pairs grouped by what they showed, so that equal ones are computed once."""

    delta: Floats
    """One entry per stimulus: a pair of delta and log length ratio."""
    log_length: Floats
    stimulus: Indices
    """The stimulus of each kind."""
    counts: Floats
    """Six columns, one row per kind: the counts of its stimulus."""
    kind: Indices
    """The kind of each row of the pairs."""
    given: Indices
    """Which answers each kind got: one row per kind, indices into the table of answers and stimuli, with padding."""
    times: Floats
    """How often each of these was given: 0 for padding."""

    def weights(self, weight: Floats) -> Floats:
        """Returns how many pairs of each kind there are, from the weights of the rows."""
        return np.bincount(self.kind, weights=weight, minlength=len(self.stimulus)).astype(float)


def sort_kinds(pairs: PairCounts) -> Kinds:
    stimuli, stimulus = np.unique(np.column_stack([pairs.delta, pairs.log_length]), axis=0, return_inverse=True)
    kinds, kind = np.unique(np.column_stack([stimulus.reshape(-1), pairs.counts]), axis=0, return_inverse=True)
    of, counts = kinds[:, 0].astype(np.intp), kinds[:, 1:]
    # Most kinds have two of the six answers: those that were given come first, and the table is cut off after them.
    answer = np.argsort(counts == 0, axis=1, kind="stable")[:, : max(1, int((counts > 0).sum(axis=1).max()))]
    times = np.take_along_axis(counts, answer, axis=1)
    given = answer * len(stimuli) + of[:, None]
    return Kinds(stimuli[:, 0], stimuli[:, 1], of, counts, kind.reshape(-1), given, times)


def kind_likelihoods(theta: Floats, kinds: Kinds) -> tuple[Floats, Floats]:
    """Returns the log-likelihood of one pair of each kind, and its gradient (one row per kind) in working parameters.

    The surface preference is integrated out numerically, within 1e-5 of the truth for tau up to 3 with one call per
    order, and within .03 with three of each.
    """
    logs, *rest = np.einsum("km,pkmq->pkq", kinds.times, _answer_tables(theta, kinds)[:, kinds.given])
    joint = _LOG_WEIGHTS + logs
    top = joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint - top)
    total = posterior.sum(axis=1, keepdims=True)
    posterior /= total
    by_evidence, by_bias, by_criterion, by_lapse = (np.einsum("kq,kq->k", posterior, slope) for slope in rest)
    gradient = np.column_stack(
        [
            by_evidence * kinds.delta[kinds.stimulus],
            by_criterion,
            by_bias,
            np.einsum("kq,kq,q->k", posterior, rest[0], _NODES) / (2 * np.sqrt(theta[3])),
            by_evidence * kinds.log_length[kinds.stimulus],
            by_lapse,
        ]
    )
    return (top + np.log(total))[:, 0], gradient


def _answer_tables(theta: Floats, kinds: Kinds) -> Floats:
    """Returns, for each of six answers to each stimulus, at each node: the log rate, and its slopes.

    The slopes are those in the evidence for u, the position bias, the criterion and the logit of the lapse.
    """
    k, c, b, variance, w, logit = theta
    lapse = expit(logit)
    evidence = (k * kinds.delta + w * kinds.log_length)[:, None] + np.sqrt(variance) * _NODES
    signal = np.stack([evidence + b, b - evidence])
    distance = np.stack([signal - c, -signal - c])
    named = ndtr(distance)
    up, down = (1 - lapse) / np.sqrt(2 * np.pi) * np.exp(-(distance**2) / 2)
    # Rounding may make the rate of ties negative.
    rates = lapse / 3 + (1 - lapse) * np.stack([*named, np.maximum(1 - named[0] - named[1], 1e-16)], axis=1)
    by_bias = np.stack([up, -down, down - up], axis=1) / rates
    by_criterion = np.stack([-up, -down, up + down], axis=1) / rates
    by_evidence = np.stack([by_bias[0], -by_bias[1]])
    # d rate / d lambda = 1/3 - P without lapse = (1/3 - rate) / (1 - lambda).
    by_lapse = lapse * (1 / (3 * rates) - 1)
    return np.stack([np.log(rates), by_evidence, by_bias, by_criterion, by_lapse]).reshape(5, -1, len(_NODES))


def call_rates(theta: Floats, delta: ArrayLike, log_length: ArrayLike) -> Floats:
    """Returns the expected rates of the six answers, one row per stimulus, averaged over surface preferences."""
    k, c, b, variance, w, logit = theta
    lapse, spread = expit(logit), np.sqrt(1 + variance)
    evidence = k * np.asarray(delta, dtype=float) + w * np.asarray(log_length, dtype=float)
    columns = []
    for signal in (evidence + b, b - evidence):
        first, second = ndtr((signal - c) / spread), ndtr((-signal - c) / spread)
        columns += [lapse / 3 + (1 - lapse) * rate for rate in (first, second, 1 - first - second)]
    return np.column_stack(columns)


def log_prior(theta: Floats) -> tuple[float, Floats, Floats]:
    """Returns the log of the weak priors of lapse and surface, without constants; its gradient; minus its curvature."""
    a, b = LAPSE_PRIOR
    lapse = float(expit(theta[5]))
    gradient = np.zeros(len(PARAMETERS))
    gradient[3] = -1 / (2 * SURFACE_PRIOR**2)
    gradient[5] = (a - 1) * (1 - lapse) - (b - 1) * lapse
    value = (a - 1) * float(np.log(lapse)) + (b - 1) * float(np.log1p(-lapse)) + gradient[3] * theta[3]
    curved = np.zeros(len(PARAMETERS))
    curved[5] = (a + b - 2) * lapse * (1 - lapse)
    return float(value), gradient, curved


# The search for the most likely parameters inside their bounds.

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

MOST_IDLE = 3
"""Newton steps in a row that may gain nothing: along a flat ridge they go on for ever."""


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
        # More damping makes the next step no longer.
        if (moved == theta).all():
            break
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
    """Makes Newton steps with one curvature until they vanish; None if they lead down, gain nothing or do not end."""
    reached, idle = -np.inf, 0
    for _ in range(PATIENCE):
        value, gradient = space.objective(theta, weights)
        idle = 0 if value > reached else idle + 1
        if value < reached - 1e-3 or idle > MOST_IDLE:
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
