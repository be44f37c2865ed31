"""The chart of the grades that a `grade` judge gave to answers of each quality."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import ClassVar

from umpirical.protocols.datasheet.record import GradeRow
from umpirical.reports import numbers
from umpirical.reports.charts.drawing import NotDrawn, Tick, place

LEFT, RIGHT, TOP, BOTTOM = 40, 412, 16, 226
MOST_TICKS = 12


@dataclass(frozen=True, slots=True)
class LevelGrades:
    """The answers of one quality."""

    level: float
    answers: int
    mean: float
    shares: dict[float, float]
    """Shares of the answers, by grade."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """A share of the answers of one quality; its area is the share."""

    x: str
    y: str
    r: str
    words: str


@dataclass(frozen=True, slots=True)
class GradeChart:
    """Grades over quality, with a line through the mean of each quality."""

    drawn: ClassVar[bool] = True
    title: str
    desc: str
    bubbles: tuple[Bubble, ...]
    means: str
    """The line through the means, as points."""
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def levels(rows: Sequence[GradeRow]) -> list[LevelGrades]:
    """Returns the grades by quality, lowest first. Blank answers have no quality to grade; dark current covers them."""
    grades: dict[float, dict[float, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        if row.family != "vacuum" and row.answers > 0 and isfinite(row.level) and isfinite(row.score):
            grades[row.level][row.score] += row.answers
    return [_level(level, grades[level]) for level in sorted(grades)]


def grade_chart(rows: Sequence[GradeRow]) -> GradeChart | NotDrawn:
    """Draws the chart of one arm."""
    found = levels(rows)
    if not found:
        return NotDrawn("The grades are not drawn: the record holds none by quality.")
    top_level, top_score = max(1.0, found[-1].level), max(1.0, *(score for one in found for score in one.shares))
    least = min(0.0, *(score for one in found for score in one.shares))

    def x(level: float) -> float:
        return LEFT + 14 + (RIGHT - LEFT - 28) * level / top_level

    def y(score: float) -> float:
        return BOTTOM - 12 - (BOTTOM - TOP - 24) * (score - least) / (top_score - least)

    step = max(1, ceil((top_score - least) / MOST_TICKS))
    ticks = range(ceil(least), int(top_score) + 1, step)
    return GradeChart(
        title="Grades by quality",
        desc="; ".join(f"{numbers.step(one.level)} met: mean grade {numbers.latent(one.mean)}" for one in found),
        bubbles=tuple(
            Bubble(place(x(one.level)), place(y(score)), place(11 * sqrt(part)), _words(one, score, part))
            for one in found
            for score, part in one.shares.items()
        ),
        means=" ".join(f"{place(x(one.level))},{place(y(one.mean))}" for one in found),
        x_ticks=tuple(Tick(place(x(level)), str(level)) for level in range(int(top_level) + 1)),
        y_ticks=tuple(Tick(place(y(score)), str(score)) for score in ticks),
    )


def _level(level: float, grades: dict[float, int]) -> LevelGrades:
    answers = sum(grades.values())
    mean = sum(score * count for score, count in grades.items()) / answers
    return LevelGrades(level, answers, mean, {score: grades[score] / answers for score in sorted(grades)})


def _words(one: LevelGrades, score: float, part: float) -> str:
    return f"{numbers.step(one.level)} met, grade {numbers.step(score)}: {numbers.rate(part)} of answers"
