"""What is in each column of a file that nobody has explained yet."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from umpirical.datasets.readers import READERS, Source, format_of
from umpirical.datasets.values import is_missing, number_of
from umpirical.domain.errors import ConfigError

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
    """A profile of each column, in the file's order, over all of its rows."""
    source = Source(path=path, name=path.name, written=str(path))
    table = READERS.get(format_of(path.name, path.parent)).open(source)
    columns = {name: _Column() for name in table.columns or ()}
    rows = 0
    for row in table.rows:
        rows += 1
        for name, value in row.values.items():
            columns.setdefault(name, _Column()).add(value)
    if not rows:
        raise ConfigError("no rows", where=path.name, fix="is it the right file?")
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
