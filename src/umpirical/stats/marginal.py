"""Signal detection from published counts: correct, tie and wrong at each difference, without pairs and tasks.

This is for reading papers. Slot bias, surface preferences, lapses and the clustering of calls are not in the model, so
its intervals are too narrow where they matter; if the calls are available, use `umpirical.stats.signal_estimates`.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, log_ndtr, ndtr, ndtri

from umpirical.stats.intervals import Bounds

Floats = NDArray[np.float64]

FARTHEST = 9.0
"""Bound on the criterion, and on a mean above it: no realistic count distinguishes values beyond this."""


class LikelihoodRatio(NamedTuple):
    """Twice the loss of log-likelihood by sharing, compared with chi-squared."""

    statistic: float
    df: int
    p: float

    @classmethod
    def of(cls, free: float, shared: float, df: int) -> "LikelihoodRatio":
        """Makes the test from the log-likelihoods of the two models; rounding must not make the statistic negative."""
        statistic = max(0.0, 2 * (free - shared))
        return cls(statistic, df, float(chdtrc(df, statistic)))


@dataclass(frozen=True, slots=True)
class MarginalCounts:
    """The calls of one condition."""

    named: int
    """Calls at equal quality that named a winner."""
    tied: int
    """Calls at equal quality that did not name one."""
    unequal: tuple[tuple[int, int, int], ...]
    """Correct, tie and wrong at each difference, in the same order in all conditions."""


@dataclass(frozen=True, slots=True)
class MarginalComparison:
    """Two or more conditions fitted with something in common."""

    test: LikelihoodRatio
    means: Floats
    """Estimated means (conditions x differences) of the model with sharing; NaN where all calls of all conditions are
    correct, since then there is only a lower limit."""
    criteria: Floats
    """Estimated criterion of each condition."""


def compare_marginal(
    conditions: list[MarginalCounts], *, share: Literal["resolution", "criterion"]
) -> MarginalComparison:
    """Tests whether conditions differ in more than their criterion (or in more than their resolution).

    X ~ N(mu, 1) at each difference, mu = 0 at equal quality; the better is named if X > c, the worse if X < -c.
    `share="resolution"` gives all conditions the same means and each its own criterion, and tests that against
    the model in which all are free; `share="criterion"` does the reverse. A difference at which every call of every
    condition is correct is left out: any large mean fits it, sharing it costs nothing, and it would be a degree of
    freedom that cannot be used.

    A criterion without a limit (no winner ever named at equal quality) stops on its way to a bound of 9, where the
    likelihood is flat.

    >>> base = MarginalCounts(31, 89, ((94, 6, 0), (20, 0, 0)))
    >>> strict = MarginalCounts(0, 120, ((50, 50, 0), (20, 0, 0)))
    >>> test = compare_marginal([base, strict], share="resolution").test
    >>> round(test.statistic, 2), test.df, round(test.p, 2)
    (1.43, 1, 0.23)
    """
    equal, unequal, useful = _arrays(conditions)
    _, _, free = _fit(equal, unequal)
    means, criteria, height = _fit(equal, unequal, share=share)
    others = len(conditions) - 1
    df = others * unequal.shape[1] if share == "resolution" else others
    shown = np.full((len(conditions), len(useful)), np.nan)
    shown[:, useful] = means
    return MarginalComparison(LikelihoodRatio.of(free, height, df), shown, criteria)


def shared_resolution_interval(conditions: list[MarginalCounts], *, difference: int = 0, level: float = 0.95) -> Bounds:
    """Returns the profile-likelihood interval of the shared mean at one difference, with the criteria free.

    A side on which the likelihood never falls far enough is infinite.
    """
    from scipy.optimize import brentq  # its import takes half a second

    equal, unequal, useful = _arrays(conditions)
    if not useful[difference]:
        raise ValueError("every call at this difference is correct, so the mean has no upper limit and no estimate")
    column = int(useful[:difference].sum())
    means, _, top = _fit(equal, unequal, share="resolution")
    drop = float(chdtri(1, 1 - level)) / 2

    def excess(value: float) -> float:
        return _fit(equal, unequal, share="resolution", held=(column, value))[2] - top + drop

    sides = []
    for end in (-FARTHEST, 2 * FARTHEST):
        limitless = excess(end) > 0
        sides.append(float(np.copysign(np.inf, end)) if limitless else float(brentq(excess, means[0, column], end)))
    return Bounds(*sides)


def _arrays(conditions: list[MarginalCounts]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Counts at equal quality, counts at useful differences, and which differences are useful."""
    if len({len(condition.unequal) for condition in conditions}) != 1:
        raise ValueError("conditions must list the same differences")
    equal = np.array([[condition.named, condition.tied] for condition in conditions], dtype=float)
    unequal = np.array([condition.unequal for condition in conditions], dtype=float).reshape(len(conditions), -1, 3)
    useful = (unequal[:, :, 1:].sum(axis=(0, 2)) > 0) & (unequal.sum(axis=(0, 2)) > 0)
    if len(conditions) < 2 or not useful.any():
        raise ValueError("a comparison needs two conditions and a difference at which not every call is correct")
    return equal, unequal[:, useful], useful


def _fit(
    equal: Floats,
    unequal: Floats,
    *,
    share: Literal["resolution", "criterion"] | None = None,
    held: tuple[int, float] | None = None,
) -> tuple[Floats, Floats, float]:
    """Means (conditions x differences), criteria, and the log-likelihood; `held` fixes one shared mean.

    The log-likelihood is concave (J. W. Pratt, Concavity of the log likelihood, JASA 76, 1981): one start is enough.
    """
    from scipy.optimize import minimize  # its import takes half a second

    size, steps = unequal.shape[:2]
    mean_of = (
        np.tile(np.arange(steps), (size, 1)) if share == "resolution" else np.arange(size * steps).reshape(size, -1)
    )
    means = int(mean_of.max()) + 1
    criterion_of = means + (np.zeros(size, dtype=int) if share == "criterion" else np.arange(size))
    bounds = [(-2 * FARTHEST, 2 * FARTHEST)] * means + [(0.0, FARTHEST)] * (int(criterion_of.max()) + 1 - means)
    if held is not None:
        bounds[held[0]] = (held[1], held[1])

    def cost(x: Floats) -> tuple[float, Floats]:
        value, by_mean, by_criterion = _log_likelihood(equal, unequal, x[mean_of], x[criterion_of])
        gradient = np.zeros(len(x))
        np.add.at(gradient, mean_of, by_mean)
        np.add.at(gradient, criterion_of, by_criterion)
        return -value, -gradient

    start = np.clip(np.ones(len(bounds)), *np.array(bounds).T)
    end = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
    return end.x[mean_of], end.x[criterion_of], -float(end.fun)


def _log_likelihood(equal: Floats, unequal: Floats, means: Floats, criteria: Floats) -> tuple[float, Floats, Floats]:
    """Log-likelihood and its slopes in the mean at each condition and difference, and in each condition's criterion."""
    # Equal quality is a difference with mean 0, at which "correct" and "wrong" share the named winners by symmetry.
    halves = np.column_stack([equal[:, 0] / 2, equal[:, 1], equal[:, 0] / 2])
    counts = np.concatenate([halves[:, None, :], unequal], axis=1)
    mu, c = np.column_stack([np.zeros(len(means)), means]), criteria[:, None]
    tie = np.maximum(ndtr(c - mu) - ndtr(-c - mu), 1e-300)
    correct, wrong = log_ndtr(mu - c), log_ndtr(-mu - c)
    value = (counts[..., 0] * correct + counts[..., 1] * np.log(tie) + counts[..., 2] * wrong).sum()
    value += equal[:, 0].sum() * np.log(2)
    right, left = _log_density(mu - c), _log_density(mu + c)
    pulls = [
        counts[..., 0] * np.exp(right - correct),
        counts[..., 1] * np.exp(right) / tie,
        counts[..., 1] * np.exp(left) / tie,
        counts[..., 2] * np.exp(left - wrong),
    ]
    by_mean = pulls[0] - pulls[1] + pulls[2] - pulls[3]
    by_criterion = -pulls[0] + pulls[1] + pulls[2] - pulls[3]
    return float(value), by_mean[:, 1:], by_criterion.sum(axis=1)


def _log_density(z: Floats) -> Floats:
    density: Floats = -z * z / 2 - np.log(sqrt(2 * np.pi))
    return density


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """d' from two rates."""

    d_prime: float
    criterion: float
    ceiling: bool
    """Whether a rate was 0 or 1 before correction: d' then reflects the number of calls, not the judge."""


def add_one_sensitivity(correct: int, wrong: int, calls: int) -> Sensitivity:
    """The d' of the Dark Current paper: z((correct+1)/(n+2)) - z((wrong+1)/(n+2)), both at one difference.

    Its ceiling depends only on the number of calls: 3.38 for 20 of 20, whatever the judge. No interval is given.

    >>> round(add_one_sensitivity(20, 0, 20).d_prime, 6)
    3.381243
    """
    _check(calls, correct, wrong)
    hit, slip = (float(ndtri((count + 1) / (calls + 2))) for count in (correct, wrong))
    return Sensitivity(hit - slip, -(hit + slip) / 2, wrong == 0 or correct == calls)


def sensitivity(correct: float, calls: float, *, named: float, equal_calls: float) -> Sensitivity:
    """Returns d' and the criterion of the tie-aware model from one difference and equal quality.

    A hit means that the better one is named; a false alarm is any winner named where there is none, which both tails of
    X cause: c = -z(false alarms / 2) and d' = z(hits) + c. Rates are (count + .5) / (calls + 1), the log-linear
    correction, applied whether or not a count is 0 so that judges stay comparable.

    Reference: M. J. Hautus, Corrections for extreme proportions and their biasing effects on estimated values of d',
    Behavior Research Methods 27 (1995).
    """
    _check(calls, correct)
    _check(equal_calls, named)
    hits = (correct + 0.5) / (calls + 1)
    criterion = -float(ndtri((named + 0.5) / (equal_calls + 1) / 2))
    return Sensitivity(float(ndtri(hits)) + criterion, criterion, correct in {0, calls} or named in {0, equal_calls})


def _check(calls: float, *counts: float) -> None:
    if calls < 1:
        raise ValueError(f"d' needs calls, got {calls}")
    if min(counts) < 0 or sum(counts) > calls:
        raise ValueError(f"counts {counts} are not consistent with {calls} calls")
