"""How numbers are written for people. No other module formats a number that a reader sees."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite
from typing import Literal, assert_never

from umpirical.domain.measures import Estimate, Interval
from umpirical.measures.catalogue import MEASURES, Scale
from umpirical.reports.record import MeasureRecord

# Wide enough for any float: the default 28 digits make `quantize` fail above 1e25.
_WIDE = Context(prec=400)

# Not by the reader's locale: the same record gives the same page.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def rate(value: float) -> str:
    """Formats a rate as a percentage: whole, or with one decimal below 1% and above 99%.

    >>> rate(0.8125), rate(0.007), rate(0.9999), rate(1.0)
    ('81%', '0.7%', '>99.9%', '100%')
    """
    return f"{_percent(value)}%" if isfinite(value) else _percent(value)


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
    """The ends of an interval of a rate, in percent.

    >>> interval(0.03612, 0.180689), interval(None, 0.5)
    ('[4, 18]', 'below 50')
    """
    return scaled_interval(low, high, "rate")


def step(value: float) -> str:
    """Formats a number of requirements: without decimals if it is whole, otherwise with two.

    >>> step(4.0), step(2.714286)
    ('4', '2.71')
    """
    return _fixed(value, places=0 if isfinite(value) and value == int(value) else 2)


def level(value: float) -> str:
    """A percentage that was chosen, not measured: a confidence level, a threshold. It is not rounded.

    >>> level(0.95), level(0.975)
    ('95%', '97.5%')
    """
    return f"{100 * value:.6g}%"


def margin(value: float) -> str:
    """A chosen margin between two rates.

    >>> margin(0.05), margin(0.025)
    ('5 points', '2.5 points')
    """
    return _points(f"{100 * value:.6g}")


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
    """A difference of two rates in percentage points, with its sign.

    >>> difference(0.12), difference(-0.0833), difference(0.0)
    ('+12 points', '-8 points', '0 points')
    """
    return _points(points(value))


def gap(value: float) -> str:
    """A distance between two rates, without a sign.

    >>> gap(0.05)
    '5 points'
    """
    return _points(_percent(value))


def points(value: float) -> str:
    """The same without its unit, for a cell of a table.

    >>> points(0.12), points(-0.004)
    ('+12', '-0.4')
    """
    return _signed(_percent(value))


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

    >>> units("pair", 1), units("crossed-pair", 73)
    ('pair', 'crossed pairs')
    """
    name = unit.replace("-", " ")
    return name if number == 1 else f"{name}s"


def threshold(kind: Literal["at_most", "at_least"], value: float, measure: str = "") -> str:
    """The threshold of a check on a measure; by default, on a rate.

    >>> threshold("at_most", 0.025), threshold("at_least", 0.8), threshold("at_most", 0.5, "grade-spread")
    ('at most 2.5%', 'at least 80%', 'at most 0.50')
    """
    scale = MEASURES.get(measure).scale if measure in MEASURES.names() else "rate"
    written = level(value) if scale == "rate" else margin(value) if scale == "difference" else scaled(value, scale)
    return f"{'at most' if kind == 'at_most' else 'at least'} {written}"


def day(time: str) -> str:
    """Formats the day of a time as a record holds it; anything else is left as it is.

    >>> day("2026-01-09T12:00:00+00:00"), day("unknown")
    ('9 Jan 2026', 'unknown')
    """
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return time
    return f"{found.day} {_MONTHS[found.month - 1]} {found.year}"


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
    return count(value) if isfinite(value) and value == int(value) else _fixed(value, places=3)


def is_rate(measure: MeasureRecord) -> bool:
    """Whether the value is a share of its denominator."""
    return measure.scale == "rate"


def scaled(value: float, scale: Scale) -> str:
    """A value on the scale of its measure."""
    match scale:
        case "rate":
            return rate(value)
        case "difference":
            return difference(value)
        case "requirements":
            return step(value)
        case "bits" | "coefficient" | "latent" | "steps" | "ratio":
            return ratio(value)
        case "p-value":
            return p_value(value)
        case _:
            assert_never(scale)


def scaled_interval(low: float | None, high: float | None, scale: Scale) -> str:
    """The ends of an interval on the scale of its measure; percent signs and units stay with the value."""
    ends = (None if end is None else scaled(end, scale) for end in (low, high))
    return _ends(*(end and end.removesuffix("%").partition(" point")[0] for end in ends))


def beside(value: float, threshold: float, scale: Scale) -> str:
    """Formats a value with the decimals that tell it from a threshold.

    >>> beside(0.1004, 0.1, "rate"), beside(0.31, 0.1, "rate")
    ('10.04%', '31%')
    """
    if scale == "rate" and isfinite(value) and value != threshold and rate(value) == rate(threshold):
        places = next((n for n in (1, 2, 3) if round(100 * value, n) != round(100 * threshold, n)), 3)
        return f"{_fixed(value, places=places, shift=2)}%"
    return scaled(value, scale)


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


def measured(measure: MeasureRecord, estimate: Estimate) -> str:
    """Formats a value with its interval: `93% [84, 97]`."""
    return f"{measured_value(measure, estimate)} {measured_interval(measure, estimate.interval)}"


def measured_interval(measure: MeasureRecord, limits: Interval | None) -> str:
    return "none" if limits is None else scaled_interval(limits.low, limits.high, measure.scale)


def measured_counts(measure: MeasureRecord, estimate: Estimate) -> str:
    """Formats k/n for a rate; anything else has no numerator, so the number of units it was fitted to."""
    if is_rate(measure):
        return fraction(estimate.numerator, estimate.denominator)
    return f"n = {count(estimate.denominator)}"


def _fixed(value: float, *, places: int, shift: int = 0) -> str:
    if not isfinite(value):
        return "not finite"
    # Rounds the shortest text of the float and not its binary value, so that 0.5005 is a half and rounds up.
    shifted = Decimal(repr(value)).scaleb(shift)
    rounded = shifted.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_WIDE)
    return f"{rounded or abs(rounded):,}"


def _percent(value: float) -> str:
    size = round(abs(100 * value), 9)
    written = _fixed(value, places=1 if 0 < size < 1 or 99 < size < 100 else 0, shift=2)
    if 0 < size < 0.05:
        return "<0.1" if value > 0 else "0"
    return ">99.9" if written == "100.0" else written


def _points(written: str) -> str:
    return f"{written} {units('point', written.strip('+-') == '1')}"


def _signed(written: str) -> str:
    """Puts a plus before a number that is positive as printed."""
    return f"+{written}" if any(digit in written for digit in "123456789") and written[0] != "-" else written


def _ends(low: str | None, high: str | None) -> str:
    if low is None:
        return "open on both sides" if high is None else f"below {high}"
    return f"above {low}" if high is None else f"[{low}, {high}]"
