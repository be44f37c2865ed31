"""The operating point of each prompt: false preference at equal quality, against sensitivity to one requirement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from umpirical.domain.trials import BASELINE
from umpirical.reports import numbers
from umpirical.reports.charts.drawing import CHAR_WIDTH, NotDrawn, Span, Tick, clip, found, place, share, span
from umpirical.reports.record import MeasureRecord

LEFT, RIGHT, TOP, BOTTOM = 40, 320, 10, 290
TICKS = ((0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1"))
ROW = 14.0
"""Height of a label."""


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """One arm."""

    arm: str
    x: str
    y: str
    across: Span | None
    up: Span | None
    label_x: str
    label_y: str
    anchor: str
    words: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from the judge's own prompt to another."""

    x1: str
    y1: str
    x2: str
    y2: str


@dataclass(frozen=True, slots=True)
class OperatingPlot:
    """A plot in which each arm is a point with two shares as coordinates."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    points: tuple[OperatingPoint, ...]
    arrows: tuple[Arrow, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def operating_plot(arms: Mapping[str, Sequence[MeasureRecord]]) -> OperatingPlot | NotDrawn:
    """Draws one point for each arm that has both shares."""
    points: list[OperatingPoint] = []
    for arm, measures in arms.items():
        if point := _point(arm, measures, [float(other.label_y) for other in points]):
            points.append(point)
    if len(points) < 2:
        return NotDrawn("Not drawn: fewer than two arms have both a raw false preference and a sensitivity at Δ1.")
    start = next((point for point in points if point.arm == BASELINE), points[0])
    return OperatingPlot(
        title="Operating points of the arms",
        desc="; ".join(f"{point.arm}: {point.words}" for point in points),
        points=tuple(points),
        arrows=tuple(
            Arrow(start.x, start.y, end.x, end.y)
            for end in points
            if end is not start and (end.x, end.y) != (start.x, start.y)
        ),
        x_ticks=tuple(Tick(place(_x(value)), label) for value, label in TICKS),
        y_ticks=tuple(Tick(place(_y(value)), label) for value, label in TICKS),
    )


def _point(arm: str, measures: Sequence[MeasureRecord], taken: Sequence[float]) -> OperatingPoint | None:
    false, seen = found(measures, "raw-false-preference"), found(measures, "target-sensitivity", "1")
    across, up = share(false), share(seen)
    if false is None or seen is None or across is None or up is None:
        return None
    x, y = _x(across.value), _y(up.value)
    to_left = x + 10 + CHAR_WIDTH * len(arm) > RIGHT + 70
    label_y = clip(y + 18, TOP + ROW, BOTTOM - 6)
    while any(abs(label_y - other) < ROW for other in taken):
        label_y += ROW
    return OperatingPoint(
        arm=arm,
        x=place(x),
        y=place(y),
        across=span(across.interval, _x),
        up=span(up.interval, _y),
        label_x=place(x - 10 if to_left else x + 10),
        label_y=place(label_y),
        anchor="end" if to_left else "start",
        words=f"false preference {numbers.rate(across.value)} {numbers.measured_interval(false, across.interval)}, "
        f"seen at Δ1 {numbers.rate(up.value)} {numbers.measured_interval(seen, up.interval)}",
    )


def _x(value: float) -> float:
    return LEFT + (RIGHT - LEFT) * clip(value, 0, 1)


def _y(value: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * clip(value, 0, 1)
