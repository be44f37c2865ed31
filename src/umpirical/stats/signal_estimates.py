"""Fits the tie-aware signal-detection model of a comparing judge to its answers to pairs.

A judge sees X = s(k·delta + w·log length ratio + eta) + b + eps (see `umpirical.stats.simulation.judge`) and names a
winner if |X| > c. The point is to separate resolution k from criterion c: a judge told to be strict ties more and is
right less often, without seeing any less.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, expit, logit, ndtri

from umpirical.stats.intervals import Jackknife, jackknife, student
from umpirical.stats.signal_model import (
    LOWEST_LAPSE,
    LOWEST_VARIANCE,
    PARAMETERS,
    Neighbourhood,
    PairCounts,
    Space,
    kind_likelihoods,
    search,
    sort_kinds,
    space_of,
)
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
    """b: pull towards position 1."""
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
        name = ("the first position", "the second position", "tie")[int(np.argmax(answers))]
        raise ValueError(f"every call was answered with {name}, so resolution and criterion are undefined")
    if len(np.unique(abs(pairs.delta))) < 2:
        raise ValueError("only one size of quality difference; resolution needs at least two, one of which may be 0")
    if np.ptp(pairs.log_length) > 0 and abs(np.corrcoef(pairs.delta, pairs.log_length)[0, 1]) > 1 - 1e-9:
        raise ValueError("length rises with quality, so their effects cannot be separated")


def working_value(name: Parameter, value: float) -> float:
    if (name in {"criterion", "surface", "lapse"} and value < 0) or (name == "lapse" and value > 0.5):
        raise ValueError(f"{name} cannot be fixed at {value}: it must not be negative, and a lapse rate is at most 0.5")
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


# Intervals of the parameters: by task jackknife, and at the bounds by the likelihood.

PRIOR_HELD = 2.0
"""If the curvature gives more than this many times the jackknife's error, the prior determines a parameter."""

BLIND = 100.0
"""An interval that extends from a threshold to a hundred times its value says nothing."""

TARGET = 0.75
"""Share of calls that name the better content at the threshold."""

FLATTEST = 1e-8
"""Curvature below which a direction counts as flat."""

_RESOLUTION, _CRITERION, _SLOT_BIAS, _SURFACE, _LENGTH_WEIGHT, _LAPSE = range(len(PARAMETERS))
_THRESHOLD = len(PARAMETERS)


@dataclass(frozen=True, slots=True)
class ParameterEstimate:
    """One parameter with its interval."""

    value: float | None
    """None only for a threshold that is not reached at the largest difference shown."""
    standard_error: float | None
    """Jackknife error, on the scale of the value. None if the interval is not a jackknife interval."""
    bias: float | None
    """The jackknife's estimate of how much too high the value is, as most likely values are in small samples: 3 % for
    the resolution with 40 tasks of 8 pairs. Not subtracted from the value, so that the parameters stay from one fit;
    value - bias has almost none left. Not to be used for surface and lapse, which are limited by bound and prior.
    None if there is no standard error."""
    low: float | None
    """None if nothing limits the value from below."""
    high: float | None
    method: Literal["jackknife", "profile", "curvature", "held", "undefined"]
    """`profile`: the value lies on a bound, and the limit comes from the profile likelihood, in which pairs of one task
    count as independent. `curvature`: the prior determines the value more than the data. `held`: not fitted.
    `undefined`: the value depends on a single task, or a threshold is not reached."""


@dataclass(frozen=True, slots=True)
class SignalEstimates:
    """All parameters with their intervals, and the fit they are about."""

    fit: SignalFit
    clusters: int
    resolution: ParameterEstimate
    criterion: ParameterEstimate
    slot_bias: ParameterEstimate
    surface: ParameterEstimate
    length_weight: ParameterEstimate
    lapse: ParameterEstimate
    threshold: ParameterEstimate
    largest: float
    """The largest difference shown."""


def estimate_signal(
    pairs: PairCounts, *, fixed: Mapping[Parameter, float] | None = None, level: float = 0.95
) -> SignalEstimates:
    """Fits all tasks, then refits without each task: intervals with Student's t on G-1 degrees of freedom.

    The interval is made on the scale on which the estimate is closest to normal and then transformed: the logarithm
    of the threshold, the square of the surface spread, the angle arcsin √lapse, the value itself for the others. Those
    of criterion, surface and lapse are clipped at 0. (On the logit scale a lapse of .01 that one task shows would have
    an upper limit of .5.)

    A weak prior can make an estimate look certain: without any lapse in the data, no task moves the lapse. Where the
    curvature of likelihood and prior gives an error more than twice the jackknife's, the interval is made from it.

    An estimate on a bound has almost no spread, and a jackknife would call it certain. Its limit on the inner side is
    where the profile likelihood has fallen as far as at the end of a two-sided interval; that of a criterion, surface
    or lapse of 0 is the higher of profile and jackknife. The threshold of an unlimited resolution gets the upper limit
    that belongs to the resolution's lower one; a threshold that is not reached, with or without some task, gets as its
    lower limit the threshold that belongs to the resolution's upper one. Beyond the largest difference shown the model
    only extrapolates, so no threshold and no limit of one lies there: it is then not reached, or has no upper limit. It
    has none either if the judge may be blind, or lapse so often that it never names the better content in .75 of calls.

    If tasks differ, the model is a summary, and the estimates aim at the single judge most like the mixture. Its k
    is a little below the median k of the tasks, because a mixture of curves is flatter than each of them; its threshold
    is a little above the point where the curve averaged over tasks crosses: by 1 to 5 % if log k varies by .25 and c by
    .2. The intervals cover the former at their level, and the latter in 91 to 96 % of runs.

    Raises ValueError as `fit_signal` does, and with fewer than two tasks.
    """
    space, weights = prepare(pairs, fixed or {})
    theta, top = most_likely(space, weights)
    near = Neighbourhood.of(space, weights, theta)
    _, task = np.unique(pairs.task, return_inverse=True)
    clusters, largest = int(task.max()) + 1, float(abs(pairs.delta).max())

    def estimate(kept: NDArray[np.bool_]) -> Floats:
        if kept.all():
            return _scales(theta, largest)
        return _scales(near.refit(space.kinds.weights(pairs.weight * kept[task])), largest)

    spread = jackknife(estimate, clusters, level=level)
    halves = [
        student(clusters, level) * float(error) for error in _curvature_errors(space, theta, near.curved, largest)
    ]
    limit = _Limits(space, weights, theta, top, float(chdtri(1, 1 - level)), halves, {})
    resolution = _parameter(spread, limit, _RESOLUTION)
    # Without any lapse the likelihood falls as the chance of none in n calls does: where that is half of 1 - level, as
    # the exact limit of 0 events has it, and not where chi-squared would put it, which covers .80 at a lapse of .01.
    rare = replace(limit, drop=-2 * float(np.log((1 - level) / 2)))
    lapse = _share(_carried(_parameter(spread, rare, _LAPSE, floor=0.0), lambda angle: np.sin(angle) ** 2))
    threshold = _threshold(spread, limit, resolution, largest=largest)
    return SignalEstimates(
        describe(pairs, space, weights, theta),
        clusters,
        resolution=resolution,
        criterion=_parameter(spread, limit, _CRITERION, floor=0.0),
        slot_bias=_parameter(spread, limit, _SLOT_BIAS),
        surface=_carried(_parameter(spread, limit, _SURFACE, floor=0.0), np.sqrt),
        length_weight=_parameter(spread, limit, _LENGTH_WEIGHT),
        lapse=lapse,
        threshold=_within_reach(threshold, resolution, lapse, largest=largest),
        largest=largest,
    )


def _scales(theta: Floats, largest: float) -> Floats:
    """Returns two rows: parameters and threshold on the scales closest to normal, and the same as reported."""
    threshold = detection_threshold(judge_of(theta), largest=largest)
    value = np.inf if threshold is None else threshold
    natural = natural_values(theta)
    working = theta.copy()
    working[_LAPSE] = np.arcsin(np.sqrt(natural[_LAPSE]))
    return np.array([[*working, np.log(value)], [*natural, value]])


def _normal_scale(parameter: int, value: float) -> float:
    """Returns a working parameter on the scale on which its estimate is closest to normal."""
    return float(np.arcsin(np.sqrt(expit(value)))) if parameter == _LAPSE else float(value)


def _curvature_errors(space: Space, theta: Floats, curved: Floats, largest: float) -> Floats:
    """Returns standard errors of working parameters and log threshold from the curvature of likelihood and prior.

    Parameters that can move along a flat likelihood get very large errors; those on a bound get 0.
    """
    inside = np.flatnonzero(space.free & ~space.at_bound(theta))
    values, axes = np.linalg.eigh(curved[np.ix_(inside, inside)])
    covariance = (axes / np.maximum(values, FLATTEST)) @ axes.T
    slopes = np.zeros((len(theta) + 1, len(inside)))
    for column, parameter in enumerate(inside):
        step = np.zeros(len(theta))
        step[parameter] = min(1e-4, theta[parameter] / 2) if parameter == _SURFACE else 1e-4
        above, below = (_scales(theta + side, largest)[0] for side in (step, -step))
        # A threshold that is not reached is infinite and gets its limit elsewhere.
        known = np.isfinite(above) & np.isfinite(below)
        slopes[known, column] = (above[known] - below[known]) / (2 * step[parameter])
    errors: Floats = np.sqrt(np.einsum("ij,jk,ik->i", slopes, covariance, slopes))
    return errors


@dataclass(frozen=True, slots=True)
class _Limits:
    """Limits from the likelihood, for parameters on a bound or determined by their prior."""

    space: Space
    weights: Floats
    theta: Floats
    top: float
    drop: float
    """Twice the fall in log-likelihood at the end of the interval."""
    halves: list[float]
    """Half-widths of intervals made from the curvature."""
    held: dict[tuple[int, float], tuple[Floats, float]]
    """The best fits with a parameter held at a value, and their heights: several limits ask for the same."""

    def bounded(self, parameter: int) -> bool:
        """Whether the estimate says no more than a bound; so does a resolution whose criterion has no upper limit."""
        bounds = self.space.at_bound(self.theta)
        ridge = parameter == _RESOLUTION and bounds[_CRITERION] and self.rising(_CRITERION)
        return bool(bounds[parameter] or ridge)

    def rising(self, parameter: int) -> bool:
        """Whether the upper bound is the near one."""
        value, low, high = (side[parameter] for side in (self.theta, self.space.low, self.space.high))
        return bool(high - value < value - low)

    def within(self, parameter: int, ends: tuple[float, float]) -> tuple[float | None, float | None]:
        """Returns the limits that lie inside the bounds; None for one that does not."""
        low, high = ends
        least, most = (_normal_scale(parameter, side[parameter]) for side in (self.space.low, self.space.high))
        inside = low >= least or low == 0, high <= most
        return low if inside[0] else None, high if inside[1] else None

    def profiled(self, parameter: int, value: float) -> tuple[Floats, float]:
        """Returns the best fit with the parameter at `value`, and how far away the end of the interval is."""
        if (parameter, value) not in self.held:
            space = self.space.hold(parameter, value)
            self.held[parameter, value] = search(space, self.weights, [self.theta])
        found, height = self.held[parameter, value]
        return found, 2 * (self.top - height) - self.drop

    def inner(self, parameter: int) -> tuple[Floats, float] | None:
        """Returns the fit and the value at the limit away from the bound; None if there is none inside the bounds."""
        from scipy.optimize import brentq  # half a second of import

        start = self.theta[parameter]
        far = (self.space.low if self.rising(parameter) else self.space.high)[parameter]
        if self.profiled(parameter, far)[1] < 0:
            return None
        value = float(brentq(lambda x: self.profiled(parameter, x)[1], start, far, xtol=1e-4, rtol=1e-4))
        return self.profiled(parameter, value)[0], value


def _parameter(spread: Jackknife, limit: _Limits, parameter: int, *, floor: float | None = None) -> ParameterEstimate:
    """Returns the interval on the working scale; `floor` is the lowest meaningful value of the parameter."""
    value = float(spread.value[1, parameter])
    if not limit.space.free[parameter]:
        return ParameterEstimate(value, None, None, None, None, "held")
    error, high = float(spread.standard_error[1, parameter]), float(spread.high[0, parameter])
    if limit.bounded(parameter):
        inner = limit.inner(parameter)
        edge = None if inner is None else _normal_scale(parameter, inner[1])
        if limit.rising(parameter):
            return ParameterEstimate(value, None, None, edge, None, "profile")
        return ParameterEstimate(value, None, None, floor, None if edge is None else max(edge, high), "profile")
    if not np.isfinite(error):
        return ParameterEstimate(value, None, None, floor, None, "undefined")
    low, working, half = float(spread.low[0, parameter]), float(spread.value[0, parameter]), limit.halves[parameter]
    lowest = -np.inf if floor is None else floor
    if half > PRIOR_HELD * (high - working):
        ends = (max(lowest, working - half), working + half)
        return ParameterEstimate(value, None, None, *limit.within(parameter, ends), "curvature")
    return ParameterEstimate(value, error, float(spread.bias[1, parameter]), max(lowest, low), high, "jackknife")


def _carried(found: ParameterEstimate, scale: Callable[[float], float]) -> ParameterEstimate:
    """Transforms limits from the working scale to the reported one."""
    low, high = (None if edge is None else float(scale(edge)) for edge in (found.low, found.high))
    return replace(found, low=low, high=high)


def _threshold(
    spread: Jackknife, limit: _Limits, resolution: ParameterEstimate, *, largest: float
) -> ParameterEstimate:
    reached, error = float(spread.value[1, _THRESHOLD]), float(spread.standard_error[1, _THRESHOLD])
    value = reached if np.isfinite(reached) else None
    if limit.bounded(_RESOLUTION) and limit.rising(_RESOLUTION):
        inner = limit.inner(_RESOLUTION)
        high = None if inner is None else detection_threshold(judge_of(inner[0]), largest=largest)
        return ParameterEstimate(value, None, None, None, high, "profile")
    if not np.isfinite(error):
        low = None
        if resolution.high is not None:
            low = detection_threshold(replace(judge_of(limit.theta), resolution=resolution.high), largest=largest)
        return ParameterEstimate(value, None, None, low, None, "undefined")
    centre, half = float(spread.value[0, _THRESHOLD]), limit.halves[_THRESHOLD]
    if half > PRIOR_HELD * (float(spread.high[0, _THRESHOLD]) - centre):
        low, high = (None if half > np.log(BLIND) else float(np.exp(centre + side)) for side in (-half, half))
        return ParameterEstimate(value, None, None, low, high, "curvature")
    low, high = (float(np.exp(edge[0, _THRESHOLD])) for edge in (spread.low, spread.high))
    return ParameterEstimate(value, error, float(spread.bias[1, _THRESHOLD]), low, high, "jackknife")


def _within_reach(
    found: ParameterEstimate, resolution: ParameterEstimate, lapse: ParameterEstimate, *, largest: float
) -> ParameterEstimate:
    """Cuts a threshold at the largest difference shown, and opens it where it may never be reached."""
    blind = resolution.method != "held" and (resolution.low is None or resolution.low <= 0)
    # A call that lapses names the better content once in three times.
    lapsing = lapse.method != "held" and lapse.high is not None and 1 - 2 * lapse.high / 3 < TARGET
    value = None if found.value is None or found.value > largest else found.value
    low = None if found.low is None else min(found.low, largest)
    unlimited = value is None or blind or lapsing or found.high is None or found.high > largest
    return replace(found, value=value, low=low, high=None if unlimited else found.high)


def _share(found: ParameterEstimate) -> ParameterEstimate:
    """A share that the data does not limit on one side is limited by 0 or 1."""
    if found.method == "held":
        return found
    return replace(found, low=0.0 if found.low is None else found.low, high=1.0 if found.high is None else found.high)


# Without a model: d' from two rates. Slot bias, surface preferences, lapses and clustered calls are not in it.


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """d' from two rates."""

    d_prime: float
    criterion: float
    ceiling: bool
    """Whether a rate was 0 or 1 before correction: d' then reflects the number of calls, not the judge."""


def sensitivity(correct: float, calls: float, *, named: float, equal_calls: float) -> Sensitivity:
    """Returns d' and the criterion of the tie-aware model from one difference and equal quality.

    A hit means that the better one is named; a false alarm is any winner named where there is none, which both tails of
    X cause: c = -z(false alarms / 2) and d' = z(hits) + c. Rates are (count + .5) / (calls + 1), the log-linear
    correction, applied whether or not a count is 0 so that judges stay comparable.

    Reference: M. J. Hautus, Corrections for extreme proportions and their biasing effects on estimated values of d',
    Behavior Research Methods 27 (1995).
    """
    _check_counts(calls, correct)
    _check_counts(equal_calls, named)
    hits = (correct + 0.5) / (calls + 1)
    criterion = -float(ndtri((named + 0.5) / (equal_calls + 1) / 2))
    return Sensitivity(float(ndtri(hits)) + criterion, criterion, correct in {0, calls} or named in {0, equal_calls})


def _check_counts(calls: float, *counts: float) -> None:
    if calls < 1:
        raise ValueError(f"d' needs calls, got {calls}")
    if min(counts) < 0 or sum(counts) > calls:
        raise ValueError(f"counts {counts} are not consistent with {calls} calls")
