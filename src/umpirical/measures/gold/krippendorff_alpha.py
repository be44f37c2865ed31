"""Krippendorff's alpha: gold and judge as two raters of equal standing."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.scales import ScaleKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import ONE_LABEL, GoldItems, coefficient_result, gold_measures
from umpirical.stats.categories import Metric, krippendorff_alpha


def alpha(tallies: Tallies, arm: str) -> list[Measure]:
    """Krippendorff's alpha of gold and judge.

    Formula: 1 - observed disagreement / disagreement of values paired at random, corrected for small samples. Distances
    are ordinal on an ordinal scale, interval on an interval scale, and 0 or 1 on a binary or nominal one. Chance is
    computed from both raters' labels pooled, so a judge that uses other labels than gold is not excused. Level: item
    with a gold label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, 0 is chance,
    lower is worse. Undefined if all gold labels and verdicts are the same, and without two clusters of items. Interval:
    jackknife over clusters of items, Student's t on Fisher's scale. Reference: K. Krippendorff, Content Analysis
    (2004).
    """
    return gold_measures(SPEC.name, tallies, arm, _alpha)


METRICS: dict[ScaleKind, Metric] = {
    "binary": "nominal",
    "nominal": "nominal",
    "ordinal": "ordinal",
    "interval": "interval",
}


def _alpha(items: GoldItems) -> Result:
    found = krippendorff_alpha(items.scores, metric=METRICS[items.scale.kind])
    return coefficient_result(items, found, otherwise=ONE_LABEL)


SPEC = MeasureSpec(
    name="krippendorff-alpha",
    title="Krippendorff's alpha",
    about="How far it agrees with gold beyond chance, as two raters would, in the metric of its scale.",
    worse="lower",
    compute=alpha,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
