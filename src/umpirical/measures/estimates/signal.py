"""The tie-aware signal-detection model, fitted once per arm, and its parameters as results."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from umpirical.domain.measures import Censoring, Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, Tallies
from umpirical.measures.estimates.pairs import NO_VERDICTS, incomplete_pairs
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.signal_estimates import ParameterEstimate, SignalEstimates, estimate_signal
from umpirical.stats.signal_likelihood import PairCounts

FAMILIES = (Family.DELTA0, Family.LADDER, Family.LENGTH, Family.CONFLICT)
"""Families the model is fitted to. Pairs of unlike requirements are not among them: their difference is not a multiple
of one unit."""

UNEQUAL = (Family.LENGTH, Family.CONFLICT)
"""Families whose candidates are of different length on purpose."""

METHODS = {
    "jackknife": "model-based, task jackknife",
    "profile": "model-based, profile likelihood: at a bound",
    "curvature": "model-based, curvature of likelihood and prior",
    "undefined": "model-based, profile likelihood of the resolution",
}


Bounded = tuple[float | None, Censoring]
"""A value, and on which side it is no more than a limit; None if there is neither."""


def bounded(found: ParameterEstimate, _: SignalEstimates) -> Bounded:
    """The value, or the limit where the data limit it on one side only: nothing more is known there."""
    if found.low is None and found.high is not None:
        return found.high, "left"
    if found.high is None and found.low is not None:
        return found.low, "right"
    return None if found.low is None else found.value, "none"


def parameter_measure(
    name: str,
    tallies: Tallies,
    arm: str,
    *,
    part: Callable[[SignalEstimates], ParameterEstimate],
    held: str = "it was not fitted",
    known: Callable[[ParameterEstimate, SignalEstimates], Bounded] = bounded,
) -> list[Measure]:
    """One parameter of the fit; `held` is the reason to give if it was not fitted, `known` says what is known of it."""
    missing = incomplete_pairs(tallies, arm, FAMILIES)
    found = signal_estimates(tallies, arm)
    if isinstance(found, str):
        return [Measure(name, Undefined(found, left_out=missing), arm)]
    return [Measure(name, _result(part(found), found, held, missing, known), arm)]


def signal_estimates(tallies: Tallies, arm: str) -> SignalEstimates | str:
    """The fit, or why there is none."""
    return _fitted(model_outcomes(tallies, arm))


def model_outcomes(tallies: Tallies, arm: str) -> tuple[OutcomeTally, ...]:
    """The outcomes that the model is fitted to."""
    return tuple(tally for tally in tallies.outcomes if tally.arm == arm and tally.family in FAMILIES)


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


def _result(
    found: ParameterEstimate,
    fit: SignalEstimates,
    held: str,
    missing: dict[str, int],
    known: Callable[[ParameterEstimate, SignalEstimates], Bounded],
) -> Result:
    if found.method == "held":
        return Undefined(held, left_out=missing)
    value, censoring = known(found, fit)
    if value is None:
        return Undefined("the fit sets no limit to it, or hangs on a single task", left_out=missing)
    return Estimate(
        value=value,
        numerator=fit.fit.pairs,
        denominator=int(fit.fit.pairs),
        unit="pair",
        interval=None if found.low is found.high is None else Interval(found.low, found.high, METHODS[found.method]),
        clusters=fit.clusters,
        censoring=censoring,
        left_out=missing,
    )
