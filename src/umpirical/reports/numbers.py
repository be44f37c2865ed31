"""How numbers are written for people. No other module formats a number that a reader sees."""

from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite
from typing import Literal, assert_never

from umpirical.domain.measures import Estimate, Interval
from umpirical.measures.catalogue import Scale
from umpirical.reports.record import MeasureRecord

# Wide enough for any float: the default 28 digits make `quantize` fail above 1e25.
_WIDE = Context(prec=400)


def rate(value: float) -> str:
    """Formats a rate to three decimals.

    >>> rate(0.8125), rate(-0.0001)
    ('0.813', '0.000')
    """
    return _fixed(value, places=3)


def percent(value: float) -> str:
    """Formats a rate as a whole percentage.

    >>> percent(0.374), percent(1.0)
    ('37%', '100%')
    """
    return f"{_fixed(100 * value, places=0)}%"


def ratio(value: float) -> str:
    """A ratio such as a design effect, to two decimals."""
    return _fixed(value, places=2)


def count(value: float) -> str:
    """Formats a count, which may include halves.

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
    """Formats a number of requirements: without decimals if it is whole, otherwise with two.

    >>> step(4.0), step(2.714286)
    ('4', '2.71')
    """
    return _fixed(value, places=0 if isfinite(value) and value == int(value) else 2)


def level(value: float) -> str:
    """A confidence level.

    >>> level(0.95), level(0.975)
    ('95 %', '97.5 %')
    """
    return f"{count(round(100 * value, 6))} %"


def setting(value: float | str | None) -> str:
    """Formats a setting as it was sent: no rounding and no separators, since it identifies rather than measures.

    >>> setting(None), setting(True), setting(0.7), setting(20260101)
    ('not set', 'true', '0.7', '20260101')
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def part(stratum: str) -> str:
    """Names the part of the design that a measure is about: a step of the ladder as Δ1, any other part by its name.

    >>> part("3"), part("0.25"), part("empty"), part("")
    ('Δ3', 'Δ0.25', 'empty', 'all')
    """
    return f"Δ{stratum}" if stratum.replace(".", "", 1).isdecimal() else stratum or "all"


def difference(value: float) -> str:
    """A difference of two rates, with its sign.

    >>> difference(0.12), difference(-0.0833), difference(0.0)
    ('+0.120', '-0.083', '0.000')
    """
    return _signed(rate(value))


def shift(value: float) -> str:
    """A number of grades up or down, with its sign.

    >>> shift(0.4533), shift(-0.25), shift(0.001)
    ('+0.45', '-0.25', '0.00')
    """
    return _signed(_fixed(value, places=2))


def latent(value: float) -> str:
    """A value in standard deviations of the judge's noise, to two decimals."""
    return _fixed(value, places=2)


def p_value(value: float) -> str:
    """A probability under a null hypothesis.

    >>> p_value(0.2312), p_value(0.00002)
    ('p = 0.231', 'p < 0.001')
    """
    return "p < 0.001" if 0 <= value < 0.001 else f"p = {_fixed(value, places=3)}"


def about(value: int) -> str:
    """Formats a forecast: three leading digits, rounded up.

    >>> about(1245), about(53), about(31601)
    ('1,250', '53', '31,700')
    """
    unit = 10 ** max(0, len(str(value)) - 3)
    return count(-(-value // unit) * unit)


def units(unit: str, number: float) -> str:
    """Returns the name of a unit, in the plural unless there is one.

    >>> units("pair", 1), units("pair", 73)
    ('pair', 'pairs')
    """
    return unit if number == 1 else f"{unit}s"


def limit(kind: Literal["at_most", "at_least"], value: float) -> str:
    """A limit of the policy.

    >>> limit("at_most", 0.05), limit("at_least", 0.8)
    ('≤ 0.05', '≥ 0.80')
    """
    return f"{'≤' if kind == 'at_most' else '≥'} {_fixed(value, places=2)}"


def dollars(value: Decimal) -> str:
    """Formats US dollars: cents, or as many decimals as a small amount needs for two digits.

    >>> dollars(Decimal("12.3456")), dollars(Decimal("0.000123")), dollars(Decimal(0))
    ('$12.35', '$0.00012', '$0')
    """
    if not value.is_finite():
        return "not finite"
    if not value:
        return "$0"
    places = 2 if abs(value) >= Decimal("0.1") else 1 - value.adjusted()
    return f"${value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_WIDE):,}"


def milliseconds(value: float) -> str:
    """Formats the duration of a call.

    >>> milliseconds(312.4), milliseconds(12345.0)
    ('312 ms', '12.3 s')
    """
    return f"{_fixed(value, places=0)} ms" if value < 10_000 else f"{_fixed(value / 1000, places=1)} s"


def checked(value: float | str) -> str:
    """Formats what a gate found or allows: words unchanged, a number without needless digits.

    >>> checked("100 %"), checked(0.48123), checked(2.0)
    ('100 %', '0.481', '2')
    """
    if isinstance(value, str):
        return value
    return count(value) if isfinite(value) and value == int(value) else rate(value)


def is_rate(measure: MeasureRecord) -> bool:
    """Whether the value is a share of its denominator."""
    return measure.scale == "rate"


def scaled(value: float, scale: Scale) -> str:
    """A value on the scale of its measure."""
    match scale:
        case "rate" | "bits" | "coefficient":
            return rate(value)
        case "difference":
            return difference(value)
        case "requirements":
            return step(value)
        case "latent" | "steps":
            return latent(value)
        case "ratio":
            return ratio(value)
        case "p-value":
            return p_value(value)
        case _:
            assert_never(scale)


def scaled_interval(low: float | None, high: float | None, scale: Scale) -> str:
    """The limits of a value on the scale of its measure."""
    return _limits(None if low is None else scaled(low, scale), None if high is None else scaled(high, scale))


def unit_of_scale(scale: Scale) -> str:
    """Says what a value counts, if the measure's name does not make it clear."""
    names: dict[Scale, str] = {
        "requirements": "requirements",
        "latent": "SD of noise",
        "steps": "grades",
        "bits": "bits",
    }
    return names.get(scale, "")


def measured_value(measure: MeasureRecord, estimate: Estimate) -> str:
    """Formats the value; a censored one says on which side the truth lies."""
    if estimate.censoring != "none":
        sign = {"left": "≤", "right": ">"}[estimate.censoring]
        return f"{sign} {scaled(estimate.value, measure.scale)} ({estimate.censoring}-censored)"
    return scaled(estimate.value, measure.scale)


def measured_interval(measure: MeasureRecord, limits: Interval | None) -> str:
    return "none" if limits is None else scaled_interval(limits.low, limits.high, measure.scale)


def measured_counts(measure: MeasureRecord, estimate: Estimate) -> str:
    """Formats k/n for a rate; anything else has no numerator, so the number of units it was fitted to."""
    if is_rate(measure):
        return fraction(estimate.numerator, estimate.denominator)
    return f"n = {count(estimate.denominator)}"


def _fixed(value: float, *, places: int) -> str:
    if not isfinite(value):
        return "not finite"
    # Rounds the shortest text of the float and not its binary value, so that 0.5005 is a half and rounds up.
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_WIDE)
    return f"{rounded or abs(rounded):,}"


def _signed(written: str) -> str:
    """Puts a plus before a number that is positive as printed."""
    return f"+{written}" if any(digit in written for digit in "123456789") and written[0] != "-" else written


def _limits(low: str | None, high: str | None) -> str:
    if low is None:
        return "open on both sides" if high is None else f"below {high}"
    return f"above {low}" if high is None else f"[{low}, {high}]"
