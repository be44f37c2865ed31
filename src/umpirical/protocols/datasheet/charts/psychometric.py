"""The psychometric curve: how often the better candidate wins, by how much better it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isfinite
from typing import ClassVar

from umpirical.reports import numbers
from umpirical.reports.charts.drawing import NotDrawn, Span, Tick, clip, found, place, planted, share, span, words
from umpirical.reports.record import EstimateRecord, MeasureRecord

LEFT, RIGHT, TOP, BOTTOM = 36, 412, 8, 218
FARTHEST = 5.0
"""The ladder's last step; the axis reaches at least that far."""
Y_TICKS = ((0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1"))
LABEL_GAP = 42.0
"""Least distance between two printed values; values that are closer appear in the table only."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The sensitivity at one step."""

    step: float
    x: str
    y: str
    label: str
    """Empty if the label would overlap its neighbour."""
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
class Curve:
    """Sensitivity over the steps of the ladder."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    points: tuple[CurvePoint, ...]
    segments: tuple[tuple[CurvePoint, CurvePoint], ...]
    bands: tuple[str, ...]
    """Polygons between the ends of the intervals, one for each unbroken stretch of the curve."""
    threshold: ThresholdMark | None
    x_ticks: tuple[Tick, ...]
    quarters: tuple[str, ...]
    """Minor ticks, if the ladder has steps below one requirement."""
    y_ticks: tuple[Tick, ...]
    goal: str
    """Height of the 0.75 line."""


def psychometric_curve(measures: Sequence[MeasureRecord]) -> Curve | NotDrawn:
    """Draws the curve of one arm, from `target-sensitivity` at every step and `detection-threshold`."""
    at_steps = dict(sorted(_steps(measures)))
    if not at_steps:
        return NotDrawn("The curve is not drawn: target sensitivity was not measured.")
    last = max(FARTHEST, ceil(max(at_steps)))
    labelled = _labelled([step for step, measure in at_steps.items() if share(measure)], last)
    points = {step: _point(step, measure, last, labelled) for step, measure in at_steps.items()}
    known = [point for point in points.values() if point]
    if not known:
        return NotDrawn("The curve is not drawn: target sensitivity is undefined at every step.")
    mark = _threshold_mark(found(measures, "detection-threshold"), last)
    segments = tuple((one, two) for one, two in pairwise(points.values()) if one and two and _near(one, two))
    said = [f"step {numbers.step(point.step)}: {point.words}" for point in known]
    return Curve(
        title="Target sensitivity by size of the difference",
        desc="; ".join([*said, mark.label if mark else "no Δ75"]),
        points=tuple(known),
        segments=segments,
        bands=tuple(band for one, two in segments if (band := _band(one, two))),
        threshold=mark,
        x_ticks=tuple(Tick(place(_step_x(step, last)), str(step)) for step in range(int(last) + 1)),
        quarters=tuple(place(_step_x(quarter / 4, last)) for quarter in range(1, int(4 * last)) if quarter % 4)
        if any(step % 1 for step in at_steps)
        else (),
        y_ticks=tuple(Tick(place(_share_y(share)), label) for share, label in Y_TICKS),
        goal=place(_share_y(0.75)),
    )


def _steps(measures: Sequence[MeasureRecord]) -> Iterator[tuple[float, MeasureRecord]]:
    for measure in measures:
        if measure.name == "target-sensitivity":
            try:
                step = float(measure.stratum)
            except ValueError:
                continue
            if isfinite(step) and 0 <= step < 1000:
                yield step, measure


def _near(one: CurvePoint, two: CurvePoint) -> bool:
    """Whether two points may be joined: a line across steps that were not asked about would look like a measurement."""
    return two.step - one.step <= 1


def _labelled(steps: Sequence[float], last: float) -> set[float]:
    """Returns the steps whose value is printed: whole steps first, as long as there is room."""
    chosen: list[float] = []
    for step in sorted(steps, key=lambda step: (step % 1 != 0, step)):
        if all(abs(_step_x(step, last) - _step_x(other, last)) >= LABEL_GAP for other in chosen):
            chosen.append(step)
    return set(chosen)


def _point(step: float, measure: MeasureRecord, last: float, labelled: set[float]) -> CurvePoint | None:
    estimate = share(measure)
    if estimate is None:
        return None
    return CurvePoint(
        step=step,
        x=place(_step_x(step, last)),
        y=place(_share_y(estimate.value)),
        label=numbers.rate(estimate.value) if step in labelled else "",
        words=words(measure, estimate),
        interval=span(estimate.interval, _share_y),
        planted=planted(measure, _share_y),
    )


def _band(one: CurvePoint, two: CurvePoint) -> str | None:
    if one.interval is None or two.interval is None:
        return None
    corners = ((one.x, one.interval.start), (two.x, two.interval.start), (two.x, two.interval.end))
    return " ".join(f"{x},{y}" for x, y in (*corners, (one.x, one.interval.end)))


def _threshold_mark(measure: MeasureRecord | None, last: float) -> ThresholdMark | None:
    estimate = measure.result if measure else None
    if measure is None or not isinstance(estimate, EstimateRecord) or not isfinite(estimate.value):
        return None

    def axis(step: float) -> float:
        return _step_x(step, last)

    x = axis(estimate.value)
    to_left = x > (LEFT + RIGHT) / 2
    return ThresholdMark(
        x=place(x),
        label=f"Δ75 {'= ' if estimate.censoring == 'none' else ''}{numbers.measured_value(measure, estimate)}",
        label_x=place(x - 8 if to_left else x + 8),
        anchor="end" if to_left else "start",
        censoring=estimate.censoring,
        interval=span(estimate.interval, axis, edges=(-9, 99)),
    )


def _share_y(value: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * clip(value, 0, 1)


def _step_x(step: float, last: float) -> float:
    margin = 30
    return clip(LEFT + (RIGHT - LEFT - margin) * step / last, LEFT, RIGHT)
