"""Grade bias: whether grades are above or below gold."""

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import GoldItems, gold_measures
from umpirical.measures.estimates.items import NO_ORDER, kept_in, span
from umpirical.stats.shifts import signed_mean


def grade_bias(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean of grade less gold grade, in steps of the scale: above 0 it is lenient on these items, below 0 severe.

    Formula: sum of (given - gold) / items. It depends on which items there are: a judge that keeps to the middle is
    lenient on poor items and severe on good ones; severity and compression separate the two. Level: item with a gold
    label and a verdict. Bounds: plus and minus the number of steps of the scale; 0 is best. Undefined on a scale
    without order, and without two clusters of items. Interval: score limits of what is too high and of what is too low,
    joined over clusters of items.
    """
    return gold_measures(SPEC.name, tallies, arm, _bias)


def _bias(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    off = items.given_score - items.gold_score
    above, below = (items.by_cluster(items.items * np.maximum(side, 0.0)) for side in (off, -off))
    mean = signed_mean(above, below, items.by_cluster(items.items))
    low, high = kept_in(mean.low, mean.high, least=-span(items.scale), most=span(items.scale))
    return Estimate(
        value=mean.value,
        numerator=float(above.sum() - below.sum()),
        denominator=items.count,
        unit="item",
        interval=Interval(low, high, "score limits of excess and shortfall, joined over clusters"),
        clusters=mean.clusters,
        left_out=items.left_out,
    )


SPEC = MeasureSpec(
    name="grade-bias",
    title="Grade bias",
    about="How many steps its grades lie above the gold grades, or below them, on average.",
    worse="depends",
    compute=grade_bias,
    scale="steps",
    kinds=("grade",),
    protocols=("stress",),
)
