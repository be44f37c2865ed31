"""What judges do with pairs of equal quality: one bar for each judge and prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from umpirical.protocols.datasheet.charts.plane import Marked
from umpirical.protocols.datasheet.charts.stack import PARTS, Shares, equal_quality
from umpirical.reports import numbers
from umpirical.reports.charts.drawing import NotDrawn, place

LEFT, RIGHT, TOP, HEIGHT, STEP = 92, 416, 6, 18, 25


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


@dataclass(frozen=True, slots=True)
class Bars:
    """The decomposition of several judges."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    bars: tuple[Bar, ...]
    height: str
    parts: tuple[tuple[str, str], ...]
    missing: str


def equal_quality_bars(judges: Sequence[Marked]) -> Bars | NotDrawn:
    """Draws a bar for each judge and prompt whose decomposition adds up; the sign of a bar is that of its judge."""
    found = [(judge.sign, equal_quality(judge.measures)) for judge in judges]
    drawn = [(sign, shares) for sign, shares in found if isinstance(shares, Shares)]
    if not drawn:
        return NotDrawn("The bars are not drawn: no judge has the four parts.")
    bars = tuple(_bar(sign, shares, row) for row, (sign, shares) in enumerate(drawn))
    rest = any(name == "rest" for _, shares in drawn for name, _, _ in shares.parts)
    return Bars(
        title="Pairs of equal quality, by what each judge did with them",
        desc="; ".join(f"{bar.label}: {bar.words}" for bar in bars),
        bars=bars,
        height=place(TOP + STEP * len(bars)),
        parts=(*PARTS, *([("rest", "in none of these")] if rest else [])),
        missing=", ".join(sign for sign, shares in found if isinstance(shares, NotDrawn)),
    )


def _bar(sign: str, shares: Shares, row: int) -> Bar:
    start, parts = float(LEFT), []
    for name, _, size in shares.parts:
        width = (RIGHT - LEFT) * size / shares.total
        if width:
            parts.append(BarPart(name, place(start), place(width)))
        start += width
    top = TOP + STEP * row
    said = ", ".join(f"{numbers.count(size)} {words}" for _, words, size in shares.parts)
    words = f"of {numbers.count(shares.total)}: {said}"
    return Bar(sign, place(top), place(top + HEIGHT / 2 + 4), tuple(parts), words)
