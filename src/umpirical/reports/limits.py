"""Holds measures against limits: the only place where a number becomes PASS, FAIL or INCONCLUSIVE.

A limit passes only if the whole interval lies inside it, and fails only if the whole interval lies outside.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal

from umpirical.reports.forecast import units_to_settle
from umpirical.reports.left_out import worst_ends
from umpirical.reports.numbers import about, limit, measured_interval, measured_value, units
from umpirical.reports.record import EstimateRecord, LimitRecord, LimitVerdict, MeasureRecord

__all__ = [
    "ANSWERED",
    "FALSE_PREFERENCES",
    "RARE",
    "SEEN",
    "Forecast",
    "Held",
    "Leaning",
    "Limit",
    "hold",
    "hold_limits",
    "units_needed",
    "verdict_of",
]

SEEN = 0.80
"""Share of real differences that a judge has to see."""

FALSE_PREFERENCES = 0.10
"""Share of cases without a difference in which a judge may find one."""

RARE = 0.02
"""Share of calls that may give no verdict."""

APART = "Ask again where no verdict can be read, and report what stays unread apart: never as a tie, a loss or a zero."

Leaning = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a policy, and the words that go with it."""

    measure: str
    stratum: str
    kind: Literal["at_most", "at_least"]
    value: float
    essential: bool = True
    """Whether the judge must not be used unless this is met or made up for."""
    cure: str = ""
    """A way of use that makes up for missing it; empty if there is none."""
    cure_needs: tuple[str, str] | None = None
    """(measure, stratum) of a limit that must pass for the cure to work."""
    good_for: str = ""
    """Said about a judge that meets it."""
    not_for: str = ""
    """Said about a judge that does not meet it, or is not shown to."""

    @property
    def least(self) -> float | None:
        return self.value if self.kind == "at_least" else None

    @property
    def most(self) -> float | None:
        return self.value if self.kind == "at_most" else None


ANSWERED = (
    Limit("unparsed-rate", "", "at_most", RARE, cure=APART),
    Limit("failure-rate", "", "at_most", RARE, cure=APART),
)
"""Limits on answers that are no verdict, whatever the protocol."""


@dataclass(frozen=True, slots=True)
class Held:
    """The result of holding an estimate against a limit."""

    verdict: LimitVerdict
    leaning: Leaning
    """Which side of the limit the value itself lies on."""
    needed: int | None = None
    """Total units that would settle an INCONCLUSIVE verdict at the same value; None if no number is enough."""
    unanswered: int = 0
    """Left-out units that prevent a PASS: counted in the worst way, they would undo it or put it out of reach."""


Forecast = Callable[[EstimateRecord, float, float], int | None]
"""Returns the total units that would settle a limit, from an estimate, the limit and the interval's end on its side."""


def units_needed(measure: MeasureRecord) -> Forecast:
    """The default forecast."""
    return lambda estimate, wanted, end: units_to_settle(
        estimate.value, wanted, bound=end, units=estimate.denominator, is_rate=measure.scale == "rate"
    )


def hold(
    estimate: EstimateRecord, least: float | None, most: float | None, *, forecast: Forecast, count_missing: bool
) -> Held:
    """Compares an estimate with what is allowed.

    With `count_missing`, what was left out of the estimate may not help to pass: a limit passes only if it still
    would with all of it counted the worst way.
    """
    verdict, leaning = verdict_of(_ends(estimate), least, most), _leaning(estimate.value, least, most)
    unanswered = _unanswered(estimate, least, most, verdict, leaning) if count_missing else 0
    needed = None
    if verdict == "INCONCLUSIVE" and not unanswered:
        needed = _needed(estimate, least, most, forecast)
    return Held("INCONCLUSIVE" if unanswered else verdict, leaning, needed, unanswered)


def verdict_of(ends: tuple[float, float], least: float | None, most: float | None) -> LimitVerdict:
    """Returns PASS if both ends are inside, FAIL if both are outside on one side."""
    low, high = ends
    least, most = -inf if least is None else least, inf if most is None else most
    if least <= low and high <= most:
        return "PASS"
    return "FAIL" if high < least or low > most else "INCONCLUSIVE"


def hold_limits(policy: Iterable[Limit], measures: Sequence[MeasureRecord], arms: Iterable[str]) -> list[LimitRecord]:
    """Returns every limit of a policy for every arm, in the order of the policy. What was not measured is N/A."""
    found = {(measure.arm, measure.name, measure.stratum): measure for measure in measures}
    titles = {measure.name: measure.title for measure in measures}
    limits = list(policy)
    return [
        _limit_record(one, found.get((arm, one.measure, one.stratum)), arm, titles.get(one.measure, one.measure))
        for arm in arms
        for one in limits
    ]


def _limit_record(one: Limit, measure: MeasureRecord | None, arm: str, title: str) -> LimitRecord:
    known = {
        "measure": one.measure,
        "title": title,
        "arm": arm,
        "stratum": one.stratum,
        "kind": one.kind,
        "value": one.value,
        "essential": one.essential,
    }
    if measure is None:
        return LimitRecord(**known, verdict="N/A", why="not measured")
    if not isinstance(measure.result, EstimateRecord):
        return LimitRecord(**known, verdict="N/A", why=measure.result.reason)
    estimate = measure.result
    held = hold(estimate, one.least, one.most, forecast=units_needed(measure), count_missing=False)
    return LimitRecord(
        **known,
        verdict=held.verdict,
        needed=held.needed,
        more_needed=None if held.needed is None else held.needed - estimate.denominator,
        unit=estimate.unit,
        why=_why(one, measure, estimate, held),
    )


def _why(one: Limit, measure: MeasureRecord, estimate: EstimateRecord, held: Held) -> str:
    seen = f"{measured_value(measure, estimate)} {measured_interval(measure, estimate.interval)}"
    words = f"{seen} against {limit(one.kind, one.value)}"
    if held.verdict != "INCONCLUSIVE":
        return f"{words}: the whole interval is {'inside' if held.verdict == 'PASS' else 'outside'}"
    if held.needed is None:
        return f"{words}: the interval holds the limit, and at this rate more of the same would not settle it"
    way = "a pass" if (estimate.value < one.value) == (one.kind == "at_most") else "a fail"
    needed = f"about {about(held.needed)} {units(estimate.unit, held.needed)}"
    return f"{words}: at the same rate {needed} would settle it as {way}"


def _ends(estimate: EstimateRecord) -> tuple[float, float]:
    """Returns the interval's ends; an open end, or a missing interval, contains everything."""
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    return -inf if low is None else low, inf if high is None else high


def _leaning(value: float, least: float | None, most: float | None) -> Leaning:
    return "fail" if (most is not None and value > most) or (least is not None and value < least) else "pass"


def _unanswered(
    estimate: EstimateRecord, least: float | None, most: float | None, verdict: LimitVerdict, leaning: Leaning
) -> int:
    if not estimate.left_out or verdict == "FAIL" or leaning == "fail":
        return 0
    robust = worst_ends(estimate) if verdict == "PASS" else estimate.bounds or (-inf, inf)
    return 0 if verdict_of(robust, least, most) == "PASS" else sum(estimate.left_out.values())


def _needed(estimate: EstimateRecord, least: float | None, most: float | None, forecast: Forecast) -> int | None:
    """Returns the total units that settle it if the value stays the same: beyond one limit, or within both."""
    low, high = _ends(estimate)

    def settle(wanted: float, end: float) -> int | None:
        return forecast(estimate, wanted, end) if isfinite(end) and isfinite(estimate.value) else None

    if most is not None and estimate.value > most:
        return settle(most, low)
    if least is not None and estimate.value < least:
        return settle(least, high)
    waiting = [settle(most, high)] if most is not None and high > most else []
    waiting += [settle(least, low)] if least is not None and low < least else []
    known = [number for number in waiting if number is not None]
    return max(known) if known and len(known) == len(waiting) else None
