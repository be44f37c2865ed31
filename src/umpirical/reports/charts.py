"""Where every mark of a chart goes. The templates place what is computed here and compute nothing.

A coordinate is text, rounded here, so that the same record gives the same bytes. Every chart carries a title and a
description that say in words what is drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import ClassVar

from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, IntervalRecord, MeasureRecord

__all__ = ["Curve", "DotCell", "NotDrawn", "Stack", "decomposition", "dot_cell", "psychometric_curve"]

CELL_WIDTH, CELL_PAD = 168, 6
PLOT_LEFT, PLOT_RIGHT, PLOT_TOP, PLOT_BOTTOM = 36, 412, 8, 218
STEPS = range(1, 6)
Y_TICKS = ((0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1"))
BAR_LEFT, BAR_RIGHT, BAR_BOTTOM, ROW_HEIGHT = 4, 416, 44, 19
CHAR_WIDTH = 6.2
"""Of the labels' 11 px text, on the wide side: only used to keep a label inside the picture."""

PARTS = (
    ("stable-cross-sensitivity", "stable cross-sensitivity"),
    ("positional-false-preference", "positional false preference"),
    ("one-sided-commit", "one-sided commit"),
    ("no-preference", "no preference"),
)


@dataclass(frozen=True, slots=True)
class NotDrawn:
    """A chart that cannot be drawn, and why."""

    drawn: ClassVar[bool] = False
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """An interval along an axis; a side that is open runs to the edge and has no cap."""

    start: str
    end: str
    start_closed: bool
    end_closed: bool


@dataclass(frozen=True, slots=True)
class DotCell:
    """One rate on an axis from 0 to 1."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    x: str
    interval: Span | None
    planning: Span | None
    planted: str | None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The sensitivity at one step."""

    x: str
    y: str
    label: str
    words: str
    interval: Span | None
    planted: str | None


@dataclass(frozen=True, slots=True)
class ThresholdMark:
    """Where the curve crosses 0.75, or on which side of the ladder it does."""

    x: str
    label: str
    label_x: str
    anchor: str
    censoring: str
    interval: Span | None


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and what is written there."""

    at: str
    label: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Sensitivity over the steps of the ladder."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    points: tuple[CurvePoint, ...]
    segments: tuple[tuple[CurvePoint, CurvePoint], ...]
    threshold: ThresholdMark | None
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    goal: str
    """Height of the 0.75 line."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar. A part of no pairs has a label and no width."""

    part: str
    x: str
    width: str | None
    middle: str
    label: str
    label_x: str
    label_y: str
    leader_end: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Stack:
    """The pairs of equal quality, by what the judge did with them."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    segments: tuple[Segment, ...]
    height: str


def dot_cell(measure: MeasureRecord) -> DotCell | NotDrawn:
    """The interval dot plot of one rate."""
    estimate = _share(measure)
    if estimate is None:
        return NotDrawn("Not drawn: not a rate.")
    return DotCell(
        title=f"{measure.title} {measure.stratum}".strip(),
        desc=_words(measure, estimate),
        x=_text(_cell_x(estimate.value)),
        interval=_span(estimate.interval, _cell_x, edges=(0, 1)),
        planning=_span(estimate.planning_interval, _cell_x, edges=(0, 1)),
        planted=_planted(measure, _cell_x),
    )


def psychometric_curve(measures: Sequence[MeasureRecord]) -> Curve | NotDrawn:
    """The curve of one arm, from `target-sensitivity` at steps 1 to 5 and `detection-threshold`."""
    at_steps = {step: _result(measures, "target-sensitivity", str(step)) for step in STEPS}
    if not any(at_steps.values()):
        return NotDrawn("The curve is not drawn: target sensitivity was not measured.")
    points = {step: point for step, found in at_steps.items() if found and (point := _point(step, found))}
    if not points:
        return NotDrawn("The curve is not drawn: target sensitivity is undefined at every step.")
    mark = _threshold_mark(_result(measures, "detection-threshold", ""))
    words = [f"step {step}: {point.words}" for step, point in points.items()]
    return Curve(
        title="Target sensitivity by size of the difference",
        desc="; ".join([*words, mark.label if mark else "no Δ75"]),
        points=tuple(points.values()),
        segments=tuple((points[one], points[two]) for one, two in pairwise(points) if two == one + 1),
        threshold=mark,
        x_ticks=tuple(Tick(_text(_step_x(step)), str(step)) for step in STEPS),
        y_ticks=tuple(Tick(_text(_share_y(share)), label) for share, label in Y_TICKS),
        goal=_text(_share_y(0.75)),
    )


def decomposition(measures: Sequence[MeasureRecord]) -> Stack | NotDrawn:
    """The Δ0 decomposition of one arm; what its four parts do not hold is shown as a part of its own."""
    parts: list[tuple[str, str, float]] = []
    totals: set[int] = set()
    for name, words in PARTS:
        found = _result(measures, name, "")
        if found is None or not isinstance(found.result, EstimateRecord):
            state = "was not measured" if found is None else "is undefined"
            return NotDrawn(f"The decomposition is not drawn: {words} {state}.")
        parts.append((name, words, found.result.numerator))
        totals.add(found.result.denominator)
    total = max(totals)
    rest = round(total - sum(size for _, _, size in parts), 6)
    if len(totals) > 1 or total <= 0 or not rest >= 0 or any(size < 0 for _, _, size in parts):
        return NotDrawn("The decomposition is not drawn: its parts do not add up to one number of pairs.")
    if rest > 0:
        parts.append(("rest", "in none of these", rest))
    return _stack(parts, total)


def _stack(parts: Sequence[tuple[str, str, float]], total: int) -> Stack:
    labels = [f"{numbers.count(size)} · {numbers.rate(size / total)} {words}" for _, words, size in parts]
    # Labels go down from right to left: a label that runs to the right then crosses no other's leader line.
    order = sorted(range(len(parts)), key=lambda part: (parts[part][2] == 0, -part))
    segments: list[Segment] = []
    start = float(BAR_LEFT)
    for index, (name, _, size) in enumerate(parts):
        width = (BAR_RIGHT - BAR_LEFT) * size / total
        segments.append(_segment(name, start, width, label=labels[index], row=order.index(index)))
        start += width
    return Stack(
        title="Pairs of equal quality, by what the judge did with them",
        desc=f"of {numbers.count(total)} pairs: " + "; ".join(labels),
        segments=tuple(segments),
        height=_text(BAR_BOTTOM + 12 + ROW_HEIGHT * len(parts)),
    )


def _segment(part: str, start: float, width: float, *, label: str, row: int) -> Segment:
    middle = start + width / 2 if width else BAR_LEFT - 5
    length = CHAR_WIDTH * len(label)
    label_x, anchor = middle + 5, "start"
    if label_x + length > BAR_RIGHT:
        label_x, anchor = middle - 5, "end"
        if label_x < length:
            # Too long for either side of its leader, so below it.
            label_x, anchor = _clip(middle, BAR_LEFT + length / 2, BAR_RIGHT - length / 2), "middle"
    return Segment(
        part=part,
        x=_text(start),
        width=_text(width) if width else None,
        middle=_text(middle),
        label=label,
        label_x=_text(label_x),
        label_y=_text(BAR_BOTTOM + 20 + ROW_HEIGHT * row),
        leader_end=_text(BAR_BOTTOM + (9 if anchor == "middle" else 16) + ROW_HEIGHT * row),
        anchor=anchor,
    )


def _point(step: int, measure: MeasureRecord) -> CurvePoint | None:
    estimate = _share(measure)
    if estimate is None:
        return None
    return CurvePoint(
        x=_text(_step_x(step)),
        y=_text(_share_y(estimate.value)),
        label=numbers.rate(estimate.value),
        words=_words(measure, estimate),
        interval=_span(estimate.interval, _share_y, edges=(0, 1)),
        planted=_planted(measure, _share_y),
    )


def _threshold_mark(measure: MeasureRecord | None) -> ThresholdMark | None:
    estimate = measure.result if measure else None
    if measure is None or not isinstance(estimate, EstimateRecord) or not isfinite(estimate.value):
        return None
    x = _step_x(estimate.value)
    to_left = x > (PLOT_LEFT + PLOT_RIGHT) / 2
    return ThresholdMark(
        x=_text(x),
        label=f"Δ75 {'= ' if estimate.censoring == 'none' else ''}{numbers.measured_value(measure, estimate)}",
        label_x=_text(x - 8 if to_left else x + 8),
        anchor="end" if to_left else "start",
        censoring=estimate.censoring,
        interval=_span(estimate.interval, _step_x, edges=(-9, 99)),
    )


def _result(measures: Sequence[MeasureRecord], name: str, stratum: str) -> MeasureRecord | None:
    return next((m for m in measures if (m.name, m.stratum) == (name, stratum)), None)


def _share(measure: MeasureRecord) -> EstimateRecord | None:
    """The estimate, if there is one and it lies on the axis from 0 to 1."""
    estimate = measure.result
    if isinstance(estimate, EstimateRecord) and numbers.is_rate(measure) and 0 <= estimate.value <= 1:
        return estimate
    return None


def _words(measure: MeasureRecord, estimate: EstimateRecord) -> str:
    words = [f"{numbers.rate(estimate.value)}, interval {numbers.measured_interval(measure, estimate.interval)}"]
    if estimate.planning_interval is not None:
        words.append(f"planning interval {numbers.measured_interval(measure, estimate.planning_interval)}")
    if measure.planted is not None:
        words.append(f"planted {numbers.rate(measure.planted)}")
    return ", ".join(words)


def _planted(measure: MeasureRecord, axis: Callable[[float], float]) -> str | None:
    return None if measure.planted is None or not isfinite(measure.planted) else _text(axis(measure.planted))


def _span(limits: IntervalRecord | None, axis: Callable[[float], float], *, edges: tuple[float, float]) -> Span | None:
    if limits is None:
        return None
    low, high = (limit if limit is not None and isfinite(limit) else None for limit in (limits.low, limits.high))
    return Span(
        start=_text(axis(edges[0] if low is None else low)),
        end=_text(axis(edges[1] if high is None else high)),
        start_closed=low is not None,
        end_closed=high is not None,
    )


def _cell_x(share: float) -> float:
    return CELL_PAD + (CELL_WIDTH - 2 * CELL_PAD) * _clip(share, 0, 1)


def _share_y(share: float) -> float:
    return PLOT_BOTTOM - (PLOT_BOTTOM - PLOT_TOP) * _clip(share, 0, 1)


def _step_x(step: float) -> float:
    margin = 34
    width = (PLOT_RIGHT - PLOT_LEFT - 2 * margin) / (len(STEPS) - 1)
    return _clip(PLOT_LEFT + margin + width * (step - STEPS[0]), PLOT_LEFT, PLOT_RIGHT)


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _text(coordinate: float) -> str:
    return f"{coordinate:.1f}"
