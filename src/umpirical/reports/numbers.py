"""How numbers are written for people. No other module formats a number that a reader sees."""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite
from typing import Literal

from umpirical.reports.record import EstimateRecord, IntervalRecord, MeasureRecord

__all__ = [
    "count",
    "fraction",
    "interval",
    "is_rate",
    "level",
    "measured_counts",
    "measured_interval",
    "measured_value",
    "part",
    "rate",
    "ratio",
    "setting",
    "step",
    "step_interval",
    "threshold",
]

# Wide enough for any float: the default 28 digits make `quantize` fail above 1e25.
_WIDE = Context(prec=400)


def rate(value: float) -> str:
    """A rate, to three decimals.

    >>> rate(0.8125), rate(-0.0001)
    ('0.813', '0.000')
    """
    return _fixed(value, places=3)


def ratio(value: float) -> str:
    """A ratio such as a design effect, to two decimals."""
    return _fixed(value, places=2)


def count(value: float) -> str:
    """A count, which may hold halves.

    >>> count(12345), count(30.5), count(31.0)
    ('12,345', '30.5', '31')
    """
    return _fixed(value, places=0 if isfinite(value) and value == int(value) else 1)


def fraction(numerator: float, denominator: int) -> str:
    """k/n.

    >>> fraction(30.5, 72)
    '30.5/72'
    """
    return f"{count(numerator)}/{count(denominator)}"


def interval(low: float | None, high: float | None) -> str:
    """The limits of a rate.

    >>> interval(0.03612, 0.180689), interval(None, 0.5)
    ('[0.036, 0.181]', 'below 0.500')
    """
    return _limits(None if low is None else rate(low), None if high is None else rate(high))


def step(value: float) -> str:
    """A number of requirements: whole where it is whole, else two decimals.

    >>> step(4.0), step(2.714286)
    ('4', '2.71')
    """
    return _fixed(value, places=0 if isfinite(value) and value == int(value) else 2)


def step_interval(low: float | None, high: float | None) -> str:
    """The limits of a threshold.

    >>> step_interval(2.714286, 4.0), step_interval(None, 1.0)
    ('[2.71, 4]', 'below 1')
    """
    return _limits(None if low is None else step(low), None if high is None else step(high))


def threshold(value: float, censoring: Literal["none", "left", "right"]) -> str:
    """A threshold; a censored one says on which side the truth lies.

    >>> threshold(1.0, "left"), threshold(5.0, "right"), threshold(2.5, "none")
    ('≤ 1 (left-censored)', '> 5 (right-censored)', '2.50')
    """
    sign = {"none": "", "left": "≤ ", "right": "> "}[censoring]
    return f"{sign}{step(value)}" + (f" ({censoring}-censored)" if sign else "")


def level(value: float) -> str:
    """A confidence level.

    >>> level(0.95), level(0.975)
    ('95 %', '97.5 %')
    """
    return f"{count(round(100 * value, 6))} %"


def setting(value: float | str | None) -> str:
    """A setting as it was sent: no rounding and no separators, since it is an identity and not a quantity.

    >>> setting(None), setting(True), setting(0.7), setting(20260101)
    ('not set', 'true', '0.7', '20260101')
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def part(stratum: str) -> str:
    """The part of the design a measure is about: a step of the ladder as Δ1, any other by its name.

    >>> part("3"), part("empty"), part("")
    ('Δ3', 'empty', 'all')
    """
    return f"Δ{stratum}" if stratum.isdecimal() else stratum or "all"


def is_rate(measure: MeasureRecord) -> bool:
    """Whether the value is a share of its denominator; a detection threshold is a number of requirements."""
    return measure.name != "detection-threshold"


def measured_value(measure: MeasureRecord, estimate: EstimateRecord) -> str:
    if is_rate(measure):
        return rate(estimate.value)
    return threshold(estimate.value, estimate.censoring)


def measured_interval(measure: MeasureRecord, limits: IntervalRecord | None) -> str:
    if limits is None:
        return "none"
    return (interval if is_rate(measure) else step_interval)(limits.low, limits.high)


def measured_counts(measure: MeasureRecord, estimate: EstimateRecord) -> str:
    """k/n of a rate; of a threshold, which has no numerator, the number of units it was fitted to."""
    if is_rate(measure):
        return fraction(estimate.numerator, estimate.denominator)
    return f"n = {count(estimate.denominator)}"


def _fixed(value: float, *, places: int) -> str:
    if not isfinite(value):
        return "not finite"
    # From the shortest text of the float and not its binary value, so that 0.5005 is a half and goes up.
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_WIDE)
    return f"{rounded or abs(rounded):,}"


def _limits(low: str | None, high: str | None) -> str:
    if low is None:
        return "open on both sides" if high is None else f"below {high}"
    return f"above {low}" if high is None else f"[{low}, {high}]"
