"""Balanced accuracy: every gold label counts the same, however rare."""

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import NO_LABELS, GoldItems, gold_measures
from umpirical.stats.clusters import combined_wilson, student
from umpirical.stats.wilson import Bounds, wilson

Floats = NDArray[np.float64]


def balanced_accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean over gold labels of the share of their items that were given them.

    Formula: mean of items given their gold label / items, label by label. Where the user has named positive labels
    there are two classes, positive or not, and it is the mean of 1 - false positive rate and 1 - false negative rate;
    otherwise the labels of the scale that occur. A judge that gives everything the most frequent label comes to one
    over their number. Level: item with a gold label and a verdict; the numerator is the value times the items. Bounds:
    0 to 1, lower is worse. Undefined if all gold labels are the same, on an interval scale, which has no labels, and
    without two clusters of items. Interval: cluster-Wilson of a weighted mean of rates over clusters of items; the
    bounds count items without a verdict as wrong, and as right.
    """
    return gold_measures(SPEC.name, tallies, arm, _balanced)


def _balanced(items: GoldItems) -> Result:
    if items.scale.kind == "interval":
        return items.undefined(NO_LABELS)
    gold, given, absent = (items.classes(side) for side in (items.gold, items.given, items.absent_gold))
    labels = sorted(set(gold.tolist()))
    if len(labels) < 2:
        return items.undefined("all gold labels are the same: nothing to balance")
    hits, misses = (
        np.column_stack([items.by_cluster(items.items * ((gold == label) & side)) for label in labels])
        for side in (gold == given, gold != given)
    )
    missing = np.array([items.absent[absent == label].sum() for label in labels])
    right, total = hits.sum(axis=0), (hits + misses).sum(axis=0)
    value, count = float((right / total).mean()), float(total.sum())
    low, high = _limits(hits, hits + misses)
    worst, best = right / (total + missing), (right + missing) / (total + missing)
    return Estimate(
        value=value,
        numerator=value * count,
        denominator=round(count),
        unit="item",
        interval=Interval(low, high, f"cluster-Wilson of the mean of {len(labels)} rates, over clusters of items"),
        clusters=items.clusters,
        left_out=items.left_out,
        bounds=(float(worst.mean()), float(best.mean())) if items.left_out else None,
    )


def _limits(hits: Floats, units: Floats) -> Bounds:
    totals = units.sum(axis=0)
    share = float(hits.sum() / totals.sum())
    if 0 < share < 1:
        return combined_wilson(hits, units, np.full(len(totals), 1 / len(totals)))
    # All right or all wrong: the mean of many ones may not round to 1.
    effective = len(totals) ** 2 / float((1 / totals).sum())
    return wilson(share * effective, effective, critical=student(len(hits), 0.95))


SPEC = MeasureSpec(
    name="balanced-accuracy",
    title="Balanced accuracy",
    about="How often its verdict is the gold label, every gold label counting alike.",
    worse="lower",
    compute=balanced_accuracy,
    kinds=("grade",),
    protocols=("stress",),
)
