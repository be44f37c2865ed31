"""Weights from paired comparisons with ties, by the Bradley-Terry model in Davidson's form.

With weights w and a tie parameter v, i is named over j with probability w_i / (w_i + w_j + v sqrt(w_i w_j)), and
neither with the remaining probability. So w_i / w_j is the odds of being named, whatever the share of ties; a tie is
half a win for each side. Counting ties as half wins in a model without ties would pull all weights together instead.

Reference: R. R. Davidson, On extending the Bradley-Terry model to accommodate ties in paired comparison experiments,
JASA 65 (1970).
"""

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtrit

from umpirical.stats.intervals import jackknife

Floats = NDArray[np.float64]

PRIOR = 1 / 6
"""Answers added to each of the three cells of each pair, half an answer per pair: it keeps the weight of what was
always or never named finite, and for five weights amounts to five answers in total, like Firth's correction."""

ITERATIONS = 50


@dataclass(frozen=True, slots=True)
class Weights:
    """Logarithms of weights whose geometric mean is 1, with intervals over clusters."""

    value: Floats
    low: Floats
    high: Floats
    spread: float
    """Largest minus smallest. As a maximum over pairs it is too large on average; its interval is simultaneous."""
    spread_low: float
    spread_high: float
    equality_p: float | None
    """The p-value of Hotelling's T² for equal weights; None with too few clusters."""


def log_weights(wins: Floats, ties: Floats, *, prior: float = PRIOR) -> Floats:
    """The most likely log weights, summing to 0. `wins[i, j]`: i named over j; `ties[i, j]`, i < j: neither named."""
    return _weights(_most_likely(wins, ties, prior, np.zeros(len(wins))))


def _most_likely(wins: Floats, ties: Floats, prior: float, start: Floats) -> Floats:
    """By Newton's method from `start`: coordinates of the log weights, and the logarithm of the tie parameter."""
    first, second = np.triu_indices(len(wins), 1)
    for_first = wins[first, second] + prior
    for_second = wins[second, first] + prior
    neither = ties[first, second] + ties[second, first] + prior
    contrasts = _contrasts(len(wins))
    design = contrasts[first] - contrasts[second]
    beta = start
    height, gradient, curvature = _likelihood(beta, design, for_first, for_second, neither)
    for _ in range(ITERATIONS):
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        # The likelihood is concave, but a full step may overshoot.
        while (trial := _likelihood(beta + step, design, for_first, for_second, neither))[0] < height - 1e-9:
            step = step / 2
        beta, (height, gradient, curvature) = beta + step, trial
        if np.abs(step).max() < 1e-7:
            break
    return beta


def _weights(beta: Floats) -> Floats:
    weights: Floats = _contrasts(len(beta)) @ beta[:-1]
    return weights


def estimate_weights(wins: Floats, ties: Floats, *, level: float = 0.95) -> Weights:
    """Log weights with task-jackknife intervals. The first axis of `wins` and `ties` is the cluster.

    The interval of the spread is valid whichever pair is extreme: it takes simultaneous limits of all differences of
    two weights (Bonferroni), and of these the greatest lower and the greatest upper one.
    """
    clusters, size = len(wins), wins.shape[1]
    pairs = list(combinations(range(size), 2))
    first, second = (np.array(side) for side in zip(*pairs, strict=True))

    whole = _most_likely(wins.sum(axis=0), ties.sum(axis=0), PRIOR, np.zeros(size))

    def estimate(kept: NDArray[np.bool_]) -> Floats:
        theta = _weights(_most_likely(wins[kept].sum(axis=0), ties[kept].sum(axis=0), PRIOR, whole))
        return np.concatenate([theta, theta[first] - theta[second]])

    found = jackknife(estimate, clusters, level=level)
    theta, gaps = found.value[:size], found.value[size:]
    reach = float(stdtrit(clusters - 1, 1 - (1 - level) / (2 * len(pairs)))) * found.standard_error[size:]
    return Weights(
        theta,
        found.low[:size],
        found.high[:size],
        spread=float(np.ptp(theta)),
        spread_low=max(0.0, float((np.abs(gaps) - reach).max())),
        spread_high=float((np.abs(gaps) + reach).max()),
        equality_p=_equality(theta, found.standard_error[:size], found.standard_error[size:], clusters),
    )


def _likelihood(
    beta: Floats, design: Floats, first: Floats, second: Floats, tie: Floats
) -> tuple[float, Floats, Floats]:
    """Log-likelihood, gradient and (negative) curvature; the last of `beta` is the logarithm of the tie parameter."""
    x, tied = design @ beta[:-1], np.full(len(design), beta[-1])
    terms = np.column_stack([x / 2, -x / 2, tied])
    total = np.logaddexp.reduce(terms, axis=1)
    p, q, t = np.exp(terms - total[:, None]).T
    n = first + second + tie
    height = float(first @ terms[:, 0] + second @ terms[:, 1] + tie @ terms[:, 2] - n @ total)
    slope = (first - second - n * (p - q)) / 2
    gradient = np.append(design.T @ slope, (tie - n * t).sum())
    own = n * (p + q - (p - q) ** 2) / 4
    mixed = -n * t * (p - q) / 2
    curvature = np.block(
        [
            [(design.T * own) @ design, (design.T @ mixed)[:, None]],
            [(design.T @ mixed)[None, :], np.array([[(n * t * (1 - t)).sum()]])],
        ]
    )
    return height, gradient, curvature


@cache
def _contrasts(size: int) -> Floats:
    """Returns orthonormal columns that span all vectors of sum 0."""
    columns: Floats = np.linalg.svd(np.eye(size) - 1 / size)[0][:, : size - 1]
    return columns


def _equality(theta: Floats, errors: Floats, gap_errors: Floats, clusters: int) -> float | None:
    """The p-value of Hotelling's T² with the jackknife covariance, which follows from the errors of differences."""
    size = len(theta)
    free = size - 1
    covariance = np.diag(errors**2)
    for (i, j), gap in zip(combinations(range(size), 2), gap_errors, strict=True):
        covariance[i, j] = covariance[j, i] = (errors[i] ** 2 + errors[j] ** 2 - gap**2) / 2
    contrasts = _contrasts(size)
    inner = contrasts.T @ covariance @ contrasts
    if clusters <= free + 1 or np.linalg.matrix_rank(inner) < free:
        return None
    along = contrasts.T @ theta
    squared = float(along @ np.linalg.solve(inner, along))
    return float(fdtrc(free, clusters - free, squared * (clusters - free) / (free * (clusters - 1))))
