"""The trials of a run as a table: filters, columns and the reading of parts."""

import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from umpirical.domain.errors import StoreError
from umpirical.domain.trials import Trial
from umpirical.runs.judgments import Facts, judgment_row, reader_of
from umpirical.runs.run import Run
from umpirical.store.manifests import Damaged
from umpirical.store.schemas import judgment_schema
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.store.sql import open_duckdb, quoted_glob

if TYPE_CHECKING:
    import duckdb


COLUMNS: dict[str, str] = {
    "family": "family",
    "part": "coalesce(stratum, '')",
    "step": "delta",
    "variant": "variant",
    "order": '"order"',
    "outcome": "outcome",
    "slot": "coalesce(choice, label, value::varchar)",
}
"""The filters, and the SQL of the column of each. Values never become part of a query: they are bound to it."""

_PLACES = {name: place for place, name in enumerate(COLUMNS)}

TITLES = {
    "family": "Family",
    "part": "Part",
    "step": "Difference",
    "variant": "Prompt variant",
    "order": "Order",
    "outcome": "Outcome",
    "slot": "Answer",
}

LONGEST = 500
"""Characters of a value in an address."""

Value = str | float | None


class UnknownValue(ValueError):
    """A filter by a value that no trial of the run has."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a person chose: a value for some of the columns."""

    chosen: tuple[tuple[str, Value], ...] = ()

    @property
    def where(self) -> str:
        """The condition in SQL, with a place for each value."""
        return " and ".join(["true", *(f"{COLUMNS[name]} = ?" for name, _ in self.chosen)])

    @property
    def values(self) -> list[Value]:
        return [value for _, value in self.chosen]

    def value(self, name: str) -> Value:
        return dict(self.chosen).get(name)

    def places(self) -> list[tuple[int, Value]]:
        """The values, each with the place of its column."""
        return [(_PLACES[name], value) for name, value in self.chosen]

    def without(self, name: str) -> "Filters":
        return Filters(tuple((each, value) for each, value in self.chosen if each != name))

    def with_value(self, name: str, value: Value) -> "Filters":
        return Filters((*self.without(name).chosen, (name, value)))

    def query(self, **more: int) -> str:
        """The part of an address that says them."""
        return urlencode([(name, _written(value)) for name, value in self.chosen] + list(more.items()))


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a filter, and how many trials there would be with it."""

    value: Value
    text: str
    count: int
    is_chosen: bool


class Shares:
    """How many trials a run has of every combination of values."""

    def __init__(self, counts: Mapping[tuple[Value, ...], int]) -> None:
        self._counts = counts
        self._known = {
            name: {_written(key[place]): key[place] for key in counts if key[place] is not None}
            for name, place in _PLACES.items()
        }
        self._totals: dict[Filters, int] = {}

    def total(self, filters: Filters = Filters()) -> int:  # noqa: B008  # it cannot be changed
        """Returns how many trials there are by these filters."""
        if filters not in self._totals:
            self._totals[filters] = sum(count for _, count in self._chosen(filters))
        return self._totals[filters]

    def read(self, query: Iterable[tuple[str, str]]) -> Filters:
        """Reads filters from an address. Raises UnknownValue for a value that no trial has."""
        found = Filters()
        for name, text in query:
            if name in COLUMNS and text:
                if text not in self._known[name]:
                    raise UnknownValue(f"No trial in this run has the {TITLES[name].lower()} “{text[:LONGEST]}”.")
                found = found.with_value(name, self._known[name][text])
        return found

    def options(self, name: str, filters: Filters) -> list[Option]:
        """Returns the values of one filter, each with its count under all the others."""
        place, counts = _PLACES[name], Counter[Value]()
        for key, count in self._chosen(filters.without(name)):
            if key[place] is not None:
                counts[key[place]] += count
        chosen = filters.value(name)
        if chosen is not None:
            counts.setdefault(chosen, 0)
        return [
            Option(value, _written(value), counts[value], is_chosen=value == chosen)
            for value in sorted(counts, key=_order)
        ]

    def _chosen(self, filters: Filters) -> Iterator[tuple[tuple[Value, ...], int]]:
        wanted = filters.places()
        for key, count in self._counts.items():
            if all(key[place] == value for place, value in wanted):
                yield key, count


def _order(value: Value) -> tuple[float, str]:
    """Numbers by size, then texts by name."""
    return (inf, value) if isinstance(value, str) else (value or 0.0, "")


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:g}" if isfinite(value) else "not finite"
    return value or ""


# The trials of a run as a table that DuckDB reads, within a limit on memory: counted by value, and paged.


PAGE_SIZE = 50

MEMORY = "160MB"
"""For DuckDB. The program itself takes about as much again."""

MOST_COMBINATIONS = 20_000
"""Combinations of values that are counted. A study has some hundreds; a stranger's file may have one for each trial."""

_VIEW = """
create view trial as select * exclude (file_row_number), file_row_number as position
from read_parquet({file}, file_row_number = true)
"""

_COUNTS = f"""
select {", ".join(COLUMNS.values())}, count(*) from trial group by all limit {MOST_COMBINATIONS + 1}
"""  # noqa: S608  # ours

# Without an order: rows come as they are in the file, so that a page near the beginning is found at once.
_PAGE = """
select position, trial_id, stimulus_id, family, coalesce(stratum, '') as part, delta as step, variant, "order", repeat,
  outcome, coalesce(choice, label, value::varchar) as answer, why
from trial where {where} and position > ? {order} limit {limit}
"""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial in a list."""

    position: int
    """Its place in the plan, from 0."""
    trial_id: str
    stimulus_id: str
    family: str
    part: str
    step: float | None
    variant: str
    order: str
    repeat: int
    outcome: str
    answer: str | None
    """A position, `tie`, or a grade; None without a verdict."""
    why: str | None
    """Why there is no verdict."""


@dataclass(frozen=True, slots=True)
class TrialPage:
    """Some trials, and from where the next ones are."""

    rows: tuple[TrialRow, ...]
    following: int | None
    """The position after which the next page begins; None on the last one."""


class TrialTable:
    """The trials of one run, open for any number of threads."""

    def __init__(self, spill: Path, judgments: Path | None = None) -> None:
        """Without the file of `judgments` the table is made and filled by whoever opened it."""
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._counts: dict[object, Shares] = {}
        self._ordered = judgments is not None
        self._db = self._stack.enter_context(open_duckdb(spill=spill, memory=MEMORY))
        try:
            self._db.execute("set threads = 2")
            if judgments is not None:
                with _naming_damage(judgments.name):
                    self._db.execute(_VIEW.format(file=quoted_glob(judgments, "")))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._stack.close()

    @contextmanager
    def cursor(self) -> "Iterator[duckdb.DuckDBPyConnection]":
        """A connection of one thread's own to the same table."""
        with self._lock:
            cursor = self._db.cursor()
        try:
            with _naming_damage("the cached answers of this run"):
                yield cursor
        finally:
            cursor.close()

    @cached_property
    def columns(self) -> set[str]:
        """The names of its columns: a protocol adds some of its own."""
        with self.cursor() as db:
            return {row[0] for row in db.execute("describe trial").fetchall()}

    def shares(self, version: object = None) -> Shares:
        """Counts the trials by every combination of values; once for each `version` of the table."""
        found = self._counts.get(version)
        if found is None:
            with self.cursor() as db:
                rows = db.execute(_COUNTS).fetchall()
            if len(rows) > MOST_COMBINATIONS:
                raise StoreError("its trials have too many different values", fix="umpirical verify")
            found = Shares({tuple(row[:-1]): row[-1] for row in rows})
            self._counts = {version: found}
        return found

    def page(self, filters: Filters, *, after: int = -1, size: int = PAGE_SIZE) -> TrialPage:
        """Returns the trials that follow a position."""
        query = _PAGE.format(where=filters.where, limit=size + 1, order="" if self._ordered else "order by position")
        with self.cursor() as db:
            found = db.execute(query, [*filters.values, after]).fetchall()
        rows = sorted((TrialRow(*row) for row in found), key=lambda row: row.position)
        more = len(rows) > size
        return TrialPage(tuple(rows[:size]), rows[size - 1].position if more else None)

    def copy_to(self, file: Path) -> None:
        """Writes the trials as judgments, for whoever counts them."""
        with self.cursor() as db:
            query = f"copy (select * exclude (position) from trial) to {quoted_glob(file, '')} (format parquet)"  # noqa: S608  # ours
            db.execute(query)

    def positions(self, condition: str, values: list[Any], *, most: int) -> list[int]:
        """Returns the positions of trials by a condition of our own; its values are bound."""
        with self.cursor() as db:
            found = db.execute(f"select position from trial where {condition} limit {most:d}", values).fetchall()  # noqa: S608  # ours
        return sorted(row[0] for row in found)


@contextmanager
def _naming_damage(what: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        said = str(error).partition("\n")[0]
        raise Damaged(f"{what} cannot be read: {said}", fix="run: umpirical report") from None


# What a run in progress has answered so far, read shard by shard into a table of this process's own.


def shard_size(run: Run) -> int:
    """Returns how many trials every shard but the last has. A trial's place in the plan follows from it."""
    return run.store.planned(0) if run.shards else 1


class RunReading:
    """The answers of one run as far as they have been read."""

    def __init__(self, run: Run, folder: Path, facts: Facts) -> None:
        self.run = run
        self.facts = facts
        self.version = 0
        """Changes with every shard that is read."""
        self.read = self.answered = 0
        """Responses that are in the table, and that there were at the last look."""
        self._size = shard_size(run)
        self._seen: dict[int, tuple[object, ...]] = {}
        self._rows: dict[int, int] = {}
        self._reader = reader_of(run.judge)
        self._lock = threading.Lock()
        folder.mkdir(parents=True)
        self.table = TrialTable(folder / "spill")
        self._make(folder / "read.duckdb")

    @property
    def is_current(self) -> bool:
        """Whether everything was read that there was at the last look."""
        return self.read >= self.answered

    def refresh(self, seconds: float) -> None:
        """Reads what is new, for about so long."""
        until = time.monotonic() + seconds
        with self._lock, snapshot(self.run.store) as now:
            self.answered = sum(now.counts())
            for shard, progress in now.progress().items():
                if self._seen.get(shard) == progress:
                    continue
                self._replace(shard, self._read(shard, now))
                self._seen[shard] = progress
                if time.monotonic() > until:
                    break
            else:
                # Questions that several shards share are counted once, and are in the table with each of them.
                self.answered = self.read

    def close(self) -> None:
        self.table.close()

    def _read(self, shard: int, now: RunSnapshot) -> list[dict[str, Any]]:
        responses, rows = now.responses(shard), []
        for place, (trial, part) in enumerate(self.run.store.plan_shard(shard)):
            if place >= self._size:
                raise Damaged(f"shard {shard} of the plan has more trials than the first")
            if (response := responses.get(trial.id)) is not None:
                outcome = self._reader(response, trial.presentation)
                stimulus = self.run.stimuli.part(part)[trial.stimulus_id]
                row = judgment_row(trial, stimulus, outcome, self._scale(trial), self.facts)
                rows.append(row | {"position": shard * self._size + place})
        return rows

    def _scale(self, trial: Trial) -> Any:  # noqa: ANN401  # a scale, or none
        return trial.presentation.scale(self.run.judge.scale)

    def _replace(self, shard: int, rows: list[dict[str, Any]]) -> None:
        import pyarrow as pa

        first = shard * self._size
        with self.table.cursor() as db:
            db.begin()
            db.execute("delete from own.trial where position between ? and ?", [first, first + self._size - 1])
            if rows:
                db.register("more", pa.Table.from_pylist(rows, schema=self._schema()))
                db.execute("insert into own.trial select * from more")
                db.unregister("more")
            db.commit()
        self._rows[shard] = len(rows)
        self.read = sum(self._rows.values())
        self.version += 1

    def _make(self, file: Path) -> None:
        with self.table.cursor() as db:
            # On disk: what was read of a large run does not fit into the memory that it may take.
            db.execute(f"attach '{str(file).replace(chr(39), chr(39) * 2)}' as own")
            db.register("none", self._schema().empty_table())
            db.execute("create table own.trial as select * from none")
            db.unregister("none")
            db.execute("create view trial as select * from own.trial")

    def _schema(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        import pyarrow as pa

        return judgment_schema(self.facts.columns).append(pa.field("position", pa.int64()))
