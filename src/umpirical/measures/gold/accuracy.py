"""Accuracy: the verdict is the gold label."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import GoldItems, gold_measures, gold_rate


def accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the verdict is the gold label), on the originals and on the texts of every test that has gold labels.

    Formula: items given their gold label / items; an item asked several times counts the share of its answers. It says
    nothing of stability: a judge may give the same wrong answer each time. Level: item with a gold label and a verdict.
    Bounds: 0 to 1, lower is worse. Undefined without two clusters of such items. Interval: cluster-Wilson over clusters
    of items; the bounds count items without a verdict as wrong, and as right.
    """
    return gold_measures(SPEC.name, tallies, arm, _accuracy)


def _accuracy(items: GoldItems) -> Result:
    return gold_rate(items, items.right)


SPEC = MeasureSpec(
    name="accuracy",
    title="Accuracy",
    about="How often its verdict is the gold label.",
    worse="lower",
    compute=accuracy,
    kinds=("grade",),
    protocols=("stress", "agent"),
)
