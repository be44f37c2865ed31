"""What is in each column of a file that nobody has explained yet, and a first guess at what the columns mean."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from umpirical.datasets.readers import READERS, Source, format_of, missing_column
from umpirical.datasets.values import is_missing, number_of
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.scales import GradeScale

MOST_LABELS = 20
"""The most different values that a column of labels, or a stratum, may have."""

LONGEST_NAME = 80
"""The most characters that the name of a row may have."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What all rows hold in one column."""

    name: str
    rows: int
    """Rows of the whole file."""
    filled: int
    """Rows that have something in it."""
    readable: bool
    """Whether everything in it is text, a number or a boolean."""
    values: Mapping[str, int]
    """How often each value occurs, as a label would spell it; empty if there are more than a scale could have."""
    range: tuple[float, float] | None
    """Least and greatest, where all values are numbers."""
    longest: int
    """Characters of the longest value."""
    mean_length: float
    distinct: bool
    """Whether every row has a short value that no other row has."""


def profile_columns(path: Path) -> tuple[ColumnProfile, ...]:
    source = Source(path=path, name=path.name, written=str(path))
    table = READERS.get(format_of(path.name, path.parent)).open(source)
    columns = {name: _Column() for name in table.columns or ()}
    rows = 0
    for row in table.rows:
        rows += 1
        for name, value in row.values.items():
            columns.setdefault(name, _Column()).add(value)
    if not rows:
        raise ConfigError("the file has no rows", where=path.name, fix="check that it is the right file")
    return tuple(column.profile(name, rows) for name, column in columns.items())


class _Column:
    """A column while it is being read. What can no longer hold is dropped, so that little is kept in memory."""

    def __init__(self) -> None:
        self._filled = self._longest = self._length = 0
        self._readable = self._distinct = self._few = True
        self._values: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._range: tuple[float, float] | None = (float("inf"), float("-inf"))

    def add(self, value: object) -> None:
        if is_missing(value):
            return
        self._filled += 1
        if not isinstance(value, str | int | float):
            self._readable = False
            return
        text = _label_spelling(value)
        self._longest = max(self._longest, len(text))
        self._length += len(text)
        self._add_number(None if isinstance(value, bool) else number_of(text))
        self._add_distinct(text)
        if self._few:
            self._values[text] += 1
            self._few = len(self._values) <= MOST_LABELS

    def profile(self, name: str, rows: int) -> ColumnProfile:
        return ColumnProfile(
            name=name,
            rows=rows,
            filled=self._filled,
            readable=self._readable and self._filled > 0,
            values=dict(self._values) if self._few else {},
            range=self._range if self._filled else None,
            longest=self._longest,
            mean_length=self._length / self._filled if self._filled else 0.0,
            distinct=self._distinct and self._filled == rows,
        )

    def _add_number(self, number: float | None) -> None:
        if self._range is not None:
            low, high = self._range
            self._range = None if number is None else (min(low, number), max(high, number))

    def _add_distinct(self, text: str) -> None:
        if self._distinct:
            self._distinct = len(text) <= LONGEST_NAME and text not in self._seen
            self._seen.add(text)
            if not self._distinct:
                self._seen.clear()


def _label_spelling(value: str | float) -> str:
    """The spelling by which `label_text` would know it, on a scale made of the column's own values."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else repr(value)
    return str(value)


# The guess, and why. A person has the last word.

ColumnRole = Literal["response", "task", "label", "id", "rubric"]

PAIR_COLUMNS = frozenset({"chosen", "rejected"})
"""A file with one of them alone was probably meant to have both."""

ROLES: Mapping[ColumnRole, tuple[str, ...]] = {
    "label": ("label", "score", "grade", "rating", "verdict", "gold", "mark", "class", "consensus"),
    "rubric": ("rubric", "rubrics", "criteria"),
    "response": (
        *("response", "answer", "completion", "generation", "full_text", "essay", "text", "output", "submission"),
        "content",
    ),
    "task": (
        *("task", "adversarial_prompt", "prompt", "question", "assignment", "instruction", "request", "query"),
        *("problem", "input", "behavior_description", "behaviour_description", "behavior", "behaviour"),
    ),
    "id": ("id", "uid", "uuid", "key", "index", "idx"),
}
"""What columns are called, likeliest names first."""

LIKELY_LABELS = (
    "correct",
    "correctness",
    "pass",
    "passed",
    "quality",
    "human",
    "judgment",
    "judgement",
    "evaluation",
    "assessment",
    "annotation",
    "outcome",
    "result",
    "accepted",
    "acceptable",
    "valid",
    "category",
)
"""Names that labels have, and other columns too: they are looked for if no column has a clearer name."""

_NAME_LABEL = "name the label column with --label"

SHORT = 40
"""The most characters that a value of a stratum has."""

LEAST_TEXT = 20
"""The least average length, in characters, of a column that is taken for the responses by its length alone."""


@dataclass(frozen=True, slots=True)
class GuessedScale:
    """A scale, and what is not known about it."""

    scale: GradeScale
    because: str
    """What it was made from, in words."""
    ordered: bool
    """Whether the labels have an order of their own, and not only that of the alphabet."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a file was taken for."""

    rows: int
    columns: Mapping[ColumnRole, str]
    scale: GuessedScale
    because: Mapping[ColumnRole, str] = field(default_factory=dict)
    """Why each column was chosen, in words."""
    strata: tuple[str, ...] = ()
    """Columns with few short values each."""


def guess_dataset(path: Path, *, told: Mapping[ColumnRole, str]) -> Guess:
    """Looks at the whole file. `told` are columns that a person has named, and they are not questioned."""
    if len(set(told.values())) != len(told):
        raise UsageError("one column has two roles", fix="name a different column for each role")
    profiles = {profile.name: profile for profile in profile_columns(path)}
    for column in told.values():
        if column not in profiles:
            raise missing_column(column, profiles, where=path.name)
    columns: dict[ColumnRole, str] = {}
    because: dict[ColumnRole, str] = {}
    for role, choose in _CHOOSERS.items():
        free = [profile for profile in profiles.values() if profile.name not in (*columns.values(), *told.values())]
        found = (told[role], "you named it") if role in told else choose(free)
        if found is not None:
            columns[role], because[role] = found
    for role in ("label", "response"):
        if role not in columns:
            raise _not_found(role, path, profiles.values())
    taken = set(columns.values())
    label = profiles[columns["label"]]
    return Guess(
        rows=label.rows,
        columns={role: columns[role] for role in _WRITTEN if role in columns},
        scale=_scale(label, path),
        because=because,
        strata=tuple(name for name, profile in profiles.items() if name not in taken and _is_stratum(profile)),
    )


def _label(profiles: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    fit = [
        profile
        for profile in profiles
        if profile.readable and (2 <= len(profile.values) <= MOST_LABELS or (profile.range and not profile.values))
    ]
    if found := _by_name(ROLES["label"], fit, anywhere=True):
        return found
    if found := _by_name(LIKELY_LABELS, [profile for profile in fit if profile.values and profile.longest <= SHORT]):
        return found
    few = _with_few_values(fit)
    return (few[0], "the only column with a few short values") if len(few) == 1 else None


def _with_few_values(profiles: Iterable[ColumnProfile]) -> list[str]:
    """Columns that could hold labels, by their values. Tasks may be few and short too; their names give them away."""
    others: list[ColumnRole] = ["response", "task", "id", "rubric"]
    named = [word for role in others for word in ROLES[role]]
    return [profile.name for profile in profiles if _is_stratum(profile) and _by_name(named, [profile]) is None]


def _rubric(profiles: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    """A rubric for each row, as text or as a list of questions. One that all rows share belongs in a file."""
    return _by_name(
        ROLES["rubric"],
        [profile for profile in profiles if profile.filled == profile.rows and len(profile.values) != 1],
    )


def _response(profiles: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    texts = [profile for profile in profiles if profile.readable and profile.range is None]
    if found := _by_name(ROLES["response"], texts):
        return found
    longest = max(texts, key=lambda profile: profile.mean_length, default=None)
    if longest is None or longest.mean_length < LEAST_TEXT:
        return None
    return longest.name, "has the longest texts"


def _task(profiles: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    return _by_name(
        ROLES["task"], [profile for profile in profiles if profile.readable and profile.filled == profile.rows]
    )


def _id(profiles: Sequence[ColumnProfile]) -> tuple[str, str] | None:
    distinct = [profile for profile in profiles if profile.readable and profile.distinct and profile.rows > 1]
    if found := _by_name(ROLES["id"], distinct):
        return found
    # A number that happens to differ in each row is a measurement more often than a name.
    named = next((profile for profile in distinct if profile.range is None), None)
    return None if named is None else (named.name, "has a different short text in every row")


_CHOOSERS: Mapping[ColumnRole, Callable[[Sequence[ColumnProfile]], tuple[str, str] | None]] = {
    "label": _label,
    "rubric": _rubric,
    "response": _response,
    "task": _task,
    "id": _id,
}


_WRITTEN: tuple[ColumnRole, ...] = ("response", "task", "label", "id", "rubric")
"""The order in which columns are told."""


def _by_name(
    names: Sequence[str], profiles: Sequence[ColumnProfile], *, anywhere: bool = False
) -> tuple[str, str] | None:
    """The column whose name is most clearly one of `names`: it is one, ends in one, or (`anywhere`) contains one."""
    ranked = []
    for place, profile in enumerate(profiles):
        parts = _parts(profile.name)
        for number, word in enumerate(names):
            if "_".join(parts) == word:
                ranked.append((0, number, place))
            elif parts and parts[-1] == word:
                ranked.append((1, number, place))
            elif anywhere and word in parts:
                ranked.append((2, number, place))
    return (profiles[min(ranked)[2]].name, "from its name") if ranked else None


def _parts(name: str) -> list[str]:
    """The words of a column's name, without numbers: `humanScore_2` is human, score."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+", name)]


def _is_stratum(profile: ColumnProfile) -> bool:
    few = 2 <= len(profile.values) <= MOST_LABELS
    return profile.readable and few and profile.longest <= SHORT and 2 * len(profile.values) <= profile.filled


def _scale(profile: ColumnProfile, path: Path) -> GuessedScale:
    where = f"{path.name}: column {profile.name!r} has"
    if not profile.readable:
        raise UsageError(f"{where} no possible labels", fix=_NAME_LABEL)
    if len(profile.values) == 1:
        only = next(iter(profile.values))
        raise UsageError(f"{where} only one label, {only!r:.60}, so there is nothing to grade", fix=_NAME_LABEL)
    if profile.values:
        return _labelled(list(profile.values))
    if profile.range is None:
        raise UsageError(f"{where} more than {MOST_LABELS} different texts, so it cannot be a scale", fix=_NAME_LABEL)
    low, high = profile.range
    return GuessedScale(
        GradeScale("interval", low=low, high=high), "the lowest and highest number in the data", ordered=True
    )


def _labelled(labels: list[str]) -> GuessedScale:
    numbers = {label: number_of(label) for label in labels}
    ordered = None not in numbers.values()
    chosen = tuple(sorted(labels, key=lambda label: (numbers[label] or 0.0 if ordered else 0.0, label)))
    because = "in numeric order" if ordered else "in alphabetical order"
    if len(chosen) == 2:
        return GuessedScale(GradeScale("binary", chosen), f"two labels, {because}", ordered=ordered)
    return GuessedScale(GradeScale("ordinal" if ordered else "nominal", chosen), because, ordered=ordered)


def _not_found(role: ColumnRole, path: Path, profiles: Iterable[ColumnProfile]) -> UsageError:
    columns = list(profiles)
    names = ", ".join(profile.name for profile in columns)
    wanted = {
        "label": "labels, recognized by name or as the only column with few values",
        "response": "responses: text",
    }[role]
    few = _with_few_values(columns) if role == "label" else []
    hint = f"; columns with few different values: {', '.join(few)}" if few else ""
    if len(PAIR_COLUMNS & {profile.name.casefold() for profile in columns}) == 1:
        hint += "; or, for labeled pairs, name one column chosen and one rejected"
    return UsageError(
        f"{path.name}: no column looks like {wanted}; columns: {names}", fix=f"name it with --{role} COLUMN{hint}"
    )
