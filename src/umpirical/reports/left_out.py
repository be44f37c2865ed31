"""Intervals with every left-out item counted in the worst way.

A judge may give no verdict where its verdict would have changed, so left-out items must not help it to pass.
"""

from math import inf, sqrt

from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord
from umpirical.stats.intervals import student


def worst_ends(estimate: EstimateRecord) -> tuple[float, float]:
    """Returns the interval's ends, each with all left-out units counted towards it; open if they have no bounds.

    The k units left out all count alike, and the n others vary as they do. The variance of all is that of the two
    parts and of their difference: with h the distance from the value to its limit, d the distance from the value to
    what is counted, and t Student's, the new distance is sqrt(n² h² + t² d² n k / (n + k)) / (n + k).
    """
    if estimate.interval is None or estimate.interval.low is None or estimate.interval.high is None:
        return -inf, inf
    low, high = estimate.interval.low, estimate.interval.high
    if not estimate.left_out:
        return low, high
    if estimate.bounds is None:
        return -inf, inf
    n, k = estimate.denominator, sum(estimate.left_out.values())
    t = student(estimate.clusters, estimate.interval.level)

    def distance(bound: float, end: float) -> float:
        counted = (bound - estimate.value) * (n + k) / k
        return sqrt((n * (end - estimate.value)) ** 2 + (t * counted) ** 2 * n * k / (n + k)) / (n + k)

    least, most = estimate.bounds
    return least - distance(least, low), most + distance(most, high)


def left_out_words(estimate: EstimateRecord) -> str:
    """Says how many, by reason: `60 items without a verdict on the changed text and 2 items without one ...`."""
    return " and ".join(
        f"{numbers.count(count)} {numbers.units(estimate.unit, count)} {reason}"
        for reason, count in estimate.left_out.items()
    )
