"""The psychometric curves of several judges in one picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from umpirical.protocols.datasheet.charts.plane import Marked
from umpirical.protocols.datasheet.charts.psychometric import Curve, CurvePoint, psychometric_curve
from umpirical.reports.charts.drawing import NotDrawn, Tick, clip, place

TOP, BOTTOM, LINE = 12.0, 214.0, 13.0
"""Where labels may be, and the height of one."""

FEW = 3
"""Up to so many judges the intervals are drawn; of more they would hide each other, and are in the table."""


@dataclass(frozen=True, slots=True)
class LadderCurve:
    """The curve of one judge."""

    sign: str
    style: int
    points: tuple[CurvePoint, ...]
    lines: tuple[str, ...]
    """Each a stretch of the curve without a gap, as points."""
    end_x: str
    end_y: str
    label_y: str


@dataclass(frozen=True, slots=True)
class Ladders:
    """Sensitivity over the steps of the ladder, judge by judge."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    curves: tuple[LadderCurve, ...]
    with_intervals: bool
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    goal: str
    missing: str


def ladder_curves(judges: Sequence[Marked]) -> Ladders | NotDrawn:
    """Draws the curve of every judge whose target sensitivity was measured."""
    drawn = [(judge, curve) for judge in judges if isinstance(curve := psychometric_curve(judge.measures), Curve)]
    if not drawn:
        return NotDrawn("The curves are not drawn: no judge has a target sensitivity.")
    heights = spread_labels([float(curve.points[-1].y) for _, curve in drawn])
    known = {judge.sign for judge, _ in drawn}
    widest = max((curve for _, curve in drawn), key=lambda curve: len(curve.x_ticks))
    return Ladders(
        title="Target sensitivity by size of the difference, judge by judge",
        desc="; ".join(f"{judge.sign}: {curve.desc}" for judge, curve in drawn),
        curves=tuple(_curve(judge, curve, height) for (judge, curve), height in zip(drawn, heights, strict=True)),
        with_intervals=len(drawn) <= FEW,
        x_ticks=widest.x_ticks,
        y_ticks=widest.y_ticks,
        goal=widest.goal,
        missing=", ".join(judge.sign for judge in judges if judge.sign not in known),
    )


def _curve(judge: Marked, curve: Curve, height: float) -> LadderCurve:
    joined = {(one.step, two.step) for one, two in curve.segments}
    stretches = [[curve.points[0]]]
    for one, two in pairwise(curve.points):
        if (one.step, two.step) in joined:
            stretches[-1].append(two)
        else:
            stretches.append([two])
    return LadderCurve(
        sign=judge.sign,
        style=judge.style,
        points=curve.points,
        lines=tuple(" ".join(f"{point.x},{point.y}" for point in each) for each in stretches if len(each) > 1),
        end_x=curve.points[-1].x,
        end_y=curve.points[-1].y,
        label_y=place(height),
    )


def spread_labels(wanted: Sequence[float]) -> list[float]:
    """Returns heights of labels near the wanted ones, in the same order, none on another, all inside the picture."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    heights = dict.fromkeys(order, 0.0)
    last = TOP - LINE
    for index in order:
        last = heights[index] = max(clip(wanted[index], TOP, BOTTOM), last + LINE)
    limit = max(BOTTOM, TOP + LINE * (len(order) - 1))
    for index in reversed(order):
        heights[index] = min(heights[index], limit)
        limit = heights[index] - LINE
    return [heights[index] for index in range(len(wanted))]
