"""The rows that an estimate is about: what the judge said about each, and the label of those that have one."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from umpirical.datasets.readers import Row
from umpirical.datasets.spec import format_by_ending
from umpirical.datasets.values import is_missing, number_of, plain_text
from umpirical.datasets.verdicts.past_verdicts import UNCLEAR, choice_of, grade_of, table_rows, unclear
from umpirical.datasets.verdicts.tables import NAMES, chosen_columns
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.judgments import Abstained, Failed, Unparsed
from umpirical.domain.scales import Choice

Estimand = Literal["win-rate", "pass-rate", "mean-score"]

ESTIMANDS: dict[Estimand, str] = {
    "win-rate": "share of pairs won (a tie counts as half)",
    "pass-rate": "share of rows that pass",
    "mean-score": "mean score on a numeric scale",
}

COLUMNS = {
    "verdict": NAMES["verdict"],
    "label": NAMES["label"],
    "item": NAMES["item"],
    "cluster": ("cluster",),
    "system": ("system",),
}
"""What columns are called, by role. Clusters and systems change what is computed, so they are guessed by one name."""

MOST_SYSTEMS = 1_000

WINS, LOSSES, HALVES = frozenset({"win", "won"}), frozenset({"loss", "lose", "lost", "0"}), frozenset({"0.5", ".5"})
PASSES = frozenset({"pass", "passed", "true", "yes", "correct", "c", "1"})
FAILS = frozenset({"fail", "false", "no", "incorrect", "i", "0"})

NoVerdict = Abstained | Unparsed | Failed


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """What a person says about a file."""

    estimand: Estimand
    columns: Mapping[str, str]
    """Maps a role to its column; the others are guessed by name."""
    low: float = 0.0
    high: float = 1.0
    """The ends of the scale of a mean score."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One row: scores lie between 0 and 1."""

    score: float | None
    """What the judge said; None if that is no verdict."""
    label: float | None
    """What a person said; None if nobody did."""
    cluster: str
    why_not: str = ""
    """Why there is no verdict: abstained, unparsed or failed."""


@dataclass(frozen=True, slots=True)
class TargetFile:
    """Everything that a file holds."""

    name: str
    sha256: str
    columns: dict[str, str]
    systems: dict[str, list[JudgedRow]]
    """The rows of each system; one without a name if there is no such column."""

    @property
    def rows(self) -> int:
        return sum(map(len, self.systems.values()))


def read_target(path: Path, spec: TargetSpec) -> TargetFile:
    """Reads the rows of a table (CSV, JSON Lines, Parquet) within the limits of a file of verdicts.

    A verdict that cannot be read is counted as such. A label that is not on the scale is an error, with its place: a
    label is a person's word, and dropping some of them would choose among the labels.
    """
    form = _format(path)
    before = _sha256(path)
    # Read twice, so that a million rows are never in memory as they stand in the file.
    known = list(dict.fromkeys(column for row in table_rows(path, form) for column in row.values))
    if not known:
        raise ConfigError("the file has no rows", where=path.name, fix="check that it is the right file")
    columns = chosen_columns(spec.columns, known, COLUMNS, required=("verdict",), name=path.name)
    systems: dict[str, list[JudgedRow]] = {}
    seen: dict[tuple[str, str], str] = {}
    losses: dict[str, set[str]] = {"verdict": set(), "label": set()}
    for row in table_rows(path, form):
        system = _text(row, columns, "system")
        _check_once(row, columns, system, seen)
        for role, words in losses.items():
            words.update({_word(row.values.get(columns.get(role, "")))} & {"0", "2"})
        systems.setdefault(system, []).append(_judged(row, columns, spec))
    _check_systems(systems, columns, path.name)
    if spec.estimand == "win-rate":
        _check_losses(losses, columns, path.name)
    if _sha256(path) != before:
        raise UsageError(f"{path.name} changed while it was being read", fix="run the same command again")
    return TargetFile(path.name, before, columns, systems)


def _format(path: Path) -> str:
    if not path.is_file():
        raise UsageError(f"{path} does not exist or is not a file", fix="name a table of verdicts")
    if (found := format_by_ending(path.name)) is None:
        raise UsageError(f"{path.name}: unknown file ending", fix="use a .csv, .jsonl or .parquet file")
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _text(row: Row, columns: Mapping[str, str], role: str) -> str:
    value = row.values.get(columns[role]) if role in columns else None
    return "" if is_missing(value) else plain_text(value)


def _check_once(row: Row, columns: Mapping[str, str], system: str, seen: dict[tuple[str, str], str]) -> None:
    """Raises if an item has come before: rows that repeat each other are no independent evidence."""
    if "item" not in columns:
        return
    if not (item := _text(row, columns, "item")):
        raise ConfigError("the item is empty", where=row.place, fix="fill it in, or name another column with --item")
    if (first := seen.setdefault((system, item), row.place)) != row.place:
        fix = (
            "keep one row for each item. If rows only belong together, name that column with --cluster instead of "
            "--item"
        )
        raise ConfigError(f"item {item!r:.80} appears twice, first at {first}", where=row.place, fix=fix)


def _check_systems(systems: Mapping[str, object], columns: Mapping[str, str], name: str) -> None:
    if len(systems) > MOST_SYSTEMS:
        raise UsageError(f"{name}: more than {MOST_SYSTEMS:,} systems", fix="check the column named with --system")
    if "system" in columns and "" in systems:
        raise UsageError(f"{name}: a row has no system", fix=f"fill in the column {columns['system']}")


def _check_losses(losses: Mapping[str, set[str]], columns: Mapping[str, str], name: str) -> None:
    """Raises for a column with both 0 and 2, which would both be read as a loss: it is a grade, or counts positions."""
    for role, words in losses.items():
        if len(words) > 1:
            fix = "write win, tie and loss; for grades, use --estimate mean-score --scale 0..2"
            raise UsageError(f"{name}, column {columns[role]}: it is unclear whether 0 or 2 means a win", fix=fix)


def _judged(row: Row, columns: Mapping[str, str], spec: TargetSpec) -> JudgedRow:
    cluster = _text(row, columns, "cluster")
    if "cluster" in columns and not cluster:
        raise ConfigError("the cluster is empty", where=row.place, fix=f"fill in the column {columns['cluster']}")
    score = _score(row.values.get(columns["verdict"]), spec, row.place)
    label = _label(row.values.get(columns["label"]), spec, row.place) if "label" in columns else None
    if isinstance(score, float):
        return JudgedRow(score, label, cluster)
    return JudgedRow(None, label, cluster, type(score).__name__.casefold())


def _label(value: object, spec: TargetSpec, place: str) -> float | None:
    if is_missing(value):
        return None
    found = _score(value, spec, place)
    if isinstance(found, float):
        return found
    scale = {
        "win-rate": "win, tie, loss",
        "pass-rate": "pass, fail",
        "mean-score": f"a number from {spec.low:g} to {spec.high:g}",
    }[spec.estimand]
    fix = "correct it, or leave the cell empty if there is no label"
    raise ConfigError(f"the label {plain_text(value)!r:.60} is not on the scale ({scale})", where=place, fix=fix)


def _score(value: object, spec: TargetSpec, place: str) -> float | NoVerdict:
    match spec.estimand:
        case "win-rate":
            return _win(value)
        case "pass-rate":
            return _pass(value, place)
        case "mean-score":
            return _number(value, spec)


def _win(value: object) -> float | NoVerdict:
    word = _word(value)
    if word in WINS or word in LOSSES or word in HALVES:
        return 0.5 if word in HALVES else float(word in WINS)
    found = choice_of(word or value)
    if isinstance(found, Choice):
        return {Choice.POSITION_1: 1.0, Choice.POSITION_2: 0.0, Choice.TIE: 0.5}[found]
    assert not isinstance(found, str)  # noqa: S101  # a choice or none
    return found


def _pass(value: object, place: str) -> float | NoVerdict:
    word = _word(value)
    if word in UNCLEAR:
        raise unclear(word, place)
    if word in PASSES or word in FAILS:
        return float(word in PASSES)
    found = grade_of(value)
    return Unparsed(found, "neither pass nor fail") if isinstance(found, str) else _none(found)


def _number(value: object, spec: TargetSpec) -> float | NoVerdict:
    found = grade_of(value)
    if not isinstance(found, str):
        return _none(found)
    number = number_of(found)
    if number is None or not spec.low <= number <= spec.high:
        return Unparsed(found[:400], "not a number on the scale")
    return (number - spec.low) / (spec.high - spec.low)


def _none(found: object) -> NoVerdict:
    assert isinstance(found, Abstained | Unparsed | Failed)  # noqa: S101  # a grade is text
    return found


def _word(value: object) -> str:
    """Returns a value as a word: 1.0 is 1, as programs store whole numbers beside missing ones."""
    if is_missing(value) or not isinstance(value, bool | int | float | str):
        return ""
    word = plain_text(value).strip().casefold()
    number = number_of(word)
    return word if number is None else f"{number:g}"
