"""Holds intervals against limits: PASS, FAIL or INCONCLUSIVE.

A limit passes only if the whole interval lies inside it, and fails only if the whole interval lies outside.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal

from umpirical.reports import numbers
from umpirical.reports.forecast import units_to_settle
from umpirical.reports.left_out import worst_ends
from umpirical.reports.record import (
    ConditionRecord,
    EstimateRecord,
    LimitRecord,
    LimitState,
    LimitVerdict,
    MeasureRecord,
)

SEEN = 0.80
"""Share of real differences that a judge has to see."""

FALSE_PREFERENCES = 0.10
"""Share of cases without a difference in which a judge may find one."""

RARE = 0.02
"""Share of calls that may give no verdict."""

Leaning = Literal["pass", "fail"]


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


def limit_record(  # noqa: PLR0913  # the parts of a limit, each by its name
    name: str,
    measure: MeasureRecord | None,
    *,
    arm: str,
    kind: Literal["at_most", "at_least"],
    value: float,
    essential: bool,
    count_missing: bool,
) -> LimitRecord:
    """Holds a measure against a limit. One that is missing or undefined neither meets it nor breaks it."""
    title, stratum = (measure.title, measure.stratum) if measure else (name, "")
    known = LimitRecord(
        measure=name,
        title=title,
        arm=arm,
        stratum=stratum,
        essential=essential,
        kind=kind,
        value=value,
        verdict="N/A",
        why="not measured",
    )
    if measure is None:
        return known
    estimate = measure.result
    if not isinstance(estimate, EstimateRecord):
        return known.model_copy(update={"why": estimate.reason})
    least, most = (value, None) if kind == "at_least" else (None, value)
    held = hold(estimate, least, most, forecast=units_needed(measure), count_missing=count_missing)
    seen = f"{numbers.measured_value(measure, estimate)} {numbers.measured_interval(measure, estimate.interval)}"
    states: dict[LimitVerdict, LimitState] = {"PASS": "met", "FAIL": "broken"}
    return known.model_copy(
        update={
            "verdict": held.verdict,
            "state": states.get(held.verdict, "open"),
            "needed": held.needed,
            "more_needed": None if held.needed is None else held.needed - estimate.denominator,
            "unit": estimate.unit,
            "unanswered": held.unanswered,
            "why": f"{seen} against {numbers.limit(kind, value)}: {_words(held)}",
        }
    )


def settling(limit: LimitRecord) -> list[ConditionRecord]:
    """Returns what has to be asked more of to settle an open limit: itself, or what its nearest way of use needs."""
    if limit.state != "open":
        return []
    ways = [[need for need in cure.needs if need.verdict != "PASS"] for cure in limit.cures]
    return min([[limit], *ways], key=lambda way: max((_units(need) for need in way), default=float("inf")))


def _units(condition: ConditionRecord) -> float:
    return float("inf") if condition.more_needed is None else condition.more_needed


def _words(held: Held) -> str:
    if held.unanswered:
        return "inside, but not with all that has no verdict counted the worst way"
    return {
        "PASS": "the whole interval is inside",
        "FAIL": "the whole interval is outside",
        "INCONCLUSIVE": "the interval holds the limit",
    }[held.verdict]


def verdict_of(ends: tuple[float, float], least: float | None, most: float | None) -> LimitVerdict:
    """Returns PASS if both ends are inside, FAIL if both are outside on one side."""
    low, high = ends
    least, most = -inf if least is None else least, inf if most is None else most
    if least <= low and high <= most:
        return "PASS"
    return "FAIL" if high < least or low > most else "INCONCLUSIVE"


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
