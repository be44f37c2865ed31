"""Formats the numbers of a stress report like `numbers`, but shows the sign of what goes up or down."""

from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, IntervalRecord, MeasureRecord

SIGNED = frozenset({"grade-shift", "shift-equivalence", "grade-bias", "severity"})
"""Measures in grades whose direction matters."""


def value_words(measure: MeasureRecord, estimate: EstimateRecord) -> str:
    """Formats the value on the scale of its measure."""
    if measure.name in SIGNED and measure.scale == "steps":
        return numbers.shift(estimate.value)
    return numbers.measured_value(measure, estimate)


def interval_words(measure: MeasureRecord, limits: IntervalRecord | None) -> str:
    """Formats the ends of the interval, with as many digits as the value."""
    if limits is None or measure.name not in SIGNED or measure.scale != "steps":
        return numbers.measured_interval(measure, limits)
    if limits.low is None or limits.high is None:
        return numbers.scaled_interval(limits.low, limits.high, measure.scale)
    return f"[{numbers.shift(limits.low)}, {numbers.shift(limits.high)}]"


def unit_words(measure: MeasureRecord) -> str:
    """Says what the value counts, if the measure's name does not make it clear."""
    return numbers.unit_of_scale(measure.scale)


def unanswered_words(count: int) -> str:
    """Describes a test that might have been passed by giving no verdict."""
    return f"{numbers.count(count)} without a verdict might have changed it"


def allowed_words(least: float | None, most: float | None, *, unit: str = "") -> str:
    """Formats a limit as it was set, to the last digit.

    >>> allowed_words(None, 0.05), allowed_words(0.8, None), allowed_words(-0.25, 0.25, unit="grades")
    ('≤ 0.05', '≥ 0.8', 'within ±0.25 grades')
    """
    after = f" {unit}" if unit else ""
    if least is None and most is None:
        return "no limit"
    if least is None or most is None:
        return f"≤ {_exact(most)}{after}" if most is not None else f"≥ {_exact(least or 0.0)}{after}"
    if least == -most:
        return f"within ±{_exact(most)}{after}"
    return f"from {_exact(least)} to {_exact(most)}{after}"


def _exact(value: float) -> str:
    """Formats a value without the rounding error of a product."""
    return numbers.setting(round(value, 6))
