"""Text appeal: what a text is worth to the judge, whatever was asked for."""

from collections.abc import Sequence
from math import sqrt

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import QuadTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import NO_QUAD, incomplete_quads, quad_tallies
from umpirical.measures.estimates.rates import ONE_TASK, by_task
from umpirical.stats.ratios import cluster_ratio

PARTS = {Family.LADDER: "", Family.FIGURES: "figures"}
"""The ladders that are measured, each by itself, and what they are called."""

LEAST_ERROR = 1.9
"""The least standard error, in quads: where no quad shows any appeal, the upper limit is that of 0 events of n."""


def text_appeal(tallies: Tallies, arm: str) -> list[Measure]:
    """How far one of two texts is preferred whatever the task asks for: root mean square over quads.

    Formula: sqrt(E[a²]), with a the share of calls that name the one text less the share that name the other, over both
    versions and both orders of a quad, as they would be over endless repeats. Noise does not count: a² is estimated by
    the product of two halves of the quad, each a call on either version in opposite orders, so that neither the task
    nor the slot favours a text in either half, and no call is multiplied by itself. It is exact unless a slot helps a
    text under one version and harms it under the other. 0 if texts are preferred for what the task asks, for their
    slot, or at random; 1 if one of two texts always wins. For the ladder, and apart from it for figures. Level: quad.
    Bounds: 0 to 1, higher is worse. Not given if the design has no quads. Undefined without a quad answered in both
    orders of both versions, or if the halves disagree by more than chance. Interval: linearised over tasks with
    Student's t, on the square.
    """
    return [
        Measure(SPEC.name, _appeal(chosen), arm, part)
        for family, part in PARTS.items()
        if (chosen := quad_tallies(tallies, arm, family))
    ]


def _appeal(chosen: Sequence[QuadTally]) -> Result:
    missing = incomplete_quads(chosen)
    products, quads = by_task((tally.cluster, tally.appeal, tally.quads) for tally in chosen)
    if len(quads) < 2:
        return Undefined(ONE_TASK if quads else NO_QUAD, left_out=missing)
    count = round(sum(quads))
    found = cluster_ratio(products, quads, least=LEAST_ERROR / count)
    if found.high <= 0:
        return Undefined("the two halves of quads disagree by more than chance", left_out=missing)
    value, low, high = (sqrt(min(1.0, max(0.0, square))) for square in (found.value, found.low, found.high))
    limits = Interval(low, high, "linearised over tasks, on the square")
    return Estimate(value, value * count, count, "quad", limits, found.clusters, left_out=missing)


SPEC = MeasureSpec(
    name="text-appeal",
    title="Text appeal",
    about="How far it prefers one of two answers whatever the task asks for, as a difference of shares of calls.",
    worse="higher",
    compute=text_appeal,
    scale="difference",
)
