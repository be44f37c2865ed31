"""Cost and accuracy: options as points, and what a narrower interval costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor, log10
from typing import ClassVar, Literal

from umpirical.protocols.datasheet.charts.ladders import spread_labels
from umpirical.protocols.datasheet.charts.plane import PlaneLabel, PlanePoint, point_labels
from umpirical.reports import numbers
from umpirical.reports.charts.drawing import NotDrawn, Span, Tick, clip, place, span
from umpirical.reports.record import EstimateRecord

LEFT, RIGHT, TOP, BOTTOM = 54, 354, 12, 272
FREE_WIDTH = 44
"""Of the column for what is free: a logarithm has no place for 0."""
FLAT_LEFT, FLAT_RIGHT, FLAT_TOP, FLAT_BOTTOM = 60, 384, 8, 218
MOST_DECADES = 4
"""With more, only some of them have a tick."""

Mark = Literal["judge", "readout", "jury"]


@dataclass(frozen=True, slots=True)
class Priced:
    """One option, as it is drawn."""

    sign: str
    style: int
    mark: Mark
    front: bool
    dollars: tuple[Decimal, Decimal] | None
    """For 1,000 verdicts, at least and at most; None if not known."""
    accuracy: EstimateRecord | None
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


@dataclass(frozen=True, slots=True)
class CostPlane:
    """Options by price, on a logarithmic axis, and by balanced accuracy."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    points: tuple[CostPoint, ...]
    labels: tuple[PlaneLabel, ...]
    front: str
    """The steps of the front, as points of a line; empty with fewer than two."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
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


@dataclass(frozen=True, slots=True)
class CostCurves:
    """Dollars by the width of the interval."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    curves: tuple[CostCurve, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    missing: str


def cost_plane(options: Sequence[Priced], *, baseline: float) -> CostPlane | NotDrawn:
    """Draws every option whose price and accuracy are known. What is free has a column of its own, left of the axis."""
    known = [
        (one, one.dollars, one.accuracy) for one in options if one.dollars is not None and one.accuracy is not None
    ]
    if not known:
        return NotDrawn("Cost and accuracy are not drawn: of nothing that could be taken are both known.")
    if not any(dollars[1] for _, dollars, _ in known):
        return NotDrawn("Cost and accuracy are not drawn: everything whose price is known is free.")
    paid = [float(end) for _, dollars, _ in known for end in dollars if end > 0]
    free = any(not dollars[1] for _, dollars, _ in known)
    x, ticks = _log_axis(paid, LEFT + (FREE_WIDTH if free else 0), RIGHT)
    floor_at = floor(4 * min(_low(accuracy) for _, _, accuracy in known)) / 4
    y = _linear(floor_at, 1.0, BOTTOM, TOP)

    def across(dollars: Decimal) -> float:
        return x(float(dollars)) if dollars > 0 else LEFT + FREE_WIDTH / 2 if free else LEFT

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
        title="Balanced accuracy by dollars for 1,000 verdicts",
        desc="; ".join(_words(one.sign, dollars, accuracy) for one, dollars, accuracy in known),
        points=tuple(points),
        labels=tuple(point_labels(marks)),
        front=_stairs(steps) if len(steps) > 1 else "",
        x_ticks=(*((Tick(place(LEFT + FREE_WIDTH / 2), "free"),) if free else ()), *ticks),
        y_ticks=tuple(Tick(place(y(value)), numbers.step(value)) for value in quarters),
        free=free,
        baseline=place(y(baseline)) if floor_at <= baseline else None,
        missing=", ".join(one.sign for one in options if one.dollars is None or one.accuracy is None),
    )


def cost_curves(judges: Sequence[Priced]) -> CostCurves | NotDrawn:
    """Draws what the interval of each judge's accuracy costs, by its width, for the judges that cost anything."""
    drawn = [(one, [(width, dollars) for width, dollars in one.curve if dollars]) for one in judges]
    drawn = [(one, curve) for one, curve in drawn if curve]
    if not drawn:
        return NotDrawn("Cost curves are not drawn: no judge has a price that is known and not 0.")
    widths = sorted({width for _, curve in drawn for width, _ in curve}, reverse=True)
    at = {
        width: FLAT_LEFT + 20 + (FLAT_RIGHT - FLAT_LEFT - 40) * number / max(1, len(widths) - 1)
        for number, width in enumerate(widths)
    }
    y, ticks = _log_axis([float(dollars or 0) for _, curve in drawn for _, dollars in curve], FLAT_BOTTOM, FLAT_TOP)
    lines = [[(place(at[width]), place(y(float(dollars or 0)))) for width, dollars in curve] for _, curve in drawn]
    heights = spread_labels([float(line[-1][1]) for line in lines])
    return CostCurves(
        title="Dollars by the half-width of the interval of balanced accuracy",
        desc="; ".join(_curve_words(one.sign, curve) for one, curve in drawn),
        curves=tuple(
            CostCurve(one.sign, one.style, tuple(line), " ".join(map(",".join, line)), line[-1][1], place(height))
            for (one, _), line, height in zip(drawn, lines, heights, strict=True)
        ),
        x_ticks=tuple(Tick(place(at[width]), f"±{numbers.ratio(width)}") for width in widths),
        y_ticks=ticks,
        missing=", ".join(one.sign for one in judges if one.sign not in {each.sign for each, _ in drawn}),
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


def _low(accuracy: EstimateRecord) -> float:
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


def _words(sign: str, dollars: tuple[Decimal, Decimal], accuracy: EstimateRecord) -> str:
    least, most = (numbers.dollars(end) for end in dollars)
    cost = "free" if not dollars[1] else most if least == most else f"{least} to {most}"
    ends = accuracy.interval
    limits = "without an interval" if ends is None else numbers.interval(ends.low, ends.high)
    return f"{sign}: {cost}, balanced accuracy {numbers.rate(accuracy.value)} {limits}"


def _curve_words(sign: str, curve: Sequence[tuple[float, Decimal | None]]) -> str:
    said = ", ".join(f"{numbers.dollars(dollars)} for ±{numbers.ratio(width)}" for width, dollars in curve if dollars)
    return f"{sign}: {said}"
