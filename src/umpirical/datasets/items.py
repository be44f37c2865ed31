"""From a dataset to items: what was found in it, which rows are taken, and what is wrong with any of them."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar

from umpirical.datasets.readers import READERS, Row, Source, Table, format_of, missing_column
from umpirical.datasets.spec import LABEL, Allocation, DatasetSpec, SampleSpec
from umpirical.datasets.values import is_missing, label_text, listed_text, plain_text, written_text
from umpirical.domain.digests import digest
from umpirical.domain.errors import ConfigError
from umpirical.domain.stimuli import Item
from umpirical.stats.seeds import uniform


@dataclass(frozen=True, slots=True)
class StratumCounts:
    """How the rows fall into the values of one column."""

    column: str
    values: Mapping[str, int]
    missing: int
    """Rows with nothing in the column; their items belong to none of its values."""


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """What a dataset was found to hold. All but the last three are counted over every row, taken or not."""

    source: str
    format: str
    rows: int
    """Rows read: all there are."""
    unlabelled: int
    """Rows without a reference label."""
    empty_responses: int
    """Rows whose response is nothing but blanks. They are kept: an empty answer is an answer."""
    duplicates: int
    """Rows with the task and the response of an earlier one. They are kept, and are not independent evidence."""
    clusters: int
    """Different values of the cluster column; 0 where there is none."""
    labels: Mapping[str, int]
    """Rows of each label in the scale's order, labels without any rows included. Empty on an interval scale."""
    strata: tuple[StratumCounts, ...]
    items: int
    """Items taken: one for each row, or the sample."""
    sampled_labels: Mapping[str, int]
    """Like `labels`, for the items that were taken."""
    sampled_unlabelled: int
    """Like `unlabelled`, for the items that were taken."""


# Which items are taken: the same ones for the same seed, whatever their order in the file.

Cell = TypeVar("Cell", bound=Hashable)


def sample_items(items: Sequence[Item], sample: SampleSpec, *, seed: int) -> list[Item]:
    """The sample of the items, in the order they came in; all of them if there are no more. `seed` is the study's.

    Each cell is put into an order drawn from the seed and from what its items say, and its first ones are taken. So a
    larger sample contains a smaller one if it takes at least as many of every cell, as it always does with `even`.
    """
    drawn = [
        Drawn(item.name, _cell(item, sample.by), digest("sampled item", [item.task, item.response])) for item in items
    ]
    return [items[place] for place in sample_places(drawn, sample, seed=seed)]


Drawable = Literal["row", "transcript"]

WHERE: Mapping[Drawable, str] = {"row": "dataset", "transcript": "transcripts"}
ID_HINT: Mapping[Drawable, str] = {"row": "use ids from the id column", "transcript": "use names of the transcripts"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Something that may be in a sample."""

    name: str
    cell: tuple[str, ...]
    """Its values of the columns in `sample.by`."""
    content: str
    """Digest of what it says."""


def sample_places(drawn: Sequence[Drawn], sample: SampleSpec, *, seed: int, what: Drawable = "row") -> list[int]:
    """The places of a sample, in order. What is drawn may be an item, a transcript, or anything else with groups."""
    everything = list(range(len(drawn)))
    if sample.ids:
        return _by_hand([one.name for one in drawn], sample.ids, what)
    if sample.per is None and (sample.size is None or sample.size >= len(drawn)):
        return everything
    seed = seed if sample.seed is None else sample.seed
    cells: defaultdict[tuple[str, ...], list[tuple[float, int]]] = defaultdict(list)
    alike: Counter[str] = Counter()
    # In the order of their names, so that each of several equal rows has its own draw, whatever their order.
    for place in sorted(everything, key=lambda place: drawn[place].name):
        one = drawn[place]
        alike[one.content] += 1
        cells[one.cell].append((uniform(seed, "sample", one.content, str(alike[one.content])), place))
    counts = {cell: len(members) for cell, members in cells.items()}
    if sample.per is not None:
        taken = _of_each(counts, sample.by, sample.per, what)
    else:
        taken = allocate(counts, size=sample.size or 0, allocation=sample.allocation)
    return sorted(place for cell, members in cells.items() for _, place in sorted(members)[: taken[cell]])


def _of_each(counts: Mapping[tuple[str, ...], int], by: Sequence[str], per: int, what: Drawable) -> dict[Any, int]:
    """The same number of each cell. A cell with fewer is an error: a smaller sample would go unnoticed."""
    few = {cell: count for cell, count in sorted(counts.items()) if count < per}
    if few:
        cell, count = next(iter(few.items()))
        name = ", ".join(f"{column}={value or '(none)'}" for column, value in zip(by, cell, strict=True))
        more = f", and {len(few) - 1:,} more of the {len(counts):,} groups" if len(few) > 1 else ""
        raise ConfigError(
            f"sample.per: {per} of each group are wanted, but {name[:80]!r} has {count}{more}",
            where=WHERE[what],
            fix="lower sample.per, use other columns in sample.by, or add data of that group",
        )
    return dict.fromkeys(counts, per)


def _by_hand(found: Sequence[str], ids: Sequence[str], what: Drawable) -> list[int]:
    """The places of these names. One that is not there is an error: a smaller sample would go unnoticed."""
    names = set(found)
    if absent := [name for name in ids if name not in names]:
        near = get_close_matches(absent[0], names, n=1)
        more = f", and {len(absent) - 1:,} more of the {len(ids):,} ids" if len(absent) > 1 else ""
        raise ConfigError(
            f"sample.ids: no {what} has the id {absent[0]!r:.80}{more}",
            where=WHERE[what],
            fix=f"did you mean {near[0]!r:.80}?" if near else ID_HINT[what],
        )
    wanted = frozenset(ids)
    return [place for place, name in enumerate(found) if name in wanted]


def _cell(item: Item, by: tuple[str, ...]) -> tuple[str, ...]:
    """The cell that an item belongs to. A missing value counts as a value."""
    label = item.labels[0] if item.labels else ""
    return tuple(label if name == LABEL else item.strata.get(name, "") for name in by)


def allocate(counts: Mapping[Cell, int], *, size: int, allocation: Allocation) -> dict[Cell, int]:
    """How many to take of each cell, `size` in all and never more than a cell has. So `size` is at most their sum.

    `proportional`: each cell's share of all, rounded by largest remainder, and at least one of each if `size` allows
    that. `even`: equally many of each; what a small cell lacks is spread over the others.
    """
    order = sorted(counts, key=lambda name: (-counts[name], repr(name)))
    taken = _even(counts, order, size) if allocation == "even" else _proportional(counts, order, size)
    return {name: taken[name] for name in counts}


def _proportional(counts: Mapping[Cell, int], order: list[Cell], size: int) -> dict[Cell, int]:
    free, left, taken = list(order), size, dict.fromkeys(order, 0)
    # A cell whose share is less than one gets one, and the others share the rest, until none is short.
    while size >= len(order):
        total = sum(counts[name] for name in free)
        if not (small := [name for name in free if counts[name] * left < total]):
            break
        taken.update(dict.fromkeys(small, 1))
        left -= len(small)
        free = [name for name in free if name not in set(small)]
    total = sum(counts[name] for name in free)
    # Fractions, because which of two equal remainders is the larger must not depend on rounding.
    shares = {name: Fraction(counts[name] * left, total) for name in free}
    taken.update({name: int(share) for name, share in shares.items()})
    spare = left - sum(int(share) for share in shares.values())
    for name in sorted(free, key=lambda name: int(shares[name]) - shares[name])[:spare]:
        taken[name] += 1
    return taken


def _even(counts: Mapping[Cell, int], order: list[Cell], size: int) -> dict[Cell, int]:
    taken, left, open_cells = dict.fromkeys(order, 0), size, list(order)
    while left:
        open_cells = [name for name in open_cells if taken[name] < counts[name]]
        step = min(max(left // len(open_cells), 1), *(counts[name] - taken[name] for name in open_cells), left)
        for name in open_cells[: left // step]:
            taken[name] += step
            left -= step
    return taken


# Rows are taken in one by one, and what is wrong with any of them is said.

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
            raise ConfigError("the file has no rows", where=self._source, fix="check that it is the right file")
        for column in self._named:
            if column not in self._found:
                raise missing_column(column, self._found, where=self._source)
        if self._bad == 1:
            place, problem = self._problems[0]
            raise ConfigError(problem, where=place)
        if self._bad:
            shown = "".join(f"\n  {place}: {problem}" for place, problem in self._problems)
            more = f"\n  and {self._bad - SHOWN:,} more" if self._bad > SHOWN else ""
            raise ConfigError(f"{self._bad:,} of {self._rows:,} rows cannot be used:{shown}{more}", where=self._source)

    def summary(self, format_name: str, taken: Sequence[Item]) -> DatasetSummary:
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
            raise ValueError(f"column {column!r} is empty: give every row an id, or remove columns.id")
        if (other := self._places.setdefault(name, row.place)) != row.place:
            raise ValueError(f"column {column!r}: {name!r:.80} is already the id of {other}")
        return name

    def _required(self, row: Row, column: str, read: Callable[[object], str]) -> str:
        if column not in row.values:
            raise ValueError(f"no column {column!r}; columns: {', '.join(list(row.values)[:20]) or 'none'}")
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
                message = (
                    f"column {column!r} has more than {MOST_VALUES:,} different values: too many to group results by"
                )
                raise ConfigError(message, where=place, fix="remove it from columns.strata")


def _read(row: Row, column: str, read: Callable[[object], _Text]) -> _Text:
    try:
        return read(row.values[column])
    except ValueError as error:
        raise ValueError(f"column {column!r}: {error}") from None
