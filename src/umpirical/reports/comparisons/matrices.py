"""Each judge against each: for one measure, and over all limits together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.reports import numbers
from umpirical.reports.comparisons.record import DifferenceRecord
from umpirical.reports.comparisons.words import Words
from umpirical.reports.record import EstimateRecord

Sense = Literal["better", "worse", "equivalent", "differs", "undecided", "not comparable"]

SIGNS: dict[Sense, str] = {
    "better": "▲",
    "worse": "▼",
    "equivalent": "=",
    "differs": "≠",
    "undecided": "?",
    "not comparable": "–",
}
"""What a cell shows beside its number, and never the colour alone."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The judge of the row against that of the column."""

    sense: Sense
    sign: str
    value: str
    """The row's value less the column's; empty if there is none."""
    words: str
    """Everything that the cell says, in words."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """One measure, each judge against each."""

    title: str
    about: str
    part: str
    worse: str
    margin: str
    summary: str
    rows: list[list[Cell | None]]
    """None for a judge against itself, and for two that were not compared."""


@dataclass(frozen=True, slots=True)
class Tally:
    """In how many limits the judge of the row is better than that of the column, and so on."""

    better: int
    worse: int
    equivalent: int
    undecided: int


@dataclass(frozen=True, slots=True)
class Overview:
    """All limits together, each judge against each."""

    rows: list[list[Tally | None]]


def matrices(differences: Sequence[DifferenceRecord], judges: int) -> list[Matrix]:
    """Returns a matrix for every measure and part of the design, in the order of the rows."""
    groups: dict[tuple[str, str], list[DifferenceRecord]] = {}
    for one in differences:
        groups.setdefault((one.measure, one.stratum), []).append(one)
    return [_matrix(rows, judges) for rows in groups.values()]


def overview(differences: Sequence[DifferenceRecord], judges: int) -> Overview:
    """Returns how often each judge is better, worse and so on than each other one."""
    rows: list[list[Tally | None]] = [[None] * judges for _ in range(judges)]
    for row in range(judges):
        for column in range(judges):
            senses = Counter(_sense(one, row) for one in differences if {one.first, one.second} == {row, column})
            if senses:
                rest = sum(senses.values()) - senses["better"] - senses["worse"] - senses["equivalent"]
                rows[row][column] = Tally(senses["better"], senses["worse"], senses["equivalent"], rest)
    return Overview(rows)


def _matrix(differences: Sequence[DifferenceRecord], judges: int) -> Matrix:
    one = differences[0]
    rows: list[list[Cell | None]] = [[None] * judges for _ in range(judges)]
    for each in differences:
        rows[each.first][each.second] = _cell(each, each.first)
        rows[each.second][each.first] = _cell(each, each.second)
    told = sum(each.words in {"first better", "second better", "differs"} for each in differences)
    level = sum(each.words == "equivalent" for each in differences)
    return Matrix(
        title=one.title,
        about=one.about,
        part=numbers.part(one.stratum) if one.stratum else "",
        worse=one.worse,
        margin=numbers.ratio(one.margin),
        summary=f"{numbers.count(told)} told apart, {numbers.count(level)} equivalent, "
        f"{numbers.count(len(differences) - told - level)} undecided",
        rows=rows,
    )


def _cell(one: DifferenceRecord, row: int) -> Cell:
    sense = _sense(one, row)
    if not isinstance(one.difference, EstimateRecord):
        return Cell(sense, SIGNS[sense], "", f"{sense}: {one.difference.reason}")
    turn = 1 if row == one.second else -1
    value, ends = turn * one.difference.value, one.difference.interval
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    low, high = (low, high) if turn > 0 else (_minus(high), _minus(low))
    said = [sense, f"difference {numbers.difference(value)} {numbers.scaled_interval(low, high, 'difference')}"]
    said += [] if one.adjusted_p is None else [f"corrected {numbers.p_value(one.adjusted_p)}"]
    said += [] if one.sign_flip_p is None else [f"sign-flip {numbers.p_value(one.sign_flip_p)}"]
    return Cell(sense, SIGNS[sense], numbers.shift(value), ", ".join(said))


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _sense(one: DifferenceRecord, row: int) -> Sense:
    """Returns the words on a difference as the judge of the row would hear them."""
    senses: dict[Words, Sense] = {
        "first better": "better" if row == one.first else "worse",
        "second better": "better" if row == one.second else "worse",
        "first ahead": "undecided",
        "second ahead": "undecided",
        "equivalent": "equivalent",
        "differs": "differs",
        "undecided": "undecided",
        "not comparable": "not comparable",
    }
    return senses[one.words]
