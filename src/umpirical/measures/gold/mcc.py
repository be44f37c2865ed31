"""Matthews correlation: agreement with gold as a correlation of labels."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import NO_LABELS, ONE_SIDE, GoldItems, coefficient_result, gold_measures
from umpirical.stats.agreement import Ratings
from umpirical.stats.categories import matthews


def mcc(tallies: Tallies, arm: str) -> list[Measure]:
    """Matthews' correlation coefficient of verdict and gold label.

    Formula: the correlation of two label indicators; with more labels, their covariance over all labels, scaled
    likewise. Where the user has named positive labels there are two classes, positive or not; otherwise the labels of
    the scale. It is undefined for a judge that gives everything one label, which may still have a high accuracy. Level:
    item with a gold label and a verdict; the numerator counts those given their gold label. Bounds: -1 to 1, 0 is
    chance, lower is worse. Undefined if all gold labels or all verdicts are the same, on an interval scale, which has
    no labels, and without two clusters of items. Interval: jackknife over clusters of items, Student's t on Fisher's
    scale. References: B. W. Matthews, Biochimica et Biophysica Acta 405 (1975); J. Gorodkin, Computational Biology and
    Chemistry 28 (2004).
    """
    return gold_measures(SPEC.name, tallies, arm, _matthews)


def _matthews(items: GoldItems) -> Result:
    if items.scale.kind == "interval":
        return items.undefined(NO_LABELS)
    gold, given = items.classes(items.gold), items.classes(items.given)
    found = matthews(Ratings(gold.astype(float), given.astype(float), items.items, items.cluster))
    return coefficient_result(items, found, otherwise=ONE_SIDE)


SPEC = MeasureSpec(
    name="mcc",
    title="Matthews correlation",
    about="How far its labels go with the gold labels, beyond chance and whatever their shares.",
    worse="lower",
    compute=mcc,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
