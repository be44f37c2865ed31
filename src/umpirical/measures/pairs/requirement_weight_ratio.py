"""Requirement weight ratio: whether one requirement is a unit."""

from math import exp

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.requirements import Weighed, weigh


def requirement_weight_ratio(tallies: Tallies, arm: str) -> list[Measure]:
    """The largest requirement weight over the smallest.

    Formula: exp(largest log weight - smallest log weight). Above a factor of 2, a step of one requirement is not the
    same step everywhere. The value is the largest of many ratios and so too large on average, all the more the fewer
    the calls: with equal weights and a hundred tasks of one pair each it comes to 1.7. The interval does not have this
    bias: it holds the true ratio whichever two places are the extremes. Level: call. Bounds: 1 and above, higher is
    worse. Not given if the design has no such pairs. Undefined if no call named a winner, or all tasks answered alike.
    Interval: task jackknife of all ratios of two weights at once (Bonferroni), on the logarithm; the greatest of the
    lower limits and the greatest of the upper ones.
    """
    found = weigh(tallies, arm)
    return [] if found is None else [Measure(SPEC.name, _ratio(found), arm)]


def _ratio(found: Weighed | Undefined) -> Result:
    if isinstance(found, Undefined):
        return found
    weights = found.weights
    method = "task jackknife of the logarithm, simultaneous over all pairs of requirements"
    return Estimate(
        value=exp(weights.spread),
        numerator=found.named,
        denominator=found.calls,
        unit="call",
        interval=Interval(exp(weights.spread_low), exp(weights.spread_high), method),
        clusters=found.tasks,
        left_out=found.left_out,
    )


SPEC = MeasureSpec(
    name="requirement-weight-ratio",
    title="Requirement weight ratio",
    about="The largest requirement weight over the smallest; read the interval, since the value is an extreme.",
    worse="higher",
    compute=requirement_weight_ratio,
    scale="ratio",
)
