"""False negative rate: positive items that are not called positive."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import NO_LABELS, NO_POSITIVE, GoldItems, gold_measures, gold_rate


def false_negative_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the verdict is not a positive label | the gold label is one).

    Formula: items not called positive / items whose gold label is positive. The user says which labels count as
    positive: a scale does not tell. Level: item with a positive gold label and a verdict. Bounds: 0 to 1, higher is
    worse. Undefined where no label is named as positive, and without two clusters of such items. Interval:
    cluster-Wilson over clusters of items; the bounds count items without a verdict either way.
    """
    return gold_measures(SPEC.name, tallies, arm, _rate)


def _rate(items: GoldItems) -> Result:
    if not items.positive:
        return items.undefined(NO_LABELS if items.scale.kind == "interval" else NO_POSITIVE)
    among, absent = items.is_positive(items.gold), items.is_positive(items.absent_gold)
    missed = ~items.is_positive(items.given)
    return gold_rate(items, missed, empty="no gold label is positive", among=among, absent=absent)


SPEC = MeasureSpec(
    name="false-negative-rate",
    title="False negative rate",
    about="How often it fails to call positive what is, by the labels that the user has named positive.",
    worse="higher",
    compute=false_negative_rate,
    kinds=("grade",),
    protocols=("stress",),
)
