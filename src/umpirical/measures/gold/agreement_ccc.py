"""Concordance: agreement with gold as a scatter about the line of equality."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import ONE_LABEL, GoldItems, coefficient_result, gold_measures
from umpirical.measures.estimates.items import NO_ORDER
from umpirical.stats.agreement import concordance


def agreement_ccc(tallies: Tallies, arm: str) -> list[Measure]:
    """Lin's concordance correlation coefficient of grade and gold grade.

    Formula: 2 cov / (var given + var gold + (mean given - mean gold)²), moments over n. It is the correlation, reduced
    by every shift and every change of spread: never further from 0 than Pearson's. Level: item with a gold label and a
    verdict; the numerator counts those given their gold label. Bounds: -1 to 1, lower is worse. Undefined on a scale
    without order, if all gold labels and verdicts are the same, and without two clusters of items. Interval: jackknife
    over clusters of items, Student's t on Fisher's scale; it covers .94 to .98 from 20 items on, but .91 with few items
    of the rarer label. Reference: L. I. Lin, Biometrics 45 (1989).
    """
    return gold_measures(SPEC.name, tallies, arm, _coefficient)


def _coefficient(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    return coefficient_result(items, concordance(items.scores), otherwise=ONE_LABEL)


SPEC = MeasureSpec(
    name="agreement-ccc",
    title="Concordance",
    about="How close its grades lie to the gold grades: correlation, less what shift and spread take away.",
    worse="lower",
    compute=agreement_ccc,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
