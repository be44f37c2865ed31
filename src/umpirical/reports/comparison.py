"""The engine of every comparison: paired differences between judges on the same units, and their significance.

Judges are named by their place in the list of a comparison, from 0. A difference is the second value minus the first. A
row that a check or a test decides by is primary: it is significant if it survives Holm's correction. Every other row is
exploratory: Benjamini and Hochberg's correction separates hints from noise, and the next comparison has to confirm a
hint. A protocol says which runs it compares, which rows are primary, and what its page shows.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeInt

from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Interval, Result
from umpirical.measures.catalogue import Scale
from umpirical.measures.contrasts import Contrast
from umpirical.reports import numbers
from umpirical.reports.record import MeasureRecord, ResultRecord, Strict
from umpirical.reports.significance import LEVEL, difference_p, false_discoveries, holm
from umpirical.runs.run import Run, open_run

Family = Literal["primary", "exploratory"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What one row's difference is worth among all rows."""

    family: Family
    p_value: float | None
    """Of no difference, the row taken alone; None if it has no interval."""
    adjusted_p: float | None
    """The same for the row among those of its family."""

    @property
    def shown(self) -> bool:
        return self.adjusted_p is not None and self.adjusted_p < LEVEL


def standings(
    differences: Sequence[Result],
    primary: Sequence[bool],
    *,
    never: Sequence[bool] | None = None,
) -> list[Standing]:
    """Returns the standing of every difference; `primary` says which of them belong to the policy's checks.

    Rows that cannot differ (`never`) are not tested, and do not count among those that the others are corrected for.

    Reference: R. E. Tarone, A modified Bonferroni method for discrete data, Biometrics 46 (1990).
    """
    tested = [
        isinstance(one, Estimate) and not fixed
        for one, fixed in zip(differences, never or [False] * len(differences), strict=True)
    ]
    found = [
        difference_p(one) if use and isinstance(one, Estimate) else None
        for one, use in zip(differences, tested, strict=True)
    ]
    first = iter(holm([p for p, named in zip(found, primary, strict=True) if named]))
    rest = iter(false_discoveries([p for p, named in zip(found, primary, strict=True) if not named]))
    return [
        Standing("primary", p, next(first)) if named else Standing("exploratory", p, next(rest))
        for p, named in zip(found, primary, strict=True)
    ]


def one_way_everywhere(p_values: Sequence[float | None]) -> bool:
    """Whether every row is shown, each at its own level, given that all of them lie the same way.

    A claim about all rows at once is wrong as soon as one of them is, so each row's test at the level is a test of the
    whole claim at that level, and none is corrected.

    Reference: R. L. Berger, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24 (1982): the
    intersection-union test.
    """
    return bool(p_values) and all(p is not None and p < LEVEL for p in p_values)


Words = Literal[
    "first better",
    "second better",
    "first ahead",
    "second ahead",
    "equivalent",
    "differs",
    "undecided",
    "not comparable",
]
"""`better`: shown in a row of the primary family; `ahead`: a hint in any other row; `differs`: either of them, in a
measure for which neither direction is better; `equivalent`: shown to be within the margin; `undecided`: nothing shown.
"""

Worse = Literal["higher", "lower", "depends"]

MARGINS: Mapping[Scale, float] = {"rate": 0.05}
"""The difference that does not matter, by the scale of a measure. Only shares are compared pair by pair."""

NARROWER: Mapping[str, float] = {"unparsed-rate": 0.02, "failure-rate": 0.02}
"""Margins of single measures: where the usual check is 0.02, a difference of 0.05 matters."""


def margin_of(measure: str, scale: Scale, given: float | None = None) -> float:
    """Returns the margin of a measure; `given` is what a person chose for all of them."""
    return given if given is not None else NARROWER.get(measure, MARGINS.get(scale, MARGINS["rate"]))


def refuse_margin(given: float | None) -> None:
    """Raises UsageError for a margin that no difference of two shares can have."""
    if given is not None and not 0 < given < 1:
        raise UsageError(f"invalid margin {given:g}", fix="give a share between 0 and 1, such as 0.05 for 5 points")


def words_on(  # noqa: PLR0911  # one line for each of the words
    difference: Result,
    worse: Worse,
    standing: Standing,
    *,
    narrow: Interval | None,
    margin: float,
    missing: tuple[float, float],
) -> Words:
    """Returns what a difference, the second less the first, comes to.

    `narrow` is its 90 % interval, and `missing` the shares of both judges' units without an answer. What is missing
    never helps: equivalence has to hold however those units would have come out, and a judge is not called better by
    less than its own missing share.
    """
    if not isinstance(difference, Estimate):
        return "not comparable"
    if _within(narrow, margin - sum(missing)):
        return "equivalent"
    if not standing.shown:
        return "undecided"
    if worse == "depends":
        return "differs"
    first = (difference.value > 0) == (worse == "higher")
    if abs(difference.value) <= missing[0 if first else 1]:
        return "undecided"
    if standing.family == "primary":
        return "first better" if first else "second better"
    return "first ahead" if first else "second ahead"


OF_RUN = 6
"""Characters of a run's id that tell it from another one of the same judge."""

STYLES = 12
"""Ways of drawing a judge: six colours, each with an unbroken and with a dashed line. The name is what tells."""

MOST_JUDGES = 26
"""On a card, which is one screen. More are in the JSON record."""


def open_runs(folders: Sequence[Path]) -> list[Run]:
    """Opens the runs to compare, each once."""
    return [open_run(folder) for folder in dict.fromkeys(folder.resolve() for folder in folders)]


def refuse_one_run(runs: Sequence[Run]) -> None:
    if len(runs) < 2:
        raise UsageError("a comparison needs at least two runs", fix="name another run or a study with several judges")


def refuse_other_stimuli(runs: Sequence[Run]) -> None:
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(run.stimuli.digest, []).append(run.name)
    if len(groups) > 1:
        said = "; ".join(f"{digest[:12]}: {', '.join(names)}" for digest, names in groups.items())
        raise UsageError(
            f"the runs have different test cases: {said}",
            fix="name runs of one group, or measure all judges with the same tasks, size and seed",
        )


def refuse_unknown_places(places: Sequence[int], judges: int) -> None:
    """Raises ValueError if a record names a judge by a place that it does not have."""
    if (last := max(places, default=0)) >= judges:
        raise ValueError(f"there are only {judges} judges, but the record refers to place {last}")


def comparison_folder(runs: Sequence[str], *, noun: str = "judges") -> str:
    """Returns the name of the folder for a comparison of runs: the same for the same runs in the same order."""
    if len(runs) == 2:
        return "-".join(runs)
    return f"{len(runs)}-{noun}-{hashlib.sha256('|'.join(runs).encode()).hexdigest()[:12]}"


def labels(judges: Iterable[tuple[str, str]]) -> list[str]:
    """Names judges, given the name of each and what tells it from another one of that name.

    >>> labels([("careful", "8eac1e"), ("coin", "244005"), ("careful", "d816bb")])
    ['careful (8eac1e)', 'coin', 'careful (d816bb)']
    """
    pairs = [*judges]
    often = Counter(name for name, _ in pairs)
    return [name if often[name] == 1 else f"{name} ({other})" for name, other in pairs]


def _within(narrow: Interval | None, margin: float) -> bool:
    if narrow is None or narrow.low is None or narrow.high is None:
        return False
    return -margin <= narrow.low and narrow.high <= margin


Place = NonNegativeInt


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One measure of two judges, on the units that both answered."""

    measure: str
    variant: str
    stratum: str
    difference: Result
    """The second value less the first."""
    first: int = 0
    second: int = 1
    narrow: Interval | None = None
    """The 90 % interval of the difference."""
    sign_flip_p: float | None = None
    missing: tuple[float, float] = (0.0, 0.0)
    """Shares of both judges' units that have no answer."""
    never: bool = False
    """Whether it cannot differ: neither judge had any event, or nothing but events."""


class DifferenceRecord(Strict):
    """One measure of two judges, and their difference."""

    first: Place
    second: Place
    measure: str
    title: str
    about: str
    worse: Worse = Field(description="As in the policy's check, if it has one on this measure.")
    scale: Scale
    variant: str
    stratum: str
    difference: ResultRecord = Field(description="The second minus the first, on the same pairs.")
    equivalence: Interval | None = Field(description="The interval that must lie within the margin.")
    margin: float = Field(description="The largest difference that does not matter, in either direction.")
    missing: tuple[float, float] = Field(description="Share of each judge's units without an answer.")
    family: Family = Field(description="Primary if a policy checks it, under the judges' own prompts.")
    p_value: float | None = Field(description="Of no difference, for this row alone.")
    adjusted_p: float | None = Field(description="Corrected over all rows of its family and all pairs of judges.")
    sign_flip_p: float | None = Field(description="If the two judges could be exchanged within each task family.")
    words: Words


def paired_differences(contrasts: Iterator[Contrast], first: int, second: int) -> Iterator[PairedDifference]:
    """Yields what two judges differ by, each with its interval for equivalence and its sign-flip test."""
    for contrast in contrasts:
        measure = contrast.measure
        yield PairedDifference(
            measure.name,
            measure.variant,
            measure.stratum,
            measure.result,
            first,
            second,
            narrow=contrast.narrow(),
            sign_flip_p=contrast.sign_flip_p(),
            missing=contrast.missing,
            never=contrast.never,
        )


@dataclass(frozen=True, slots=True)
class Row:
    """A difference that a protocol compares its judges by."""

    paired: PairedDifference
    primary: bool
    """Whether judges are called better or worse by it."""
    measured: MeasureRecord | None
    """The measure of one of the judges, for its title and meaning."""
    limited: Worse | None = None
    """The direction that a check calls worse."""


def recorded_differences(rows: Sequence[Row], margin: float | None) -> list[DifferenceRecord]:
    """Records the rows of a whole comparison: the primary ones are one family, and all others another.

    `margin` is what a person chose for all measures.
    """
    found = standings(
        [row.paired.difference for row in rows],
        [row.primary for row in rows],
        never=[row.paired.never for row in rows],
    )
    return [_recorded(row, standing, margin) for row, standing in zip(rows, found, strict=True)]


def _recorded(row: Row, standing: Standing, margin: float | None) -> DifferenceRecord:
    one, measured = row.paired, row.measured
    scale = measured.scale if measured else "rate"
    worse: Worse = row.limited or (measured.worse if measured else "depends")
    allowed = margin_of(one.measure, scale, margin)
    return DifferenceRecord(
        first=one.first,
        second=one.second,
        measure=one.measure,
        title=measured.title if measured else one.measure,
        about=measured.about if measured else "",
        worse=worse,
        scale=scale,
        variant=one.variant,
        stratum=one.stratum,
        difference=one.difference,
        equivalence=one.narrow,
        margin=allowed,
        missing=one.missing,
        family=standing.family,
        p_value=standing.p_value,
        adjusted_p=standing.adjusted_p,
        sign_flip_p=one.sign_flip_p,
        words=words_on(one.difference, worse, standing, narrow=one.narrow, margin=allowed, missing=one.missing),
    )


def told_apart(differences: Sequence[DifferenceRecord]) -> tuple[int, int, int]:
    """Returns how many differences are shown, how many are within the margin, and how many are undecided."""
    told = sum(winner(one) is not None for one in differences)
    level = sum(one.words == "equivalent" for one in differences)
    return told, level, len(differences) - told - level


def winner(one: DifferenceRecord) -> Place | None:
    """Returns the place of the judge that a row shows to be better."""
    return {"first better": one.first, "second better": one.second}.get(one.words)


Sense = Literal["better", "worse", "equivalent", "differs", "undecided", "not comparable"]

SIGNS: dict[Sense, str] = {
    "better": "▲",
    "worse": "▼",
    "equivalent": "=",
    "differs": "≠",
    "undecided": "?",
    "not comparable": "–",
}
"""What a cell shows beside its number, and never the color alone."""

WORDS: Mapping[str, str] = {"undecided": "inconclusive", "differs": "different"}
"""What people read, where that is not the name itself."""


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
    """In how many checks the judge of the row is better than that of the column, and so on."""

    better: int
    worse: int
    equivalent: int
    undecided: int

    @property
    def net(self) -> str:
        """In how many more checks it is better than worse."""
        return f"{self.better - self.worse:+d}".replace("-", "−").replace("+0", "0")

    @property
    def words(self) -> str:
        said = {
            "better": self.better,
            "worse": self.worse,
            "equivalent": self.equivalent,
            "inconclusive": self.undecided,
        }
        return ", ".join(f"{word} in {times}" for word, times in said.items())


@dataclass(frozen=True, slots=True)
class Overview:
    """All checks together, each judge against each."""

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
            senses = Counter(sense_of(one, row) for one in differences if {one.first, one.second} == {row, column})
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
        margin=numbers.margin(one.margin),
        summary=f"{numbers.count(told)} significant, {numbers.count(level)} equivalent, "
        f"{numbers.count(len(differences) - told - level)} inconclusive",
        rows=rows,
    )


def _cell(one: DifferenceRecord, row: int) -> Cell:
    sense = sense_of(one, row)
    if not isinstance(one.difference, Estimate):
        return Cell(sense, SIGNS[sense], "", f"{WORDS.get(sense, sense)}: {one.difference.reason}")
    turn = 1 if row == one.second else -1
    value, ends = turn * one.difference.value, one.difference.interval
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    low, high = (low, high) if turn > 0 else (_minus(high), _minus(low))
    said = [
        WORDS.get(sense, sense),
        f"difference {numbers.difference(value)} {numbers.scaled_interval(low, high, 'difference')}",
    ]
    said += [] if one.adjusted_p is None else [f"corrected {numbers.p_value(one.adjusted_p)}"]
    said += [] if one.sign_flip_p is None else [f"sign-flip {numbers.p_value(one.sign_flip_p)}"]
    return Cell(sense, SIGNS[sense], numbers.points(value), ", ".join(said))


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def sense_of(one: DifferenceRecord, row: int) -> Sense:
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
