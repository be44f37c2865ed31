"""The tie-aware signal-detection model, fitted once per variant, and d' at each step without a model."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, hypot, pi, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from umpirical.domain.measures import Censoring, Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, PairTally, Tallies
from umpirical.measures.catalogue import BY_PART, WHOLE_VARIANT, MeasureFamily, Part
from umpirical.measures.estimates.pairs import (
    NO_PAIR,
    NO_VERDICTS,
    UNANSWERED,
    by_step,
    equal_pairs,
    incomplete_pairs,
    ladder_pairs,
)
from umpirical.measures.estimates.rates import DIGITS, ONE_TASK
from umpirical.stats.intervals import MIN_DESIGN_EFFECT, cluster_wilson, jackknife, student
from umpirical.stats.signal_estimates import ParameterEstimate, SignalEstimates, estimate_signal, sensitivity
from umpirical.stats.signal_model import PairCounts
from umpirical.stats.signal_tests import goodness_of_fit as check_fit

FAMILIES = (Family.EQUAL, Family.GRADED, Family.LENGTH, Family.CONFLICT)
"""Families the model is fitted to. Pairs of unlike requirements are not among them: their difference is not a multiple
of one unit."""

UNEQUAL = (Family.LENGTH, Family.CONFLICT)
"""Families whose candidates are of different length on purpose."""

METHODS = {
    "jackknife": "model-based, task jackknife",
    "profile": "model-based, profile likelihood at a bound",
    "curvature": "model-based, curvature of likelihood and prior",
    "undefined": "model-based, profile likelihood of the resolution",
}


class Parameter(NamedTuple):
    """One parameter of the fit, as a measure gives it."""

    estimate: ParameterEstimate
    held: str = "it was not fitted"
    """The reason to give if it was held at a value."""
    known: tuple[float, Censoring] | None = None
    """A value, and on which side it is no more than a limit, if another is known than the limits of the estimate."""


def fitted_parameter(tallies: Tallies, variant: str, part: Callable[[SignalEstimates], Parameter]) -> list[Part]:
    """One parameter of the fit, over the whole variant."""
    missing = incomplete_pairs(tallies, variant, FAMILIES)
    fit = signal_estimates(tallies, variant)
    if isinstance(fit, str):
        return [Part(Undefined(fit, excluded=missing))]
    p = _fit_p(model_outcomes(tallies, variant))
    if p is not None and p < REFUSED:
        return [Part(Undefined(f"the model does not fit its answers (goodness of fit, p = {p:.1g})", excluded=missing))]
    return [Part(_result(part(fit), fit, missing))]


def _result(parameter: Parameter, fit: SignalEstimates, missing: dict[str, int]) -> Result:
    found = parameter.estimate
    if found.method == "held":
        return Undefined(parameter.held, excluded=missing)
    value, censoring = parameter.known or _bounded(found)
    if value is None:
        return Undefined("the fit does not limit it, or depends on a single task", excluded=missing)
    return Estimate(
        value=value,
        numerator=fit.fit.pairs,
        denominator=int(fit.fit.pairs),
        unit="pair",
        interval=None
        if found.low is found.high is None
        else Interval(found.low, found.high, method=METHODS[found.method]),
        clusters=fit.clusters,
        censoring=censoring,
        excluded=missing,
    )


def _bounded(found: ParameterEstimate) -> tuple[float | None, Censoring]:
    """The value, or the limit where the data limit it on one side only: nothing more is known there."""
    if found.low is None and found.high is not None:
        return found.high, "left"
    if found.high is None and found.low is not None:
        return found.low, "right"
    return None if found.low is None else found.value, "none"


def signal_estimates(tallies: Tallies, variant: str) -> SignalEstimates | str:
    """The fit, or why there is none."""
    return _fitted(model_outcomes(tallies, variant))


def model_outcomes(tallies: Tallies, variant: str) -> tuple[OutcomeTally, ...]:
    return tuple(tally for tally in tallies.outcomes if tally.variant == variant and tally.family in FAMILIES)


def pair_counts(outcomes: Sequence[OutcomeTally], tasks: Sequence[str]) -> PairCounts:
    """The outcomes in the form the kernel takes; a task's number is its place in `tasks`.

    Lengths count where the design sets them apart. Elsewhere they differ by a few percent, by chance: that says nothing
    about a taste for length, and as many kinds of pairs as lengths would make the fit ten times as slow.
    """
    return PairCounts.of(
        [tasks.index(tally.cluster) for tally in outcomes],
        [tally.delta for tally in outcomes],
        [tally.counts for tally in outcomes],
        log_length=[tally.log_length if tally.family in UNEQUAL else 0.0 for tally in outcomes],
        weight=[tally.pairs for tally in outcomes],
    )


REFUSED = 0.001
"""With a smaller p-value of the goodness of fit, the parameters describe a judge that this one is not."""


@lru_cache(maxsize=8)
def _fit_p(outcomes: tuple[OutcomeTally, ...]) -> float | None:
    """The p-value of the goodness of fit; None without a fit, or without degrees of freedom."""
    found = _fitted(outcomes)
    if isinstance(found, str):
        return None
    check = check_fit(pair_counts(outcomes, sorted({tally.cluster for tally in outcomes})), found.fit)
    return None if check is None else check.p


@lru_cache(maxsize=8)
def _fitted(outcomes: tuple[OutcomeTally, ...]) -> SignalEstimates | str:
    tasks = sorted({tally.cluster for tally in outcomes})
    if len(tasks) < 2:
        return ONE_TASK if tasks else NO_VERDICTS
    unequal = any(tally.family in UNEQUAL for tally in outcomes)
    try:
        return estimate_signal(pair_counts(outcomes, tasks), fixed={} if unequal else {"length_weight": 0.0})
    except ValueError as error:
        return str(error)


PARAMETER = MeasureFamily(
    fitted_parameter,
    scale="latent",
    contract=(
        "Model-based: undefined if the goodness of fit has a p-value below 0.001. Level: canonical pair, over all "
        "tier 1 families except pairs of unlike requirements."
    ),
)


@PARAMETER.measure(
    "75% detection threshold in the model (Δ75)",
    "The difference, in requirements, at which it prefers the better answer 75% of the time, in the fitted model.",
    worse="higher",
    scale="requirements",
)
def model_threshold(fit: SignalEstimates) -> Parameter:
    """Delta75 in the model: the difference in requirements at which three of four calls name the better answer.

    Formula: root of the fitted correct rate, both orders together, at 75%. It can lie below the smallest difference
    tested, where the isotonic threshold is censored. It is right-censored at the largest difference if the rate is
    lower there. Bounds: 0 to the largest difference, higher is worse. Undefined if all calls were answered alike or
    with one size of difference, or if the estimate depends on a single task. Interval: task jackknife with Student's t,
    on the logarithm; at a bound, one-sided by profile likelihood. It has no upper limit if that would lie beyond the
    largest difference, if the interval of the resolution contains 0, or if that of the lapse contains a rate at which
    the better answer is never named in three of four calls.
    """
    found = fit.threshold
    if found.value is None:
        return Parameter(found, known=(fit.largest, "right"))
    # A value between the steps stands also where nothing limits it from above.
    return Parameter(found) if found.low is None else Parameter(found, known=(found.value, "none"))


@PARAMETER.measure(
    "Resolution",
    "How clearly it sees one missing requirement, however readily it ties: d′ per requirement.",
    worse="lower",
)
def resolution(fit: SignalEstimates) -> Parameter:
    """How far one requirement moves the evidence, in standard deviations of the judge's noise: k of the latent rule.

    Formula: tie-aware signal-detection model, X = s(k·delta + w·log length ratio + eta) + b + eps with eps ~ N(0, 1).
    The judge names position 1 if X > c, position 2 if X < -c, and otherwise a tie. Instructions that move only the
    criterion do not change it. Bounds: none; lower is worse, and 0 is blind. Right-censored if nothing limits it from
    above. Undefined if all calls were answered alike or with one size of difference. Interval: task jackknife with
    Student's t; at a bound, one-sided by profile likelihood.
    """
    return Parameter(fit.resolution)


@PARAMETER.measure(
    "Criterion", "How much evidence it needs before it names a winner instead of a tie.", worse="depends"
)
def criterion(fit: SignalEstimates) -> Parameter:
    """How much evidence it needs to name a winner, in standard deviations of the judge's noise: c of the latent rule.

    Formula: tie-aware signal-detection model; the judge names a winner if |X| > c (see `resolution`). Bounds: 0 and
    above; neither direction is bad in itself. Undefined if all calls were answered alike or with one size of
    difference. Interval: task jackknife with Student's t; at 0, the wider of it and profile likelihood.
    """
    return Parameter(fit.criterion)


@PARAMETER.measure(
    "Position bias in the model",
    "How strongly it is pulled to the first position, whatever the answer; below 0, to the second.",
    worse="depends",
)
def slot_bias(fit: SignalEstimates) -> Parameter:
    """Pull to the first position, in standard deviations of the judge's noise: b of the latent rule.

    Formula: tie-aware signal-detection model; b is added to the evidence whichever answer is in position 1 (see
    `resolution`). Unlike the rates of the positions, it uses all pairs and does not shrink as the tie rate rises.
    Bounds: none; 0 is right, below 0 is a pull to the second position. Undefined if all calls were answered alike or
    with one size of difference. Interval: task jackknife with Student's t.
    """
    return Parameter(fit.slot_bias)


@PARAMETER.measure(
    "Wording sensitivity in the model",
    "How strongly a preference for wording affects it, on the scale of its noise.",
    worse="higher",
)
def surface_sensitivity(fit: SignalEstimates) -> Parameter:
    """Spread of the stable preference for one wording over another, on the scale of the noise: tau of the latent rule.

    Formula: tie-aware signal-detection model; eta ~ N(0, tau²) belongs to the pair and is the same in both orders (see
    `resolution`). Unlike stable pairs, it does not arise by chance alone. Bounds: 0 and above, higher is worse.
    Undefined if all calls were answered alike or with one size of difference. Interval: task jackknife with Student's
    t, on the square; at 0, the wider of it and profile likelihood.
    """
    return Parameter(fit.surface, held="no pair was answered twice")


@PARAMETER.measure(
    "Length weight", "How strongly length alone pulls it; below 0, to the shorter answer.", worse="depends"
)
def length_weight(fit: SignalEstimates) -> Parameter:
    """Pull to the longer answer, per unit of log length ratio: w of the latent rule.

    Formula: tie-aware signal-detection model (see `resolution`); twice the length moves the evidence by w·log 2.
    Divided by the resolution, it is the value of length in requirements. Bounds: none; 0 is right, below 0 is a pull to
    the shorter answer. Undefined if the design has no pairs of unequal length, or if all calls were answered alike or
    with one size of difference. Interval: task jackknife with Student's t.
    """
    return Parameter(fit.length_weight, held="the design has no pairs of unequal length")


@PARAMETER.measure("Lapse", "How often it answers at random, as its errors on easy pairs show.", worse="higher")
def lapse(fit: SignalEstimates) -> Parameter:
    """Share of calls answered at random, as far as wrong verdicts on easy pairs show it.

    Formula: tie-aware signal-detection model; with this probability the verdict is any of the three (see `resolution`).
    A weak prior, worth eight calls without a lapse, keeps it low if there are few easy pairs. Bounds: 0 to 1, higher is
    worse. Undefined if all calls were answered alike or with one size of difference. Interval: task jackknife with
    Student's t on the arcsine of the root, or the curvature of likelihood and prior if that is wider; at 0, the wider
    of jackknife and profile likelihood.
    """
    return Parameter(fit.lapse)


@WHOLE_VARIANT.measure(
    "Goodness of fit, p",
    "How surprising its verdicts would be if the model behind resolution and criterion held.",
    worse="lower",
    scale="p-value",
)
def goodness_of_fit(tallies: Tallies, variant: str) -> Result:
    """P-value of the distance between the verdicts and the fitted model, if the model holds.

    Formula: Pearson's chi-squared over cells (difference by order by verdict), scaled for what the calls of one task
    share. Level: canonical pair, over all tier 1 families except pairs of unlike requirements. Bounds: 0 to 1; small
    values mean that resolution, criterion and the other measures of the model are not reliable. Undefined if the model
    cannot be fitted, or leaves no degrees of freedom. Interval: none, because this is a test and not an estimate.
    """
    missing = incomplete_pairs(tallies, variant, FAMILIES)
    found = signal_estimates(tallies, variant)
    if isinstance(found, str):
        return Undefined(found, excluded=missing)
    p = _fit_p(model_outcomes(tallies, variant))
    if p is None:
        return Undefined("too few answers for a test: no degrees of freedom are left", excluded=missing)
    return Estimate(p, found.fit.pairs, int(found.fit.pairs), "pair", None, found.clusters, excluded=missing)


LEVEL = 0.95
Counts = NDArray[np.float64]

FEW = 5
"""With fewer events, a normal quantile of their rate is mostly the correction that keeps it finite."""


@BY_PART.measure(
    "d′",
    "How clearly it sees a difference of each size, however readily it ties.",
    worse="lower",
    scale="latent",
    symbol="d′",
)
def d_prime(tallies: Tallies, variant: str) -> list[Part]:
    """How far a difference and equal quality are from each other, in standard deviations of the judge's noise.

    Formula: z(H) - z(F / 2), with H the rate at which the better answer is named at this difference, and F the rate at
    which any answer is named at equal quality (both tails), each with half an event added. It uses only the totals of
    the calls, so position bias and wording bias count as noise; `resolution` separates them. This is not the d' of the
    Dark Current paper, which compares correct with wrong calls and is 3.38 at 20 of 20 for any judge. Level: call; the
    denominator counts those at this difference. Bounds: none, lower is worse; 0 is blind. If fewer than five calls at
    this difference are not correct, or fewer than five name a winner at equal quality, the value would reflect the
    number of calls rather than the judge. It is then right-censored at its lower limit, and left-censored at its upper
    limit if fewer than five are correct. No value is withheld, because the rest would be a selection. Undefined if
    neither limit exists: fewer than five correct calls, and fewer than five winners at equal quality. Interval: task
    jackknife with Student's t, with a variance of at least a quarter of that of independent calls, as for rates; a
    limit by the two rates' cluster-Wilson limits, joined. Reference: G. Y. Zou and A. Donner, Statistics in Medicine 27
    (2008), for joined limits.
    """
    equal = equal_pairs(tallies, variant)
    return by_step(ladder_pairs(tallies, variant), lambda step: _d_prime(step, equal))


def _d_prime(step: Sequence[PairTally], equal: Sequence[PairTally]) -> Result:
    incomplete = sum(tally.incomplete for tally in (*step, *equal))
    missing = {UNANSWERED: incomplete} if incomplete else {}
    sums = _sums(step, equal)
    correct, calls, named, equal_calls = sums.sum(axis=0).round(DIGITS)
    if not calls or not equal_calls or len(sums) < 2:
        return Undefined(ONE_TASK if calls and equal_calls else NO_PAIR, excluded=missing)
    above, below = min(calls - correct, named) < FEW, correct < FEW
    if above and below:
        hits = f"of {calls:g} calls {correct:g} are correct"
        reason = f"the data do not limit it: {hits}, and {named:g} of {equal_calls:g} at equal quality name a winner"
        return Undefined(reason, excluded=missing)
    if above or below:
        return _limit(sums, "right" if above else "left", missing)

    def estimate(kept: NDArray[np.bool_]) -> float:
        correct, calls, named, equal_calls = (float(total) for total in sums[kept].sum(axis=0).round(DIGITS))
        # A step that loses its only task has no rate; NaN tells the jackknife that it hangs on a single task.
        if not calls or not equal_calls:
            return float("nan")
        return sensitivity(correct, calls, named=named, equal_calls=equal_calls).d_prime

    found = jackknife(estimate, len(sums))
    if not np.isfinite(found.standard_error):
        return Undefined("it depends on a single task, without which there is no rate", missing)
    value = float(found.value)
    half = student(len(sums), LEVEL) * max(float(found.standard_error), _least_error(*sums.sum(axis=0).tolist()))
    limits = Interval(value - half, value + half, method="task jackknife")
    return Estimate(value, float(correct), int(calls), "call", limits, len(sums), excluded=missing)


def _limit(sums: Counts, censoring: Censoring, missing: dict[str, int]) -> Result:
    """The limit on the one side where there is one."""
    # A mean over many repeats that is 0 may have come out a little below.
    sums = sums.round(DIGITS)
    pairs = ((sums[:, 0], sums[:, 1]), (sums[:, 2], sums[:, 3]))
    if any(np.count_nonzero(calls) < 2 for _, calls in pairs):
        return Undefined("it depends on a single task, without which there is no rate", missing)
    correct, calls, named, equal_calls = (float(total) for total in sums.sum(axis=0).round(DIGITS))
    hits, alarms = (cluster_wilson(*pair, level=LEVEL) for pair in pairs)
    found = sensitivity(correct, calls, named=named, equal_calls=equal_calls)
    # d' rises with the hits and falls with the false alarms; the criterion is -z(F / 2).
    hit = found.d_prime - found.criterion
    ends = (hits.low, alarms.high) if censoring == "right" else (hits.high, alarms.low)
    apart = hypot(float(ndtri(ends[0])) - hit, -float(ndtri(ends[1] / 2)) - found.criterion)
    value = found.d_prime - apart if censoring == "right" else found.d_prime + apart
    low, high = (value, None) if censoring == "right" else (None, value)
    interval = Interval(low, high, method="cluster-Wilson limits of two rates, joined")
    of = int(calls)
    return Estimate(value, float(correct), of, "call", interval, len(sums), censoring=censoring, excluded=missing)


def _least_error(correct: float, calls: float, named: float, equal_calls: float) -> float:
    """The standard error of independent calls, at the lowest design effect that a rate is given."""
    hits, alarms = (correct + 0.5) / (calls + 1), (named + 0.5) / (equal_calls + 1)
    variance = hits * (1 - hits) / calls / _density(hits) ** 2
    variance += alarms * (1 - alarms) / equal_calls / (2 * _density(alarms / 2)) ** 2
    return sqrt(MIN_DESIGN_EFFECT * variance)


def _density(share: float) -> float:
    return exp(-(float(ndtri(share)) ** 2) / 2) / sqrt(2 * pi)


def _sums(step: Sequence[PairTally], equal: Sequence[PairTally]) -> Counts:
    """Per task: correct calls and calls at the step, calls that named a winner and calls at equal quality."""
    sums: dict[str, list[float]] = {}
    for tally in (*step, *equal):
        row = sums.setdefault(tally.cluster, [0, 0, 0, 0])
        place = 2 if tally.family == Family.EQUAL else 0
        row[place] += 2 * tally.pairs - tally.tie_calls - tally.abstained_calls if place else tally.correct_calls
        row[place + 1] += 2 * tally.pairs
    rows = [row for _, row in sorted(sums.items()) if row[1] or row[3]]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)
