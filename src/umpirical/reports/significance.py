"""How surprising a miss is: p-values from the intervals, and which misses survive a correction for their number.

An interval and its test are equivalent: the limit is rejected at the level at which the interval's end touches it.
So no second statistic is needed, and a verdict and its p-value never contradict each other.
"""

from collections.abc import Sequence
from math import isfinite, sqrt
from statistics import NormalDist

from umpirical.domain.measures import Estimate

LEVEL = 0.05
"""Chance of any false alarm by Holm, and share of false alarms among what survives by Benjamini and Hochberg."""

_NORMAL = NormalDist()


def p_value(estimate: Estimate, *, least: float | None, most: float | None, is_rate: bool) -> float | None:
    """Returns the one-sided p-value of being inside the limit; 1 if the estimate is inside, None without an interval.

    A Wilson bound B of a rate p satisfies (p - B)² / (B (1 - B)) = z² · design effect / n, and the bound of anything
    else (p - B)² = z² · variance. The present bound gives the unit, and the limit is so many z away.

    Reference: the duality of tests and intervals, as in G. Casella and R. L. Berger, Statistical Inference, 9.2.
    """
    limits = estimate.interval
    if limits is None:
        return None
    if most is not None and estimate.value > most:
        limit, bound = most, limits.low
    elif least is not None and estimate.value < least:
        limit, bound = least, limits.high
    else:
        return 1.0
    if bound is None or not isfinite(bound):
        return None
    now = _distance(estimate.value, bound, is_rate=is_rate)
    away = _distance(estimate.value, limit, is_rate=is_rate)
    if now is None or away is None:
        # A rate is never surprising against a limit of 0 or 1 by this formula, nor does its own bound lie there.
        return None
    z = _NORMAL.inv_cdf(0.5 + limits.level / 2)
    return _NORMAL.cdf(-z * sqrt(away / now))


def pass_p(estimate: Estimate, *, least: float | None, most: float | None, is_rate: bool) -> float | None:
    """Returns the one-sided p-value of being outside the limit; 1 if the estimate is outside, None without an interval.

    The limit's two sides are two tests, of which the less certain counts.
    """
    sides = [p_value(estimate, least=most, most=None, is_rate=is_rate)] if most is not None else []
    sides += [p_value(estimate, least=None, most=least, is_rate=is_rate)] if least is not None else []
    known = [side for side in sides if side is not None]
    return max(known) if known and len(known) == len(sides) else None


def survivors(p_values: Sequence[float | None]) -> list[bool]:
    """Returns which hypotheses are still rejected at `LEVEL` when all tested ones are considered together.

    Reference: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, JRSS B 57 (1995).

    >>> survivors([0.001, 0.04, None, 0.9])
    [True, False, False, False]
    """
    return [p is not None and p <= LEVEL for p in false_discoveries(p_values)]


def difference_p(estimate: Estimate) -> float | None:
    """Returns the two-sided p-value of a difference of 0; None without a limit on the side of 0.

    The distance from the value to that limit is a quantile of Student's t, and 0 is so many times as far.
    """
    limits, value = estimate.interval, estimate.value
    end = None if limits is None else limits.low if value > 0 else limits.high
    if limits is None or (value and end is None) or estimate.clusters < 2:
        return None
    if not value or end is None or value == end:
        return 1.0
    from scipy.special import stdtr

    from umpirical.stats.intervals import student

    away = student(estimate.clusters, limits.level) * abs(value / (value - end))
    return 2 * float(stdtr(estimate.clusters - 1, -away))


def beyond_p(estimate: Estimate, margin: float) -> float | None:
    """Returns the one-sided p-value of a difference of at most `margin`; None without a lower limit.

    As for `difference_p`, with the margin in the place of 0: what is no more than the margin is never surprising.
    """
    low = None if estimate.interval is None else estimate.interval.low
    if estimate.interval is None or low is None or estimate.clusters < 2:
        return None
    if estimate.value <= margin or estimate.value <= low:
        return 1.0
    from scipy.special import stdtr

    from umpirical.stats.intervals import student

    away = student(estimate.clusters, estimate.interval.level) * (estimate.value - margin) / (estimate.value - low)
    return float(stdtr(estimate.clusters - 1, -away))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns p-values adjusted so that one below a level is a false alarm, of all of them, no more often than that.

    Reference: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(tested):
        highest = max(highest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = highest
    return adjusted


def false_discoveries(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns p-values adjusted by Benjamini and Hochberg's procedure.

    >>> false_discoveries([0.01, 0.04, None, 0.03])
    [0.03, 0.04, None, 0.04]
    """
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    lowest = 1.0
    for rank, (p, place) in reversed(list(enumerate(tested, start=1))):
        lowest = min(lowest, p * (len(tested) / rank))
        adjusted[place] = lowest
    return adjusted


def _distance(value: float, bound: float, *, is_rate: bool) -> float | None:
    squared = (value - bound) ** 2
    if not is_rate:
        return squared or None
    return squared / (bound * (1 - bound)) if squared and 0 < bound < 1 else None
