"""From a dataset to items: rows are taken in one by one, and what is wrong with any of them is said."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from umpirical.datasets.readers import READERS, Row, Source, Table, format_of, missing_column
from umpirical.datasets.sample import sample_items
from umpirical.datasets.spec import DatasetSpec
from umpirical.datasets.summary import DatasetSummary, StratumCounts
from umpirical.datasets.values import is_missing, label_text, listed_text, plain_text, written_text
from umpirical.domain.digests import digest
from umpirical.domain.errors import ConfigError
from umpirical.domain.stimuli import Item

_Text = TypeVar("_Text", str, str | None)

SHOWN = 5
"""Problems that a message shows; the others are counted."""

MOST_VALUES = 1_000
"""Different values of a stratum. A column with more splits results into nothing."""


def read_items(
    spec: DatasetSpec, folder: Path, *, seed: int = 1, columns: Sequence[str] = (), texts: Sequence[str] = ()
) -> tuple[list[Item], DatasetSummary]:
    """The items of a dataset, in its order and sampled as its spec says, and what was found in all of it.

    Items are named by the id column, or by file and line. Every row is read, whether it is taken or not; one that
    cannot be read is an error and never left out. `seed` is the study's, for a sample without one of its own. `columns`
    are kept as they are, besides those that the spec names. `texts` are kept too, and like its response every row has
    to have them.
    """
    named = tuple(dict.fromkeys([*spec.columns.named(), *columns, *texts]))
    table = _open_table(spec, folder, columns=named)
    if table.columns is not None and (absent := [name for name in named if name not in table.columns]):
        raise missing_column(absent[0], table.columns, where=table.where)
    intake = _Intake(spec, Path(spec.path).name, columns, texts)
    for row in table.rows:
        intake.take(row)
    intake.check()
    taken = sample_items(intake.items, spec.sample, seed=seed)
    return taken, intake.summary(format_of(spec.path, folder, named=spec.format), taken)


def _open_table(spec: DatasetSpec, folder: Path, *, columns: tuple[str, ...]) -> Table:
    """The rows of a dataset, read on demand, with these columns and no others."""
    source = Source(
        path=folder / spec.path,
        name=Path(spec.path).name,
        columns=columns,
        limits=spec.limits,
        options=spec.options,
        written=spec.path,
    )
    return READERS.get(format_of(spec.path, folder, named=spec.format)).open(source)


class _Intake:
    """The rows taken in so far: the items made from them, and what is wrong with the others."""

    def __init__(self, spec: DatasetSpec, source: str, columns: Sequence[str], texts: Sequence[str]) -> None:
        self.items: list[Item] = []
        self._columns, self._texts = columns, texts
        self._named = tuple(dict.fromkeys([*spec.columns.named(), *columns, *texts]))
        self._spec, self._scale, self._source = spec, spec.scale, source
        self._rows = self._bad = self._empty = self._duplicates = 0
        self._problems: list[tuple[str, str]] = []
        self._found: dict[str, None] = {}
        self._places: dict[str, str] = {}
        self._contents: set[str] = set()
        self._strata: dict[str, Counter[str]] = {column: Counter() for column in spec.columns.strata}

    def take(self, row: Row) -> None:
        """Makes an item of a row, or notes what is wrong with it: one reading shows more than the first problem."""
        self._rows += 1
        if self._rows == 1:
            self._found = dict.fromkeys(row.values)
        self._found.update((name, None) for name in self._named if name in row.values)
        try:
            item = self._item(row)
        except ValueError as error:
            self._bad += 1
            if len(self._problems) < SHOWN:
                self._problems.append((row.place, str(error)))
            return
        self.items.append(item)
        self._count(item, row.place)

    def check(self) -> None:
        """Raises if anything was wrong with any row, or if there were no rows."""
        if not self._rows:
            raise ConfigError("no rows", where=self._source, fix="is it the right file?")
        for column in self._named:
            if column not in self._found:
                raise missing_column(column, self._found, where=self._source)
        if self._bad == 1:
            place, problem = self._problems[0]
            raise ConfigError(problem, where=place)
        if self._bad:
            shown = "".join(f"\n  {place}: {problem}" for place, problem in self._problems)
            more = f"\n  and {self._bad - SHOWN:,} more" if self._bad > SHOWN else ""
            raise ConfigError(f"{self._bad:,} of {self._rows:,} rows cannot be taken:{shown}{more}", where=self._source)

    def summary(self, format_name: str, taken: Sequence[Item]) -> DatasetSummary:
        """What was found. `taken` is the sample."""
        return DatasetSummary(
            source=self._source,
            format=format_name,
            rows=self._rows,
            unlabelled=sum(not item.labels for item in self.items),
            empty_responses=self._empty,
            duplicates=self._duplicates,
            clusters=len({item.cluster for item in self.items if item.cluster}),
            labels=self._labels(self.items),
            strata=tuple(
                StratumCounts(column, dict(sorted(values.items())), self._rows - values.total())
                for column, values in self._strata.items()
            ),
            items=len(taken),
            sampled_labels=self._labels(taken),
            sampled_unlabelled=sum(not item.labels for item in taken),
        )

    def _labels(self, items: Sequence[Item]) -> dict[str, int]:
        found = Counter(label for item in items for label in item.labels)
        return {label: found[label] for label in self._scale.labels}

    def _item(self, row: Row) -> Item:
        columns = self._spec.columns
        label = self._optional(row, columns.label, lambda value: label_text(value, self._scale))
        return Item(
            task=self._required(row, columns.task, written_text) if columns.task else self._spec.task_text or "",
            # Without a column, a model writes it.
            response=self._required(row, columns.response, written_text) if columns.response else "",
            labels=(label,) if label is not None else (),
            strata={
                column: value
                for column in columns.strata
                if (value := self._optional(row, column, plain_text)) is not None
            },
            name=self._name(row, columns.id) if columns.id else row.place,
            cluster=self._optional(row, columns.cluster, plain_text) or "",
            # An empty cell is an empty text: a rubric that is missing for a row is shown as missing.
            columns={name: self._optional(row, name, listed_text) or "" for name in self._columns}
            | {name: self._required(row, name, written_text) for name in self._texts},
        )

    def _name(self, row: Row, column: str) -> str:
        name = self._optional(row, column, plain_text)
        if name is None:
            raise ValueError(f"column {column!r} is empty: every row needs an id, or leave columns.id out")
        if (other := self._places.setdefault(name, row.place)) != row.place:
            raise ValueError(f"column {column!r}: {name!r:.80} is the id of {other} too")
        return name

    def _required(self, row: Row, column: str, read: Callable[[object], str]) -> str:
        if column not in row.values:
            raise ValueError(f"no {column!r} here; there are: {', '.join(list(row.values)[:20]) or 'none'}")
        return _read(row, column, read)

    def _optional(self, row: Row, column: str | None, read: Callable[[object], _Text]) -> _Text | None:
        if column is None or is_missing(row.values.get(column)):
            return None
        return _read(row, column, read)

    def _count(self, item: Item, place: str) -> None:
        self._empty += not item.response.strip()
        content = digest("item content", [item.task, item.response])
        self._duplicates += content in self._contents
        self._contents.add(content)
        for column, value in item.strata.items():
            values = self._strata[column]
            values[value] += 1
            if len(values) > MOST_VALUES:
                message = f"column {column!r} has more than {MOST_VALUES:,} different values, too many to split by"
                raise ConfigError(message, where=place, fix="take it out of columns.strata")


def _read(row: Row, column: str, read: Callable[[object], _Text]) -> _Text:
    try:
        return read(row.values[column])
    except ValueError as error:
        raise ValueError(f"column {column!r}: {error}") from None
