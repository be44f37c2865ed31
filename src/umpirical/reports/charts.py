"""Parts that the charts share, and one value with its interval and its limit, small enough for a cell.

The position of every mark is computed here: the templates place it and compute nothing. A coordinate is text, rounded
here, so that the same record gives the same bytes. Every chart has a title and a description that say in words what is
drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from umpirical.domain.measures import Estimate, Interval
from umpirical.measures.catalogue import Scale
from umpirical.reports import numbers
from umpirical.reports.record import CheckRecord, MeasureRecord

CHAR_WIDTH = 6.2
"""Width of a character in the labels' 11 px text, estimated generously: only used to keep labels inside the picture."""

Axis = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class NotDrawn:
    """A chart that cannot be drawn, and why."""

    drawn: ClassVar[bool] = False
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart that can be drawn."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot(Picture):
    """A chart with two axes."""

    x_ticks: "tuple[Tick, ...]"
    y_ticks: "tuple[Tick, ...]"


@dataclass(frozen=True, slots=True)
class Span:
    """An interval along an axis; an open side runs to the edge and has no cap."""

    start: str
    end: str
    start_closed: bool
    end_closed: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and its label."""

    at: str
    label: str


def found(measures: Sequence[MeasureRecord], name: str, stratum: str = "") -> MeasureRecord | None:
    return next((m for m in measures if (m.name, m.stratum) == (name, stratum)), None)


def share(measure: MeasureRecord | None) -> Estimate | None:
    """Returns the estimate, if there is one and it lies on the axis from 0 to 1."""
    if measure is None or not isinstance(measure.result, Estimate) or not numbers.is_rate(measure):
        return None
    return measure.result if 0 <= measure.result.value <= 1 else None


def span(limits: Interval | None, axis: Axis, *, edges: tuple[float, float] = (0, 1)) -> Span | None:
    if limits is None:
        return None
    low, high = (limit if limit is not None and isfinite(limit) else None for limit in (limits.low, limits.high))
    return Span(
        start=place(axis(edges[0] if low is None else low)),
        end=place(axis(edges[1] if high is None else high)),
        start_closed=low is not None,
        end_closed=high is not None,
    )


def words(measure: MeasureRecord, estimate: Estimate) -> str:
    """Says in words what is drawn of an estimate."""
    value, limits = numbers.measured_value(measure, estimate), numbers.measured_interval(measure, estimate.interval)
    said = [f"{value}, interval {limits}"]
    if estimate.planning_interval is not None:
        said.append(f"planning interval {numbers.measured_interval(measure, estimate.planning_interval)}")
    if measure.true_value is not None:
        said.append(f"true value {numbers.scaled(measure.true_value, measure.scale)}")
    return ", ".join(said)


def true_value(measure: MeasureRecord, axis: Axis) -> str | None:
    return None if measure.true_value is None or not isfinite(measure.true_value) else place(axis(measure.true_value))


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def place(coordinate: float) -> str:
    """Formats a coordinate for the page."""
    return f"{coordinate:.1f}"


# One value with its interval and its limit, small enough for a cell.


WIDTH, PAD = 168, 6

AXES: dict[Scale, tuple[float, float]] = {"rate": (0.0, 1.0), "difference": (-1.0, 1.0)}
"""Scales with two ends. Any other scale has no axis that two judges would share, so its values are only printed."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The part of the axis that a limit allows."""

    start: str
    width: str
    edges: tuple[str, ...]
    """The positions of the limits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DotCell(Picture):
    """One value on the axis of its scale."""

    x: str
    interval: Span | None
    planning: Span | None
    true_value: str | None
    allowed: Allowed | None = None
    ends: tuple[str, str] | None = None
    """Labels of the ends, if the axis is not the usual one from 0 to 1."""


def dot_cell(measure: MeasureRecord, check: CheckRecord | None = None) -> DotCell | NotDrawn:
    """Draws the interval dot plot of one rate or difference."""
    if check is None:
        return limits_cell(measure, None, None, "")
    least, most = (check.value, None) if check.kind == "at_least" else (None, check.value)
    return limits_cell(measure, least, most, numbers.threshold(check.kind, check.value, check.measure))


def limits_cell(
    measure: MeasureRecord, least: float | None, most: float | None, must: str, ends: tuple[float, float] | None = None
) -> DotCell | NotDrawn:
    """Draws a value, its interval and what is allowed, which `must` says in words. `ends`: of a scale without two."""
    estimate, ends = measure.result, AXES.get(measure.scale, ends)
    if ends is None or not isinstance(estimate, Estimate) or not ends[0] <= estimate.value <= ends[1]:
        return NotDrawn("Not drawn: this scale has no fixed ends.")
    axis = _axis(*ends)
    said = words(measure, estimate)
    return DotCell(
        title=f"{measure.title} {measure.stratum}".strip(),
        desc=f"{said}, must be {must}" if must else said,
        x=place(axis(estimate.value)),
        interval=span(estimate.interval, axis, edges=ends),
        planning=span(estimate.planning_interval, axis, edges=ends),
        true_value=true_value(measure, axis),
        allowed=_allowed(least, most, axis, ends) if must else None,
        ends=_ends(measure.scale, ends),
    )


def _ends(scale: Scale, ends: tuple[float, float]) -> tuple[str, str] | None:
    if scale == "rate":
        return None
    low, high = (numbers.points(end) if scale == "difference" else numbers.shift(end) for end in ends)
    return low, high


def _allowed(
    least: float | None, most: float | None, axis: Callable[[float], float], ends: tuple[float, float]
) -> Allowed:
    start, end = axis(ends[0] if least is None else least), axis(ends[1] if most is None else most)
    edges = [place(axis(limit)) for limit in (least, most) if limit is not None]
    return Allowed(place(start), place(end - start), tuple(edges))


def _axis(low: float, high: float) -> Callable[[float], float]:
    return lambda value: PAD + (WIDTH - 2 * PAD) * (clip(value, low, high) - low) / (high - low)
