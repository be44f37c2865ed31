"""One-sided limits of a measure: what a decision rests on, with every missing answer counted against the judge.

A two-sided interval says where the truth may lie. A decision asks one question, on one side: may this still be beyond
the limit? An error of 5 % on that side alone is a 90 % interval. The bound of a rate is exact (Clopper and Pearson), on
as many units as the design effect leaves.
"""

from math import inf
from typing import Literal

from scipy.special import stdtrit

from umpirical.reports.record import EstimateRecord, MeasureRecord
from umpirical.stats.intervals import exact_high, exact_low, few_clusters

Side = Literal["low", "high"]

FEW_EVENTS = 5
"""Hits or misses below which an estimated design effect says little: one event is in one task family whatever the
correlation."""

LEAST_EFFECT = 0.5
"""The design effect of pairs whose two calls are independent. A lower one is the luck of a small sample."""


def one_sided(
    measure: MeasureRecord,
    estimate: EstimateRecord,
    side: Side,
    *,
    alpha: float,
    count_missing: bool,
) -> float:
    """Returns the limit on one side, which the true value is beyond with an error of at most `alpha`.

    With `count_missing`, each left-out unit counts towards `side`.
    """
    if measure.scale != "rate" or estimate.planning_effect is None:
        return _rescaled(estimate, side, alpha=alpha, count_missing=count_missing, width=_width(measure))
    missing = sum(estimate.left_out.values()) if count_missing else 0
    units = estimate.denominator + missing
    value = (estimate.numerator + (missing if side == "high" else 0)) / units
    effective = effective_units(estimate, units, alpha=alpha)
    return (exact_high if side == "high" else exact_low)(value * effective, effective, alpha)


def effective_units(estimate: EstimateRecord, units: float, *, alpha: float) -> float:
    """Returns the independent units that so many units are worth, few clusters allowed for."""
    effective = units / design_effect(estimate)
    return effective if estimate.design_effect is None else effective * few_clusters(estimate.clusters, alpha)


def design_effect(estimate: EstimateRecord) -> float:
    """Returns the design effect that a decision rests on: the estimated one, or with few events at least the assumed.

    At 0 and 1 nothing is estimated, and what is assumed about the correlation within a task family stands in.
    """
    assumed = max(1.0, estimate.planning_effect or 1.0)
    if estimate.design_effect is None:
        return assumed
    few = min(estimate.numerator, estimate.denominator - estimate.numerator) < FEW_EVENTS
    return max(estimate.design_effect, assumed if few else LEAST_EFFECT)


def _width(measure: MeasureRecord) -> float:
    """Returns how far one left-out unit can move what is averaged; without an end for a scale that has none."""
    return 1.0 if measure.scale in {"difference", "rate"} else inf


def _rescaled(estimate: EstimateRecord, side: Side, *, alpha: float, count_missing: bool, width: float) -> float:
    """Returns the end of the interval at another level, its distance in proportion to Student's quantiles."""
    ends = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    end = ends[side == "high"]
    if end is None or estimate.interval is None:
        return inf if side == "high" else -inf
    degrees = max(1, estimate.clusters - 1)
    ratio = float(stdtrit(degrees, 1 - alpha) / stdtrit(degrees, 0.5 + estimate.interval.level / 2))
    missing = sum(estimate.left_out.values()) if count_missing else 0
    shift = width * missing / estimate.denominator if missing else 0.0
    return estimate.value + (end - estimate.value) * ratio + (shift if side == "high" else -shift)
