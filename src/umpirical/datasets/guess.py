"""A first guess at what the columns of a file mean, and why. A person has the last word."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from umpirical.datasets.profile import MOST_LABELS, ColumnProfile, profile_columns
from umpirical.datasets.readers import missing_column
from umpirical.datasets.values import number_of
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale

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

_NAME_LABEL = "name the column of the labels with --label"

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
        raise UsageError("one column is named for two things", fix="name a different column for each")
    profiles = {profile.name: profile for profile in profile_columns(path)}
    for column in told.values():
        if column not in profiles:
            raise missing_column(column, profiles, where=path.name)
    columns: dict[ColumnRole, str] = {}
    because: dict[ColumnRole, str] = {}
    for role, choose in _CHOOSERS.items():
        free = [profile for profile in profiles.values() if profile.name not in (*columns.values(), *told.values())]
        found = (told[role], "as you said") if role in told else choose(free)
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
    return (few[0], "it is the only one with few and short values") if len(few) == 1 else None


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
    return longest.name, "it has the longest texts"


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
    return None if named is None else (named.name, "it has a different short text in every row")


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
    return (profiles[min(ranked)[2]].name, "by its name") if ranked else None


def _parts(name: str) -> list[str]:
    """The words of a column's name, without numbers: `humanScore_2` is human, score."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+", name)]


def _is_stratum(profile: ColumnProfile) -> bool:
    few = 2 <= len(profile.values) <= MOST_LABELS
    return profile.readable and few and profile.longest <= SHORT and 2 * len(profile.values) <= profile.filled


def _scale(profile: ColumnProfile, path: Path) -> GuessedScale:
    where = f"{path.name}: column {profile.name!r} has"
    if not profile.readable:
        raise UsageError(f"{where} nothing in it that could be a label", fix=_NAME_LABEL)
    if len(profile.values) == 1:
        only = next(iter(profile.values))
        raise UsageError(f"{where} one label only, {only!r:.60}: nothing is graded by it", fix=_NAME_LABEL)
    if profile.values:
        return _labelled(list(profile.values))
    if profile.range is None:
        raise UsageError(f"{where} more than {MOST_LABELS} different texts, which is not a scale", fix=_NAME_LABEL)
    low, high = profile.range
    return GuessedScale(GradeScale("interval", low=low, high=high), "the least and greatest number found", ordered=True)


def _labelled(labels: list[str]) -> GuessedScale:
    numbers = {label: number_of(label) for label in labels}
    ordered = None not in numbers.values()
    chosen = tuple(sorted(labels, key=lambda label: (numbers[label] or 0.0 if ordered else 0.0, label)))
    because = "as numbers in order" if ordered else "in alphabetical order"
    if len(chosen) == 2:
        return GuessedScale(GradeScale("binary", chosen), f"two labels, {because}", ordered=ordered)
    return GuessedScale(GradeScale("ordinal" if ordered else "nominal", chosen), because, ordered=ordered)


def _not_found(role: ColumnRole, path: Path, profiles: Iterable[ColumnProfile]) -> UsageError:
    columns = list(profiles)
    names = ", ".join(profile.name for profile in columns)
    wanted = {"label": "labels, by its name or as the only one with few values", "response": "responses: text"}[role]
    few = _with_few_values(columns) if role == "label" else []
    hint = f"; few different values have: {', '.join(few)}" if few else ""
    if len(PAIR_COLUMNS & {profile.name.casefold() for profile in columns}) == 1:
        hint += "; or, for labelled pairs, call one column chosen and one rejected"
    return UsageError(
        f"{path.name}: no column looks like {wanted}; there are: {names}", fix=f"name it with --{role} COLUMN{hint}"
    )
