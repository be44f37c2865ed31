"""Requirement weight: how much each requirement counts with the judge."""

from math import exp

from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.requirements import weigh


def requirement_weight(tallies: Tallies, arm: str) -> list[Measure]:
    """Weight of each requirement, by its place in the task's list; their geometric mean is 1.

    Formula: Bradley-Terry with ties in Davidson's form, on pairs in which each answer meets a requirement that the
    other lacks: the ratio of two weights is the odds of naming the one over the other, and a tie is half a win for
    each. Half an answer per pair of places is added so that no weight is infinite; it pulls weights together a little.
    Both orders are asked, so a lean to a slot does not favour a requirement, though a strong lean pulls weights
    together. Level: call. Bounds: above 0; 1 is the common weight. Not given if the design has no such pairs. Undefined
    if no call named a winner, or all tasks answered alike. Interval: task jackknife with Student's t, on the logarithm.
    """
    found = weigh(tallies, arm)
    if found is None:
        return []
    if isinstance(found, Undefined):
        return [Measure(SPEC.name, found, arm)]
    weights, measures = found.weights, []
    for index, place in enumerate(found.places):
        low, high = float(weights.low[index]), float(weights.high[index])
        estimate = Estimate(
            value=exp(weights.value[index]),
            numerator=found.named,
            denominator=found.calls,
            unit="call",
            interval=Interval(exp(low), exp(high), "task jackknife of the logarithm"),
            clusters=found.tasks,
            left_out=found.left_out,
        )
        measures.append(Measure(SPEC.name, estimate, arm, f"requirement {place}"))
    return measures


SPEC = MeasureSpec(
    name="requirement-weight",
    title="Requirement weight",
    about="How much a requirement counts with it, by its place in the list; 1 is the common weight.",
    worse="depends",
    compute=requirement_weight,
    scale="ratio",
)
