"""Spearman correlation: grades rank items as gold does."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import ONE_SIDE, GoldItems, coefficient_result, gold_measures
from umpirical.measures.estimates.items import NO_ORDER
from umpirical.stats.agreement import spearman


def spearman_correlation(tallies: Tallies, arm: str) -> list[Measure]:
    """Spearman's correlation of grade and gold grade: Pearson's, of their mid-ranks.

    Formula: as Pearson's, each grade replaced by the mean rank of the items that share it. Level: item with a gold
    label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, lower is worse. Undefined
    on a scale without order, if all gold labels or all verdicts are the same, and without two clusters of items.
    Interval: infinitesimal jackknife over clusters of items, Student's t on Fisher's scale.
    Reference: C. Spearman, American Journal of Psychology 15 (1904).
    """
    return gold_measures(SPEC.name, tallies, arm, _coefficient)


def _coefficient(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    return coefficient_result(items, spearman(items.scores), otherwise=ONE_SIDE)


SPEC = MeasureSpec(
    name="spearman",
    title="Spearman correlation",
    about="How well its grades rank items as the gold grades do.",
    worse="lower",
    compute=spearman_correlation,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
