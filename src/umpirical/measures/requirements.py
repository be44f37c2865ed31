"""Weights of requirements, from comparisons of answers that meet different ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import OutcomeTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part
from umpirical.measures.estimates.pairs import NO_VERDICTS, incomplete_pairs, named, of_family
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.bradley_terry import Weights, estimate_weights

FAMILY = Family.SUBSET


@dataclass(frozen=True, slots=True)
class Weighed:
    """Weights of the requirements' places in a task's list, and what they come from."""

    places: tuple[int, ...]
    weights: Weights
    tasks: int
    calls: int
    named: float
    """Calls that named a winner."""
    excluded: dict[str, int]


def weighed(tallies: Tallies, variant: str, parts: Callable[[Weighed], list[Part]]) -> list[Part]:
    """`parts` of the weights in one variant, or why there are none; nothing if the design has no such pairs."""
    if not of_family(tallies, variant, FAMILY):
        return []
    chosen = tuple(t for t in tallies.outcomes if t.variant == variant and t.family == FAMILY)
    missing = incomplete_pairs(tallies, variant, [FAMILY])
    found = _weigh(chosen)
    if isinstance(found, str):
        return [Part(Undefined(found, excluded=missing))]
    return parts(replace(found, excluded=missing))


@lru_cache(maxsize=8)
def _weigh(chosen: tuple[OutcomeTally, ...]) -> Weighed | str:
    """Weights, or why there are none."""
    tasks = sorted({tally.cluster for tally in chosen})
    if len(tasks) < 2:
        return ONE_TASK if tasks else NO_VERDICTS
    places = sorted({place for tally in chosen for place in _places(tally)})
    wins, ties = (np.zeros((len(tasks), len(places), len(places))) for _ in range(2))
    for tally in chosen:
        i, j = (places.index(place) for place in _places(tally))
        task, calls = tasks.index(tally.cluster), named(tally)
        wins[task, i, j] += calls.u
        wins[task, j, i] += calls.v
        ties[task, i, j] += calls.tie
    if wins.sum() == 0:
        return "no call named a winner"
    weights = estimate_weights(wins, ties)
    if (weights.high - weights.low).min() < 1e-6:
        return "all tasks were answered alike, as by a judge that looks only at the position, so there is no spread"
    return Weighed(tuple(places), weights, len(tasks), round((wins + ties).sum()), float(wins.sum()), {})


def _places(tally: OutcomeTally) -> tuple[int, int]:
    """Reads a stratum: in `2-5`, content a meets the second requirement and not the fifth, and b the fifth only."""
    one, other = tally.stratum.split("-")
    return int(one), int(other)


WEIGHTS = MeasureFamily(weighed, scale="ratio")


@WEIGHTS.measure(
    "Requirement weight",
    "How much a requirement counts for it, by its place in the list; 1 is average.",
    worse="depends",
)
def requirement_weight(found: Weighed) -> list[Part]:
    """Weight of each requirement, by its place in the task's list; their geometric mean is 1.

    Formula: Bradley-Terry with ties in Davidson's form, on pairs in which each answer meets a requirement that the
    other does not. The ratio of two weights is the odds of naming one over the other, and a tie is half a win for each.
    Half an answer per pair of places is added so that no weight is infinite; this pulls the weights together a little.
    Both orders are asked, so a lean to a position does not favor a requirement, although a strong lean pulls the
    weights together. Level: call. Bounds: above 0; 1 is average. Not given if the design has no such pairs. Undefined
    if no call named a winner, or all tasks were answered alike. Interval: task jackknife with Student's t, on the
    logarithm.
    """
    weights, parts = found.weights, []
    for index, place in enumerate(found.places):
        low, high = float(weights.low[index]), float(weights.high[index])
        estimate = Estimate(
            value=exp(weights.value[index]),
            numerator=found.named,
            denominator=found.calls,
            unit="call",
            interval=Interval(exp(low), exp(high), method="task jackknife of the logarithm"),
            clusters=found.tasks,
            excluded=found.excluded,
        )
        parts.append(Part(estimate, f"requirement {place}"))
    return parts


@WEIGHTS.measure(
    "Requirement weight ratio",
    "The largest requirement weight divided by the smallest. Rely on the interval, because the value is an extreme.",
    worse="higher",
)
def requirement_weight_ratio(found: Weighed) -> list[Part]:
    """The largest requirement weight divided by the smallest.

    Formula: exp(largest log weight - smallest log weight). Above a factor of 2, one requirement is not the same
    difference everywhere. The value is the largest of many ratios, so it is too large on average, especially with few
    calls. With equal weights and a hundred tasks of one pair each it is about 1.7. The interval does not have this
    bias: it contains the true ratio whichever two places are the extremes. Level: call. Bounds: 1 and above, higher is
    worse. Not given if the design has no such pairs. Undefined if no call named a winner, or all tasks were answered
    alike. Interval: task jackknife of all ratios of two weights at once (Bonferroni), on the logarithm; the largest of
    the lower limits and the largest of the upper ones.
    """
    weights = found.weights
    method = "task jackknife of the logarithm, simultaneous over all pairs of requirements"
    ratio = Estimate(
        value=exp(weights.spread),
        numerator=found.named,
        denominator=found.calls,
        unit="call",
        interval=Interval(exp(weights.spread_low), exp(weights.spread_high), method=method),
        clusters=found.tasks,
        excluded=found.excluded,
    )
    return [Part(ratio)]


@WEIGHTS.measure(
    "Equal requirement weights, p",
    "How surprising weights this unequal would be if all requirements counted alike.",
    worse="depends",
    scale="p-value",
)
def requirement_weight_test(found: Weighed) -> list[Part]:
    """P-value of the inequality of the weights, if all requirements have the same weight.

    Formula: Hotelling's T² of the log weights with their task-jackknife covariance, on 4 and G - 4 degrees of freedom
    for five requirements and G tasks. Level: task; counts are those of the weights. Bounds: 0 to 1; small values are
    evidence against equal weights. Not given if the design has no such pairs. Undefined if no call named a winner, all
    tasks were answered alike, or there are too few tasks. Interval: none, because this is a test and not an estimate.
    """
    p = found.weights.equality_p
    if p is None:
        few = f"{found.tasks} tasks are too few to test {len(found.places)} weights"
        return [Part(Undefined(few, found.excluded))]
    return [Part(Estimate(p, found.named, found.calls, "call", None, found.tasks, excluded=found.excluded))]
