"""Severity: how harsh it is on an item in the middle of the scale."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import gold_measures, line_result


def severity(tallies: Tallies, arm: str) -> list[Measure]:
    """Fitted grade of an item whose gold grade is the middle of the scale, less that middle, in steps.

    Formula: regression of given on gold; its value at mid-scale, less mid-scale. Above 0 it is lenient, below 0 severe,
    apart from any narrowing of the scale. Level: item with a gold label and a verdict; the numerator is the value times
    the items. Bounds: none by construction; 0 is best. Undefined on a scale without order, if the gold labels differ in
    no more than one cluster, and without two clusters of items. Interval: jackknife over clusters of items, Student's
    t; not narrower than one item a step off would make it.
    """
    return gold_measures(SPEC.name, tallies, arm, lambda items: line_result(items, lambda line: line.at))


SPEC = MeasureSpec(
    name="severity",
    title="Severity",
    about="How many steps too high, or below 0 too low, it grades an item from the middle of the scale.",
    worse="depends",
    compute=severity,
    scale="steps",
    kinds=("grade",),
    protocols=("stress",),
)
