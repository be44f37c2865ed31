"""Judges as points with two shares as coordinates, and a third as the size of the mark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import ClassVar

from umpirical.reports import numbers
from umpirical.reports.charts.drawing import CHAR_WIDTH, NotDrawn, Span, Tick, clip, found, place, share, span
from umpirical.reports.record import EstimateRecord, MeasureRecord

LEFT, RIGHT, TOP, BOTTOM = 54, 354, 12, 272
TICKS = ((0.0, "0"), (0.25, "0.25"), (0.5, "0.5"), (0.75, "0.75"), (1.0, "1"))
NEAR = 15.0
"""Marks closer than this share one label."""
LINE, WIDE = 14.0, 9.0
"""Height of a label, and width of one of its letters with the space after it."""
SMALLEST, LARGEST = 3.0, 11.0
"""Radius of a mark whose third share is 0, and of one whose it is 1."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The measures of one judge, and the sign that it has in all charts."""

    sign: str
    style: int
    """Number of its colour and line."""
    measures: Sequence[MeasureRecord]


@dataclass(frozen=True, slots=True)
class PlanePoint:
    """One judge."""

    sign: str
    style: int
    x: str
    y: str
    r: str | None
    """None if the third share was not measured."""
    across: Span | None
    up: Span | None
    words: str


@dataclass(frozen=True, slots=True)
class PlaneLabel:
    """The signs of the judges whose marks are in one place."""

    text: str
    x: str
    y: str
    anchor: str
    leader: tuple[str, str, str, str] | None
    """A line from the marks, if the label had to move away."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Judges by two shares."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    across: str
    up: str
    sized: str
    """What the size of a mark stands for; empty if all are alike."""
    points: tuple[PlanePoint, ...]
    labels: tuple[PlaneLabel, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    missing: str
    """Signs of the judges that lack one of the two shares."""


def plane(
    judges: Sequence[Marked],
    *,
    title: str,
    across: tuple[str, str],
    up: tuple[str, str],
    size: tuple[str, str, str] | None = None,
) -> Plane | NotDrawn:
    """Draws one point for each judge that has both shares.

    `across` and `up` are the name of a measure and its words; `size` is that of the mark, with its part of the design.
    """
    points = [point for judge in judges if (point := _point(judge, across, up, size))]
    if not points:
        return NotDrawn(f"Not drawn: no judge has both {across[1]} and {up[1]}.")
    drawn = {point.sign for point in points}
    return Plane(
        title=title,
        desc="; ".join(f"{point.sign}: {point.words}" for point in points),
        across=across[1],
        up=up[1],
        sized=size[2] if size else "",
        # The largest first, so that no mark hides another.
        points=tuple(sorted(points, key=lambda point: -float(point.r or 0))),
        labels=tuple(point_labels(points)),
        x_ticks=tuple(Tick(place(_x(value)), label) for value, label in TICKS),
        y_ticks=tuple(Tick(place(_y(value)), label) for value, label in TICKS),
        missing=", ".join(judge.sign for judge in judges if judge.sign not in drawn),
    )


def _point(
    judge: Marked, across: tuple[str, str], up: tuple[str, str], size: tuple[str, str, str] | None
) -> PlanePoint | None:
    measures = [found(judge.measures, name) for name, _ in (across, up)]
    x, y = (share(measure) for measure in measures)
    if x is None or y is None:
        return None
    third = share(found(judge.measures, size[0], size[1])) if size else None
    said = [f"{words} {numbers.rate(each.value)} {_limits(each)}" for (_, words), each in ((across, x), (up, y))] + (
        [f"{size[2]} {numbers.rate(third.value) if third else 'not measured'}"] if size else []
    )
    radius = 5.0 if size is None else None if third is None else SMALLEST + (LARGEST - SMALLEST) * third.value
    return PlanePoint(
        sign=judge.sign,
        style=judge.style,
        x=place(_x(x.value)),
        y=place(_y(y.value)),
        r=None if radius is None else place(radius),
        across=span(x.interval, _x),
        up=span(y.interval, _y),
        words=", ".join(said),
    )


def _limits(estimate: EstimateRecord) -> str:
    ends = estimate.interval
    return "without an interval" if ends is None else numbers.interval(ends.low, ends.high)


def point_labels(points: Sequence[PlanePoint]) -> list[PlaneLabel]:
    """Returns one label for all marks of a place, moved down until it covers no other."""
    groups: list[list[PlanePoint]] = []
    for point in points:
        near = next((group for group in groups if _distance(group[0], point) < NEAR), None)
        if near is None:
            groups.append([point])
        else:
            near.append(point)
    placed: list[tuple[float, float, float]] = []
    return [_label(group, placed) for group in sorted(groups, key=lambda group: float(group[0].y))]


def _label(group: Sequence[PlanePoint], placed: list[tuple[float, float, float]]) -> PlaneLabel:
    x, y = float(group[0].x), float(group[0].y)
    text, reach = " ".join(point.sign for point in group), max(float(point.r or SMALLEST) for point in group) + 5
    width = sum(WIDE + CHAR_WIDTH * (len(point.sign) - 1) for point in group)
    # Above and to the right of the mark, where neither axis nor whiskers are; near the edge, to the left.
    to_left = x + reach + width > RIGHT + 50
    start = x - reach - width if to_left else x + reach
    at = clip(y - reach, TOP, BOTTOM - 6)
    while any(abs(at - other) < LINE and start < end and begin < start + width for begin, end, other in placed):
        at += LINE
    placed.append((start, start + width, at))
    moved = abs(at - (y - reach)) > LINE
    label = PlaneLabel(text, place(start), place(at), "start", None)
    return replace(label, leader=(place(x), place(y), place(start), place(at - 4))) if moved else label


def _distance(one: PlanePoint, other: PlanePoint) -> float:
    return hypot(float(one.x) - float(other.x), float(one.y) - float(other.y))


def _x(value: float) -> float:
    return LEFT + (RIGHT - LEFT) * clip(value, 0, 1)


def _y(value: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * clip(value, 0, 1)
