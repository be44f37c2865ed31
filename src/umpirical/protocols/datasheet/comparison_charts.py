"""The charts of several judges in one picture: the position of every mark."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from math import ceil, floor, log10
from typing import Literal, Protocol

from umpirical.domain.measures import Estimate
from umpirical.protocols.datasheet.charts import (
    PARTS,
    Arrow,
    Box,
    Curve,
    CurvePoint,
    Shares,
    equal_quality,
    psychometric_curve,
)
from umpirical.reports import numbers
from umpirical.reports.charts import NotDrawn, Picture, Plot, Span, Tick, clip, found, place, share, span
from umpirical.reports.record import MeasureRecord

PLANE = Box(54, 354, 12, 272)
LABEL_HEIGHT, LETTER_WIDTH = 14.0, 7.2
"""Height of a label, and width of one of its letters, which are bold."""
LONGEST_NAME = 16
"""Characters of a name in a chart."""
SMALLEST_MARK, LARGEST_MARK = 3.0, 11.0
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
    """The name of the judge whose mark it is."""

    text: str
    style: int
    x: str
    y: str
    anchor: str
    leader: tuple[str, str, str, str] | None
    """A line from the marks, if the label had to move away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plane(Plot):
    """Judges by two shares."""

    across: str
    up: str
    sized: str
    """What the size of a mark stands for; empty if all are alike."""
    points: tuple[PlanePoint, ...]
    labels: tuple[PlaneLabel, ...]
    arrows: tuple[Arrow, ...]
    """From a judge under its own prompt to the same judge under another."""
    missing: str
    """Signs of the judges that lack one of the two shares."""


Axis = tuple[str, str, str]
"""A measure, its part of the design, and its words."""


def plane(
    judges: Sequence[Marked],
    *,
    title: str,
    across: Axis,
    up: Axis,
    size: Axis | None = None,
    moves: Sequence[tuple[str, str]] = (),
) -> Plane | NotDrawn:
    """Draws one point for each judge that has both shares. `moves` are signs between which there is an arrow."""
    points = [point for judge in judges if (point := _plane_point(judge, across, up, size))]
    if not points:
        return NotDrawn(f"No chart: no judge has both {across[2]} and {up[2]}.")
    at = {point.sign: (point.x, point.y) for point in points}
    ends = [(at[one], at[two]) for one, two in moves if one in at and two in at and at[one] != at[two]]
    return Plane(
        title=title,
        desc="; ".join(f"{point.sign}: {point.words}" for point in points),
        across=across[2],
        up=up[2],
        sized=size[2] if size else "",
        arrows=tuple(Arrow(*start, *end) for start, end in ends),
        # The largest first, so that no mark hides another.
        points=tuple(sorted(points, key=lambda point: -float(point.r or 0))),
        labels=tuple(point_labels(points)),
        **PLANE.ticks(),
        missing=_missing(judges, points),
    )


def _plane_point(judge: Marked, across: Axis, up: Axis, size: Axis | None) -> PlanePoint | None:
    x, y = (share(found(judge.measures, name, part)) for name, part, _ in (across, up))
    if x is None or y is None:
        return None
    third = share(found(judge.measures, size[0], size[1])) if size else None
    said = [f"{words} {numbers.rate(each.value)} {_checks(each)}" for (_, _, words), each in ((across, x), (up, y))] + (
        [f"{size[2]} {numbers.rate(third.value) if third else 'not measured'}"] if size else []
    )
    radius = (
        5.0 if size is None else None if third is None else SMALLEST_MARK + (LARGEST_MARK - SMALLEST_MARK) * third.value
    )
    return PlanePoint(
        sign=judge.sign,
        style=judge.style,
        x=place(PLANE.x(x.value)),
        y=place(PLANE.y(y.value)),
        r=None if radius is None else place(radius),
        across=span(x.interval, PLANE.x),
        up=span(y.interval, PLANE.y),
        words=", ".join(said),
    )


class _Signed(Protocol):
    @property
    def sign(self) -> str: ...


def _missing(judges: Sequence[_Signed], drawn: Sequence[_Signed]) -> str:
    """Returns the signs of the judges that are not drawn."""
    signs = {one.sign for one in drawn}
    return ", ".join(judge.sign for judge in judges if judge.sign not in signs)


def _checks(estimate: Estimate) -> str:
    ends = estimate.interval
    return "without an interval" if ends is None else numbers.interval(ends.low, ends.high)


def point_labels(points: Sequence[PlanePoint]) -> list[PlaneLabel]:
    """Returns the label of each mark, moved away from the edge until it covers no other."""
    placed: list[tuple[float, float, float]] = []
    return [_label(point, placed) for point in sorted(points, key=lambda point: float(point.y))]


def _label(point: PlanePoint, placed: list[tuple[float, float, float]]) -> PlaneLabel:
    x, y = float(point.x), float(point.y)
    text, reach = short_name(point.sign), float(point.r or SMALLEST_MARK) + 5
    width = LETTER_WIDTH * len(text)
    # Above and to the right of the mark, where neither axis nor whiskers are; near the edge, to the left.
    to_left = x + reach + width > PLANE.right + 50
    start = x - reach - width if to_left else x + reach
    at = clip(y - reach, PLANE.top, PLANE.bottom - 6)
    step = LABEL_HEIGHT if y < (PLANE.top + PLANE.bottom) / 2 else -LABEL_HEIGHT
    while any(abs(at - other) < LABEL_HEIGHT and start < end and begin < start + width for begin, end, other in placed):
        at += step
    placed.append((start, start + width, at))
    moved = abs(at - (y - reach)) > LABEL_HEIGHT
    label = PlaneLabel(text, point.style, place(start), place(at), "start", None)
    return replace(label, leader=(place(x), place(y), place(start), place(at - 4))) if moved else label


def short_name(name: str) -> str:
    """Returns a name as a chart has room for it; the list above the charts has all of it.

    The end of a name often tells two apart: a size, a version, a prompt or a run.

    >>> short_name("careful"), short_name("qwen2.5-coder-32b-instruct")
    ('careful', 'qwen2.5…instruct')
    """
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[: half - 1]}…{name[-half:]}"


BARS_LEFT, BARS_RIGHT, BARS_TOP, BARS_HEIGHT, BARS_STEP = 136, 416, 6, 18, 25


@dataclass(frozen=True, slots=True)
class BarPart:
    """One part of a bar."""

    part: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class Bar:
    """The equal pairs of one judge under one prompt."""

    label: str
    y: str
    middle: str
    parts: tuple[BarPart, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(Picture):
    """The decomposition of several judges."""

    bars: tuple[Bar, ...]
    height: str
    parts: tuple[tuple[str, str], ...]
    missing: str


def equal_quality_bars(judges: Sequence[Marked]) -> Bars | NotDrawn:
    """Draws a bar for each judge and prompt whose decomposition adds up; the sign of a bar is that of its judge."""
    found = [(judge.sign, equal_quality(judge.measures)) for judge in judges]
    drawn = [(sign, shares) for sign, shares in found if isinstance(shares, Shares)]
    if not drawn:
        return NotDrawn("No chart: no judge has all four outcomes.")
    bars = tuple(_bar(sign, shares, row) for row, (sign, shares) in enumerate(drawn))
    rest = any(name == "rest" for _, shares in drawn for name, _, _ in shares.parts)
    return Bars(
        title="Equal-quality pairs by outcome, for each judge",
        desc="; ".join(f"{bar.label}: {bar.words}" for bar in bars),
        bars=bars,
        height=place(BARS_TOP + BARS_STEP * len(bars)),
        parts=(*PARTS, *([("rest", "none of these")] if rest else [])),
        missing=", ".join(sign for sign, shares in found if isinstance(shares, NotDrawn)),
    )


def _bar(sign: str, shares: Shares, row: int) -> Bar:
    start, parts = float(BARS_LEFT), []
    for name, _, size in shares.parts:
        width = (BARS_RIGHT - BARS_LEFT) * size / shares.total
        if width:
            parts.append(BarPart(name, place(start), place(width)))
        start += width
    top = BARS_TOP + BARS_STEP * row
    said = ", ".join(f"{numbers.count(size)} {words}" for _, words, size in shares.parts)
    words = f"of {numbers.count(shares.total)}: {said}"
    return Bar(short_name(sign), place(top), place(top + BARS_HEIGHT / 2 + 4), tuple(parts), words)


LABELS_TOP, LABELS_BOTTOM, LABELS_LINE = 12.0, 214.0, 13.0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladders(Plot):
    """Sensitivity over the steps of the ladder, judge by judge."""

    curves: tuple[LadderCurve, ...]
    with_intervals: bool
    goal: str
    missing: str


def ladder_curves(judges: Sequence[Marked]) -> Ladders | NotDrawn:
    """Draws the curve of every judge whose target sensitivity was measured."""
    drawn = [(judge, curve) for judge in judges if isinstance(curve := psychometric_curve(judge.measures), Curve)]
    if not drawn:
        return NotDrawn("No chart: no judge has an accuracy by size of the difference.")
    heights = spread_labels([float(curve.points[-1].y) for _, curve in drawn])
    widest = max((curve for _, curve in drawn), key=lambda curve: len(curve.x_ticks))
    return Ladders(
        title="Accuracy by size of the difference, for each judge",
        desc="; ".join(f"{judge.sign}: {curve.desc}" for judge, curve in drawn),
        curves=tuple(
            _ladder_curve(judge, curve, height) for (judge, curve), height in zip(drawn, heights, strict=True)
        ),
        with_intervals=len(drawn) <= FEW,
        x_ticks=widest.x_ticks,
        y_ticks=widest.y_ticks,
        goal=widest.goal,
        missing=_missing(judges, [judge for judge, _ in drawn]),
    )


def _ladder_curve(judge: Marked, curve: Curve, height: float) -> LadderCurve:
    joined = {(one.step, two.step) for one, two in curve.segments}
    stretches = [[curve.points[0]]]
    for one, two in pairwise(curve.points):
        if (one.step, two.step) in joined:
            stretches[-1].append(two)
        else:
            stretches.append([two])
    return LadderCurve(
        sign=short_name(judge.sign),
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
    last = LABELS_TOP - LABELS_LINE
    for index in order:
        last = heights[index] = max(clip(wanted[index], LABELS_TOP, LABELS_BOTTOM), last + LABELS_LINE)
    check = max(LABELS_BOTTOM, LABELS_TOP + LABELS_LINE * (len(order) - 1))
    for index in reversed(order):
        heights[index] = min(heights[index], check)
        check = heights[index] - LABELS_LINE
    return [heights[index] for index in range(len(wanted))]


FREE_WIDTH = 44
"""Of the column for what is free: a logarithm has no place for 0."""
COST_CURVE = Box(60, 384, 8, 218)
MOST_DECADES = 4
"""With more, only some of them have a tick."""

Mark = Literal["judge", "scoring_method", "jury"]


@dataclass(frozen=True, slots=True)
class Priced:
    """One option, as it is drawn."""

    sign: str
    style: int
    mark: Mark
    front: bool
    dollars: tuple[Decimal, Decimal] | None
    """For 1,000 verdicts, at least and at most; None if not known."""
    accuracy: Estimate | None
    curve: Sequence[tuple[float, Decimal | None]]
    """Half-widths, and the most that each costs."""


@dataclass(frozen=True, slots=True)
class CostPoint:
    """One option at its price and accuracy."""

    sign: str
    style: int
    mark: Mark
    front: bool
    x: str
    y: str
    across: Span | None
    up: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPlane(Plot):
    """Options by price, on a logarithmic axis, and by balanced accuracy."""

    points: tuple[CostPoint, ...]
    labels: tuple[PlaneLabel, ...]
    front: str
    """The steps of the front, as points of a line; empty with fewer than two."""
    free: bool
    """Whether there is a column for what is free."""
    baseline: str | None
    missing: str


@dataclass(frozen=True, slots=True)
class CostCurve:
    """What one judge costs at each width."""

    sign: str
    style: int
    points: tuple[tuple[str, str], ...]
    line: str
    end_y: str
    label_y: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCurves(Plot):
    """Dollars by the width of the interval."""

    curves: tuple[CostCurve, ...]
    missing: str


def cost_plane(options: Sequence[Priced], *, baseline: float) -> CostPlane | NotDrawn:
    """Draws every option whose price and accuracy are known. What is free has a column of its own, left of the axis."""
    known = [
        (one, one.dollars, one.accuracy) for one in options if one.dollars is not None and one.accuracy is not None
    ]
    if not known:
        return NotDrawn("No chart: no option has both a known price and a known accuracy.")
    if not any(dollars[1] for _, dollars, _ in known):
        return NotDrawn("No chart: every option with a known price is free.")
    paid = [float(end) for _, dollars, _ in known for end in dollars if end > 0]
    free = any(not dollars[1] for _, dollars, _ in known)
    x, ticks = _log_axis(paid, PLANE.left + (FREE_WIDTH if free else 0), PLANE.right)
    floor_at = floor(4 * min(_low(accuracy) for _, _, accuracy in known)) / 4
    y = _linear(floor_at, 1.0, PLANE.bottom, PLANE.top)

    def across(dollars: Decimal) -> float:
        return x(float(dollars)) if dollars > 0 else PLANE.left + FREE_WIDTH / 2 if free else PLANE.left

    points = [
        CostPoint(
            sign=one.sign,
            style=one.style,
            mark=one.mark,
            front=one.front,
            x=place(across(dollars[1])),
            y=place(y(accuracy.value)),
            across=_spanned(dollars, across),
            up=span(accuracy.interval, y, edges=(floor_at, 1)),
        )
        for one, dollars, accuracy in known
    ]
    named = [point for point in points if point.mark == "judge" or point.front]
    marks = [PlanePoint(p.sign, p.style, p.x, p.y, "5.0", None, None, "") for p in named]
    steps = sorted({(float(point.x), float(point.y)) for point in points if point.front})
    quarters = [floor_at + 0.25 * step for step in range(round((1 - floor_at) * 4) + 1)]
    return CostPlane(
        title="Balanced accuracy by dollars per 1,000 verdicts",
        desc="; ".join(_option_words(one.sign, dollars, accuracy) for one, dollars, accuracy in known),
        points=tuple(points),
        labels=tuple(point_labels(marks)),
        front=_stairs(steps) if len(steps) > 1 else "",
        x_ticks=(*((Tick(place(PLANE.left + FREE_WIDTH / 2), "free"),) if free else ()), *ticks),
        y_ticks=tuple(Tick(place(y(value)), numbers.rate(value)) for value in quarters),
        free=free,
        baseline=place(y(baseline)) if floor_at <= baseline else None,
        missing=", ".join(one.sign for one in options if one.dollars is None or one.accuracy is None),
    )


def cost_curves(judges: Sequence[Priced]) -> CostCurves | NotDrawn:
    """Draws what the interval of each judge's accuracy costs, by its width, for the judges that cost anything."""
    drawn = [(one, [(width, dollars) for width, dollars in one.curve if dollars]) for one in judges]
    drawn = [(one, curve) for one, curve in drawn if curve]
    if not drawn:
        return NotDrawn("No chart: no judge has a known price above 0.")
    widths = sorted({width for _, curve in drawn for width, _ in curve}, reverse=True)
    at = {
        width: COST_CURVE.left + 20 + (COST_CURVE.right - COST_CURVE.left - 40) * number / max(1, len(widths) - 1)
        for number, width in enumerate(widths)
    }
    y, ticks = _log_axis(
        [float(dollars or 0) for _, curve in drawn for _, dollars in curve], COST_CURVE.bottom, COST_CURVE.top
    )
    lines = [[(place(at[width]), place(y(float(dollars or 0)))) for width, dollars in curve] for _, curve in drawn]
    heights = spread_labels([float(line[-1][1]) for line in lines])
    return CostCurves(
        title="Dollars by half-width of the 95% interval of balanced accuracy",
        desc="; ".join(_curve_words(one.sign, curve) for one, curve in drawn),
        curves=tuple(
            CostCurve(
                short_name(one.sign), one.style, tuple(line), " ".join(map(",".join, line)), line[-1][1], place(height)
            )
            for (one, _), line, height in zip(drawn, lines, heights, strict=True)
        ),
        x_ticks=tuple(Tick(place(at[width]), f"±{numbers.margin(width)}") for width in widths),
        y_ticks=ticks,
        missing=_missing(judges, [one for one, _ in drawn]),
    )


def _log_axis(values: Sequence[float], start: float, end: float) -> tuple[Callable[[float], float], tuple[Tick, ...]]:
    """Returns an axis over whole decades, and a tick for each of them."""
    if not values:
        return (lambda _: start), ()
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + 1)
    axis = _linear(low, high, start, end)
    every = 1 + (high - low) // MOST_DECADES
    ticks = tuple(
        Tick(place(axis(decade)), numbers.dollars(Decimal(10) ** decade)) for decade in range(low, high + 1, every)
    )
    return (lambda value: axis(log10(value))), ticks


def _linear(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: start + (end - start) * (clip(value, low, high) - low) / (high - low)


def _spanned(dollars: tuple[Decimal, Decimal], axis: Callable[[Decimal], float]) -> Span | None:
    """Returns the span of a price of which only the ends are known."""
    least, most = (place(axis(end)) for end in dollars)
    return None if dollars[0] == dollars[1] else Span(least, most, start_closed=True, end_closed=True)


def _low(accuracy: Estimate) -> float:
    low = accuracy.interval.low if accuracy.interval else None
    return min(0.99, accuracy.value if low is None else low)


def _stairs(steps: Sequence[tuple[float, float]]) -> str:
    """Returns the front as stairs: until the next one is paid for, no more can be had than the one before.

    What is dearer and not better as measured is on the front where it is not shown to be worse; the line passes it by.
    """
    points = [steps[0]]
    for x, y in steps[1:]:
        before = points[-1][1]
        points += [(x, before), (x, min(before, y))]
    return " ".join(f"{place(x)},{place(y)}" for x, y in points)


def _option_words(sign: str, dollars: tuple[Decimal, Decimal], accuracy: Estimate) -> str:
    least, most = (numbers.dollars(end) for end in dollars)
    cost = "free" if not dollars[1] else most if least == most else f"{least} to {most}"
    return f"{sign}: {cost}, balanced accuracy {numbers.rate(accuracy.value)} {_checks(accuracy)}"


def _curve_words(sign: str, curve: Sequence[tuple[float, Decimal | None]]) -> str:
    said = ", ".join(f"{numbers.dollars(dollars)} for ±{numbers.margin(width)}" for width, dollars in curve if dollars)
    return f"{sign}: {said}"
