"""Parts that the charts share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import ClassVar

from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, IntervalRecord, MeasureRecord

CHAR_WIDTH = 6.2
"""Width of a character in the labels' 11 px text, estimated generously: only used to keep labels inside the picture."""

Axis = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class NotDrawn:
    """A chart that cannot be drawn, and why."""

    drawn: ClassVar[bool] = False
    reason: str


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


def share(measure: MeasureRecord | None) -> EstimateRecord | None:
    """Returns the estimate, if there is one and it lies on the axis from 0 to 1."""
    if measure is None or not isinstance(measure.result, EstimateRecord) or not numbers.is_rate(measure):
        return None
    return measure.result if 0 <= measure.result.value <= 1 else None


def span(limits: IntervalRecord | None, axis: Axis, *, edges: tuple[float, float] = (0, 1)) -> Span | None:
    if limits is None:
        return None
    low, high = (limit if limit is not None and isfinite(limit) else None for limit in (limits.low, limits.high))
    return Span(
        start=place(axis(edges[0] if low is None else low)),
        end=place(axis(edges[1] if high is None else high)),
        start_closed=low is not None,
        end_closed=high is not None,
    )


def words(measure: MeasureRecord, estimate: EstimateRecord) -> str:
    """Says in words what is drawn of an estimate."""
    value, limits = numbers.measured_value(measure, estimate), numbers.measured_interval(measure, estimate.interval)
    said = [f"{value}, interval {limits}"]
    if estimate.planning_interval is not None:
        said.append(f"planning interval {numbers.measured_interval(measure, estimate.planning_interval)}")
    if measure.planted is not None:
        said.append(f"planted {numbers.scaled(measure.planted, measure.scale)}")
    return ", ".join(said)


def planted(measure: MeasureRecord, axis: Axis) -> str | None:
    return None if measure.planted is None or not isfinite(measure.planted) else place(axis(measure.planted))


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def place(coordinate: float) -> str:
    """Formats a coordinate for the page."""
    return f"{coordinate:.1f}"
