"""The calibration line: grade against gold grade."""

from collections.abc import Callable

from umpirical.domain.measures import Estimate, Interval, Result
from umpirical.measures.estimates.golds import GoldItems
from umpirical.measures.estimates.own_data import NO_ORDER, span
from umpirical.stats.agreement import Line, calibration_line
from umpirical.stats.ratios import ClusterRatio

__all__ = ["line_result"]


def line_result(items: GoldItems, part: Callable[[Line], ClusterRatio]) -> Result:
    """One of the line's two numbers, the place of interest being the middle of the scale."""
    if not items.ordered:
        return items.undefined(NO_ORDER)
    line = calibration_line(items.scores, place=span(items.scale) / 2)
    if line is None:
        return items.undefined("all gold labels are the same, or would be without one cluster of items: no line")
    found, count = part(line), float(items.items.sum())
    return Estimate(
        value=found.value,
        numerator=found.value * count,
        denominator=round(count),
        unit="item",
        interval=Interval(found.low, found.high, "jackknife over clusters of items, Student's t"),
        clusters=found.clusters,
        left_out=items.left_out,
    )
