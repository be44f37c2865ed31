"""One value with its interval and its limit, small enough for a cell."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from umpirical.measures.catalogue import Scale
from umpirical.reports import numbers
from umpirical.reports.charts.drawing import NotDrawn, Span, clip, place, planted, span, words
from umpirical.reports.record import EstimateRecord, LimitRecord, MeasureRecord

WIDTH, PAD = 168, 6

AXES: dict[Scale, tuple[float, float]] = {"rate": (0.0, 1.0), "difference": (-1.0, 1.0)}
"""Scales with two ends. Any other scale has no axis that two judges would share, so its values are only printed."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The part of the axis that a limit allows."""

    start: str
    width: str
    edge: str
    """The position of the limit."""


@dataclass(frozen=True, slots=True)
class DotCell:
    """One value on the axis of its scale."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    x: str
    interval: Span | None
    planning: Span | None
    planted: str | None
    allowed: Allowed | None = None
    ends: tuple[str, str] | None = None
    """Labels of the ends, if the axis is not the usual one from 0 to 1."""


def dot_cell(measure: MeasureRecord, limit: LimitRecord | None = None) -> DotCell | NotDrawn:
    """Draws the interval dot plot of one rate or difference."""
    estimate, ends = measure.result, AXES.get(measure.scale)
    if ends is None or not isinstance(estimate, EstimateRecord) or not ends[0] <= estimate.value <= ends[1]:
        return NotDrawn("Not drawn: no axis with two ends.")
    axis = _axis(*ends)
    said = words(measure, estimate)
    return DotCell(
        title=f"{measure.title} {measure.stratum}".strip(),
        desc=f"{said}, limit {numbers.limit(limit.kind, limit.value)}" if limit else said,
        x=place(axis(estimate.value)),
        interval=span(estimate.interval, axis, edges=ends),
        planning=span(estimate.planning_interval, axis, edges=ends),
        planted=planted(measure, axis),
        allowed=_allowed(limit, axis, ends) if limit else None,
        ends=None if measure.scale == "rate" else (numbers.step(ends[0]), f"+{numbers.step(ends[1])}"),
    )


def _allowed(limit: LimitRecord, axis: Callable[[float], float], ends: tuple[float, float]) -> Allowed:
    edge = axis(limit.value)
    start, end = (axis(ends[0]), edge) if limit.kind == "at_most" else (edge, axis(ends[1]))
    return Allowed(place(start), place(end - start), place(edge))


def _axis(low: float, high: float) -> Callable[[float], float]:
    return lambda value: PAD + (WIDTH - 2 * PAD) * (clip(value, low, high) - low) / (high - low)
