"""Compression: whether it keeps to the middle of the scale."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import gold_measures, line_result


def compression(tallies: Tallies, arm: str) -> list[Measure]:
    """Slope of the regression of grade on gold grade: steps given per step of gold.

    Formula: cov / var gold. 1 if it uses the scale as gold does, below 1 if it keeps to the middle (central tendency),
    above 1 if it exaggerates. A grade cannot pass the ends of the scale, and gold has errors of its own: both pull the
    slope below 1. Level: item with a gold label and a verdict; the numerator is the value times the items. Bounds: plus
    and minus what the scale allows; 1 is best. Undefined on a scale without order, if the gold labels differ in no more
    than one cluster, and without two clusters of items. Interval: jackknife over clusters of items, Student's t; not
    narrower than one item a step off would make it.
    """
    return gold_measures(SPEC.name, tallies, arm, lambda items: line_result(items, lambda line: line.slope))


SPEC = MeasureSpec(
    name="compression",
    title="Compression",
    about="How many steps its grade moves per step of gold; below 1 it keeps to the middle of the scale.",
    worse="depends",
    compute=compression,
    scale="ratio",
    kinds=("grade",),
    protocols=("stress",),
)
