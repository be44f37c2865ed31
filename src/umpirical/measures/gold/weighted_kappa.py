"""Weighted kappa: agreement with gold beyond chance, near misses counted as such."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import ONE_LABEL, GoldItems, coefficient_result, gold_measures
from umpirical.measures.estimates.items import NO_ORDER
from umpirical.stats.agreement import concordance


def weighted_kappa(tallies: Tallies, arm: str) -> list[Measure]:
    """Cohen's kappa with quadratic weights, of grade and gold grade.

    Formula: 1 - mean squared difference / the mean squared difference if grades were dealt to items at random. On a
    binary scale it is the plain kappa. As all steps have the same length it is the same number as the concordance; it
    is given because essay scoring knows it by this name. Level: item with a gold label and a verdict; the numerator
    counts those given their gold label. Bounds: -1 to 1, 0 is chance, lower is worse. Undefined on a scale without
    order or without labels, if all gold labels and verdicts are the same, and without two clusters of items. Interval:
    jackknife over clusters of items, Student's t on Fisher's scale. Reference: J. Cohen, Weighted kappa, Psychological
    Bulletin 70 (1968).
    """
    return gold_measures(SPEC.name, tallies, arm, _coefficient)


def _coefficient(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    if items.scale.kind == "interval":
        return items.undefined("an interval scale has no labels: the concordance is the same number there")
    return coefficient_result(items, concordance(items.scores), otherwise=ONE_LABEL)


SPEC = MeasureSpec(
    name="weighted-kappa",
    title="Weighted kappa",
    about="How far its grades agree with gold beyond chance, large misses counting more: 1 is full agreement.",
    worse="lower",
    compute=weighted_kappa,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
