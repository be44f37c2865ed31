"""What the judge does with pairs of equal quality, shown as one bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from umpirical.reports import numbers
from umpirical.reports.charts.drawing import CHAR_WIDTH, NotDrawn, clip, found, place
from umpirical.reports.record import EstimateRecord, MeasureRecord

BAR_LEFT, BAR_RIGHT, BAR_BOTTOM, ROW_HEIGHT = 4, 416, 44, 19

PARTS = (
    ("stable-cross-sensitivity", "stable cross-sensitivity"),
    ("positional-false-preference", "positional false preference"),
    ("one-sided-commit", "one-sided commit"),
    ("no-preference", "no preference"),
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar. A part with no pairs has a label but no width."""

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


@dataclass(frozen=True, slots=True)
class Shares:
    """The parts of a decomposition that adds up: name, words and number of pairs."""

    parts: tuple[tuple[str, str, float], ...]
    total: int


def decomposition(measures: Sequence[MeasureRecord]) -> Stack | NotDrawn:
    """Draws the Δ0 decomposition of one arm; pairs in none of its four parts are shown as a part of their own."""
    shares = equal_quality(measures)
    return shares if isinstance(shares, NotDrawn) else _stack(shares.parts, shares.total)


def equal_quality(measures: Sequence[MeasureRecord]) -> Shares | NotDrawn:
    """Returns the Δ0 decomposition of one arm, or why there is none to draw."""
    parts: list[tuple[str, str, float]] = []
    totals: set[int] = set()
    for name, words in PARTS:
        measure = found(measures, name)
        if measure is None or not isinstance(measure.result, EstimateRecord):
            state = "was not measured" if measure is None else "is undefined"
            return NotDrawn(f"The decomposition is not drawn: {words} {state}.")
        parts.append((name, words, measure.result.numerator))
        totals.add(measure.result.denominator)
    total = max(totals)
    rest = round(total - sum(size for _, _, size in parts), 6)
    if len(totals) > 1 or total <= 0 or not rest >= 0 or any(size < 0 for _, _, size in parts):
        return NotDrawn("The decomposition is not drawn: its parts do not add up to one number of pairs.")
    if rest > 0:
        parts.append(("rest", "in none of these", rest))
    return Shares(tuple(parts), total)


def _stack(parts: Sequence[tuple[str, str, float]], total: int) -> Stack:
    labels = [f"{numbers.count(size)} · {numbers.rate(size / total)} {words}" for _, words, size in parts]
    # Labels descend from right to left, so that a label running to the right crosses no other leader line.
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
        height=place(BAR_BOTTOM + 12 + ROW_HEIGHT * len(parts)),
    )


def _segment(part: str, start: float, width: float, *, label: str, row: int) -> Segment:
    middle = start + width / 2 if width else BAR_LEFT - 5
    length = CHAR_WIDTH * len(label)
    label_x, anchor = middle + 5, "start"
    if label_x + length > BAR_RIGHT:
        label_x, anchor = middle - 5, "end"
        if label_x < length:
            # It fits on neither side of its leader line, so it goes below.
            label_x, anchor = clip(middle, BAR_LEFT + length / 2, BAR_RIGHT - length / 2), "middle"
    return Segment(
        part=part,
        x=place(start),
        width=place(width) if width else None,
        middle=place(middle),
        label=label,
        label_x=place(label_x),
        label_y=place(BAR_BOTTOM + 20 + ROW_HEIGHT * row),
        leader_end=place(BAR_BOTTOM + (9 if anchor == "middle" else 16) + ROW_HEIGHT * row),
        anchor=anchor,
    )
