"""Mean absolute error: how far off the grade is."""

from umpirical.domain.measures import Estimate, Interval, Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import GoldItems, gold_measures
from umpirical.measures.estimates.items import NO_ORDER, span
from umpirical.stats.ratios import cluster_mean


def mean_absolute_error(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean distance of the grade from the gold grade, in steps of the scale.

    Formula: sum of |given - gold| / items. Level: item with a gold label and a verdict. Bounds: 0 to the number of
    steps of the scale, higher is worse. Undefined on a scale without order, and without two clusters of items.
    Interval: score interval over clusters of items, the variance in proportion to the mean; at 0 it is that of a share
    of items that are one step off.
    """
    return gold_measures(SPEC.name, tallies, arm, _error)


def _error(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    distance = items.items * abs(items.given_score - items.gold_score)
    mean = cluster_mean(items.by_cluster(distance), items.by_cluster(items.items))
    high = min(mean.high, span(items.scale))
    return Estimate(
        value=mean.value,
        numerator=float(distance.sum()),
        denominator=items.count,
        unit="item",
        interval=Interval(mean.low, high, "cluster score over clusters of items, variance in proportion to the mean"),
        clusters=mean.clusters,
        left_out=items.left_out,
    )


SPEC = MeasureSpec(
    name="mean-absolute-error",
    title="Mean absolute error",
    about="How many steps its grade is off the gold grade, on average.",
    worse="higher",
    compute=mean_absolute_error,
    scale="steps",
    kinds=("grade",),
    protocols=("stress",),
)
