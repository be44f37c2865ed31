"""Pearson correlation: grades rise with gold along a line."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import ONE_SIDE, GoldItems, coefficient_result, gold_measures
from umpirical.measures.estimates.items import NO_ORDER
from umpirical.stats.agreement import pearson


def pearson_correlation(tallies: Tallies, arm: str) -> list[Measure]:
    """Pearson's correlation of grade and gold grade.

    Formula: cov / (sd given · sd gold). A judge that is severe or keeps to the middle can have 1: it says how well
    grades could be mapped onto gold, not how well they agree. On a binary scale it is Matthews' correlation. Level:
    item with a gold label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, lower is
    worse. Undefined on a scale without order, if all gold labels or all verdicts are the same, and without two clusters
    of items. Interval: jackknife over clusters of items, Student's t on Fisher's scale.
    """
    return gold_measures(SPEC.name, tallies, arm, _coefficient)


def _coefficient(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    return coefficient_result(items, pearson(items.scores), otherwise=ONE_SIDE)


SPEC = MeasureSpec(
    name="pearson",
    title="Pearson correlation",
    about="How well a straight line through its grades would give the gold grades.",
    worse="lower",
    compute=pearson_correlation,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
