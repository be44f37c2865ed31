"""Fits the tie-aware signal-detection model of a comparing judge to its answers to pairs.

A judge sees X = s(k·delta + w·log length ratio + eta) + b + eps (see `umpirical.stats.simulation.judge`) and names a
winner if |X| > c. The point is to separate resolution k from criterion c: a judge told to be strict ties more and is
right less often, without seeing any less.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from umpirical.stats.signal_likelihood import PARAMETERS, PairCounts, kind_likelihoods, sort_kinds
from umpirical.stats.signal_search import LOWEST_LAPSE, LOWEST_VARIANCE, Space, search, space_of
from umpirical.stats.simulation.judge import LatentJudge, correct_rate

Floats = NDArray[np.float64]
Parameter = Literal["resolution", "criterion", "slot_bias", "surface", "length_weight", "lapse"]

REACH = 10.0
"""A detection threshold is sought up to this many times the largest difference shown; beyond that, there is none."""

FLAT = 0.01
"""If the log-likelihood falls by less than this with resolution at its bound, the data sets no limit to it."""


@dataclass(frozen=True, slots=True)
class SignalFit:
    """The most likely parameters of one judge under one prompt."""

    resolution: float
    """k: d' per requirement of quality difference. Negative if the judge prefers the worse."""
    criterion: float
    """c >= 0: how much evidence it takes to name a winner."""
    slot_bias: float
    """b: pull towards slot 1."""
    surface: float
    """tau >= 0: spread of the stable preference for one wording over another."""
    length_weight: float
    """w: pull towards the longer candidate, per unit of log length ratio."""
    lapse: float
    """lambda: share of calls answered at random, with a weak prior."""
    threshold: float | None
    """The difference at which three calls in four name the better one; None if there is none, see `REACH`."""
    log_likelihood: float
    """Log-likelihood of the answers, without the lapse's prior."""
    held: frozenset[Parameter]
    """Parameters that were not fitted: held on request, or not identifiable from this data."""
    at_bound: frozenset[Parameter]
    """Fitted parameters that lie on a bound. `resolution`: nothing limits it from above (or below, if negative);
    criterion or surface: the estimate is 0."""
    pairs: float
    theta: Floats
    """The working vector at which the search ended."""

    @property
    def judge(self) -> LatentJudge:
        """The same parameters as a judge, for computing rates; its vacuum criterion has no meaning."""
        return judge_of(self.theta)


def fit_signal(pairs: PairCounts, *, fixed: Mapping[Parameter, float] | None = None) -> SignalFit:
    """Returns the most likely parameters, with a weak Beta prior on the lapse.

    Bounds: criterion and surface are not below 0. The sign of the resolution is free, so that a judge that
    prefers the worse is recognized. Held automatically: length weight at 0 if length never varies; surface at 0 if no
    pair was judged twice, since noise and taste then look the same. If no call was a tie, the criterion is 0,
    `at_bound`. If ties are not allowed at all, the lapse should be spread over two answers, not over three as here; its
    estimate is then too small by up to a third.

    A resolution that the data does not limit (every pair at every difference right) is returned at its bound, 15
    divided by the smallest difference shown, and flagged `at_bound`.

    Raises ValueError if there are no pairs, fewer than two sizes of difference, the same answer in all calls, or
    lengths that are perfectly correlated with the differences.
    """
    space, weights = prepare(pairs, fixed or {})
    theta, _ = most_likely(space, weights)
    return describe(pairs, space, weights, theta)


def prepare(pairs: PairCounts, fixed: Mapping[Parameter, float]) -> tuple[Space, Floats]:
    """Returns the space to search, and how many pairs of each kind there are."""
    pairs.check()
    _refuse_the_undefined(pairs)
    held = {PARAMETERS.index(name): working_value(name, value) for name, value in fixed.items()}
    if np.ptp(pairs.log_length) == 0:
        held.setdefault(PARAMETERS.index("length_weight"), 0.0)
    if pairs.counts[pairs.weight > 0].sum(axis=1).max() < 2:
        held.setdefault(PARAMETERS.index("surface"), LOWEST_VARIANCE)
    kinds = sort_kinds(pairs)
    return space_of(pairs, kinds, held), kinds.weights(pairs.weight)


def _refuse_the_undefined(pairs: PairCounts) -> None:
    answers = (pairs.weight @ pairs.counts).reshape(2, 3).sum(axis=0)
    if answers.sum() == 0:
        raise ValueError("no answers: every count or weight is 0")
    if np.count_nonzero(answers) == 1:
        name = ("slot 1", "slot 2", "tie")[int(np.argmax(answers))]
        raise ValueError(f"every call was answered with {name}: resolution and criterion are undefined")
    if len(np.unique(abs(pairs.delta))) < 2:
        raise ValueError("only one size of quality difference: resolution needs at least two, one of which may be 0")
    if np.ptp(pairs.log_length) > 0 and abs(np.corrcoef(pairs.delta, pairs.log_length)[0, 1]) > 1 - 1e-9:
        raise ValueError("length rises in step with quality: their effects cannot be told apart")


def working_value(name: Parameter, value: float) -> float:
    """Returns a parameter in the form that the search uses."""
    if (name in {"criterion", "surface", "lapse"} and value < 0) or (name == "lapse" and value > 0.5):
        raise ValueError(f"{name} cannot be held at {value}: it is not negative, and a lapse is at most .5")
    if name == "surface":
        return max(value**2, LOWEST_VARIANCE)
    return float(np.clip(logit(value), -12.0, 0.0)) if name == "lapse" else value


def most_likely(space: Space, weights: Floats) -> tuple[Floats, float]:
    """Returns the working vector with the highest objective, and that; an unlimited resolution is put on its bound."""
    candidates = _starting_points(space, weights)
    candidates.sort(key=lambda theta: space.objective(theta, weights)[0], reverse=True)
    theta, value = search(space, weights, candidates[:2])
    if space.free[0] and abs(theta[0]) > space.high[0] / 4:
        steepest = space.hold(0, float(np.copysign(space.high[0], theta[0])))
        bound, bound_value = search(steepest, weights, [theta])
        if bound_value > value - FLAT:
            theta, value = bound, bound_value
    return _without_lapses(space, weights, theta, value)


def _without_lapses(space: Space, weights: Floats, theta: Floats, value: float) -> tuple[Floats, float]:
    """Returns the fit without lapses if it is as good: a small lapse moves freely along a flat likelihood."""
    lapse = PARAMETERS.index("lapse")
    if not space.free[lapse] or expit(theta[lapse]) > 10 * LOWEST_LAPSE:
        return theta, value
    free = space.free & (np.arange(len(theta)) != lapse) & ~space.at_bound(theta)
    held = np.where(free, 0.0, theta)
    held[lapse] = space.low[lapse]
    bound, bound_value = search(Space(space.kinds, free, held, space.low, space.high), weights, [theta])
    return (bound, bound_value) if bound_value > value - FLAT else (theta, value)


def _starting_points(space: Space, weights: Floats) -> list[Floats]:
    """Returns rough guesses: three resolutions with the sign of the answers, two criteria, two surfaces."""
    kinds = space.kinds
    answers = weights @ kinds.counts
    bias = float(ndtri(np.clip((answers[0] + answers[3]) / max(1.0, answers[[0, 1, 3, 4]].sum()), 0.05, 0.95)))
    for_u = kinds.counts @ np.array([1.0, -1.0, 0.0, -1.0, 1.0, 0.0])
    delta = kinds.delta[kinds.stimulus]
    sign = 1.0 if weights @ (for_u * delta) >= 0 else -1.0
    unit = float(np.median(abs(delta[delta != 0])))
    return [
        np.where(space.free, np.array([sign * k / unit, c, bias, variance, 0.0, -4.0]), space.held)
        for k in (0.4, 1.5, 5.0)
        for c in (0.3, 1.3)
        for variance in (0.05, 1.0)
    ]


def describe(pairs: PairCounts, space: Space, weights: Floats, theta: Floats) -> SignalFit:
    values, _ = kind_likelihoods(theta, space.kinds)
    bounded = space.at_bound(theta)
    k, c, b, tau, w, lapse = (float(value) for value in natural_values(theta))
    return SignalFit(
        resolution=k,
        criterion=c,
        slot_bias=b,
        surface=tau,
        length_weight=w,
        lapse=lapse,
        threshold=detection_threshold(judge_of(theta), largest=float(abs(pairs.delta).max())),
        log_likelihood=float(weights @ values),
        held=_names(~space.free),
        at_bound=_names(bounded),
        pairs=float(pairs.weight.sum()),
        theta=theta,
    )


def _names(chosen: NDArray[np.bool_]) -> frozenset[Parameter]:
    names: tuple[Parameter, ...] = ("resolution", "criterion", "slot_bias", "surface", "length_weight", "lapse")
    return frozenset(name for name, yes in zip(names, chosen, strict=True) if yes)


def natural_values(theta: Floats) -> Floats:
    """Returns the parameters as they are reported, in the order of `PARAMETERS`."""
    k, c, b, variance, w, lapse = theta
    tau = 0.0 if variance <= LOWEST_VARIANCE else np.sqrt(variance)
    lapse = expit(lapse)
    return np.array([k, c, b, tau, w, 0.0 if lapse <= LOWEST_LAPSE * (1 + 1e-6) else lapse])


def judge_of(theta: Floats) -> LatentJudge:
    k, c, b, tau, w, lapse = (float(value) for value in natural_values(theta))
    return LatentJudge(k, c, b, tau, lapse, length_weight=w)


def detection_threshold(judge: LatentJudge, *, largest: float, target: float = 0.75) -> float | None:
    """Returns the difference at which the better of two equally long contents is named in `target` of the calls.

    None if the rate stays below `target` up to ten times `largest`, the largest difference shown. A value above
    `largest` is an extrapolation of the model.
    """
    from scipy.optimize import brentq  # half a second of import

    def excess(delta: float) -> float:
        return float(correct_rate(judge, delta)) - target

    if excess(REACH * largest) < 0:
        return None
    return float(brentq(excess, 0.0, REACH * largest, xtol=1e-10))
