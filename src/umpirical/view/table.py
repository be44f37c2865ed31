"""The trials of a run as a table: filters, columns and the reading of parts."""

import threading
import time
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from umpirical.domain.errors import StoreError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import FACTORS, Trial
from umpirical.measures.counting.correctness import COUNTED, RESULTS, Result, result_column
from umpirical.runs.judgments import Facts, judgment_row, reader_of
from umpirical.runs.run import Run
from umpirical.store.manifests import Damaged
from umpirical.store.schemas import judgment_schema, stimulus_from_row, trial_from_row
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
    "position": "coalesce(choice, label, value::varchar)",
    "result": "result",
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
    "position": "Answer",
    "result": "Result",
}

SORTS: dict[str, tuple[str, ...]] = {
    "result": ("result",),
    "trial": (),
    "tested": ("family", "step", "part"),
    "said": ("position", "outcome"),
}
"""The orders of a list, each with the columns that it goes by; the place in the plan comes last. The first is the
default: what went wrong comes first."""

LONGEST = 500
"""Characters of a value in an address."""

Value = str | float | None


class UnknownValue(ValueError):
    """A filter by a value that no trial of the run has."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a person chose: a value for some of the columns."""

    chosen: tuple[tuple[str, Value], ...] = ()
    search: str = ""
    """Text in the task or in an answer, in any case."""
    sort: str = next(iter(SORTS))
    is_reversed: bool = False

    @property
    def where(self) -> str:
        """The condition in SQL, with a place for each value."""
        found = [_FOUND] if self.search else []
        return " and ".join(["true", *(f"{COLUMNS[name]} is not distinct from ?" for name, _ in self.chosen), *found])

    @property
    def values(self) -> list[Value]:
        return [*(value for _, value in self.chosen), *([self.search] if self.search else [])]

    def value(self, name: str) -> Value:
        return dict(self.chosen).get(name)

    def places(self) -> list[tuple[int, Value]]:
        """The values, each with the place of its column."""
        return [(_PLACES[name], value) for name, value in self.chosen]

    def without(self, name: str) -> "Filters":
        return replace(self, chosen=tuple((each, value) for each, value in self.chosen if each != name))

    def with_value(self, name: str, value: Value) -> "Filters":
        return replace(self, chosen=(*self.without(name).chosen, (name, value)))

    def sorted_by(self, name: str) -> "Filters":
        """The same trials in another order; in the opposite one if they are in this order already."""
        return replace(self, sort=name, is_reversed=name == self.sort and not self.is_reversed)

    def query(self, **more: int) -> str:
        """The part of an address that says them."""
        return urlencode([*((name, _written(value)) for name, value in self.chosen), *self.rest(), *more.items()])

    def rest(self) -> list[tuple[str, str]]:
        """What an address says besides the values of columns."""
        order = f"{'-' if self.is_reversed else ''}{self.sort}"
        said = (("q", self.search), ("sort", "" if order == next(iter(SORTS)) else order))
        return [(name, text) for name, text in said if text]


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
        # A link to what went wrong leads to an empty list where nothing did.
        self._known["result"] |= {each: each for each in RESULTS}
        self._totals: dict[Filters, int] = {}
        self._options: dict[tuple[str, Filters], list[Option]] = {}
        self._groups: dict[Filters, list[Filters]] = {}

    def total(self, filters: Filters = Filters()) -> int:  # noqa: B008  # it cannot be changed
        """Returns how many trials there are by these filters."""
        if filters not in self._totals:
            self._totals[filters] = sum(count for _, count in self._chosen(filters))
        return self._totals[filters]

    def read(self, query: Iterable[tuple[str, str]]) -> Filters:
        """Reads filters from an address. Raises UnknownValue for a value that no trial has."""
        found = Filters()
        for name, text in query:
            if name == "q" and text.strip():
                found = replace(found, search=text.strip()[:LONGEST])
            elif name == "sort" and (order := text.removeprefix("-")) in SORTS:
                found = replace(found, sort=order, is_reversed=text.startswith("-"))
            elif name in COLUMNS and text:
                if text not in self._known[name]:
                    raise UnknownValue(f"No trial in this run has the {TITLES[name].lower()} “{text[:LONGEST]}”.")
                found = found.with_value(name, self._known[name][text])
        return found

    def options(self, name: str, filters: Filters) -> list[Option]:
        """Returns the values of one filter, each with its count under all the others."""
        key = name, Filters(filters.chosen)
        if key not in self._options:
            self._options[key] = self._counted(*key)
        return self._options[key]

    def _counted(self, name: str, filters: Filters) -> list[Option]:
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

    def groups(self, filters: Filters) -> list[Filters]:
        """Returns the filters of the stretches of a list, in order. In each, trials are in the order of the plan."""
        key = replace(filters, search="")
        if key not in self._groups:
            self._groups[key] = self._stretches(key)
        return self._groups[key]

    def _stretches(self, filters: Filters) -> list[Filters]:
        names = SORTS[filters.sort]
        found = {tuple(key[_PLACES[name]] for name in names) for key, _ in self._chosen(filters)}
        ordered = sorted(found, key=lambda values: [*map(_order, values)], reverse=filters.is_reversed)
        return [Filters(tuple(zip(names, values, strict=True))) for values in ordered]

    def _chosen(self, filters: Filters) -> Iterator[tuple[tuple[Value, ...], int]]:
        wanted = filters.places()
        for key, count in self._counts.items():
            if all(key[place] == value for place, value in wanted):
                yield key, count


def _order(value: Value) -> tuple[float, str]:
    """Results by what a reader looks for, numbers by size, then texts by name."""
    if value in RESULTS:
        return RESULTS.index(value), ""
    return (inf, value) if isinstance(value, str) else (value or 0.0, "")


def _written(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:g}" if isfinite(value) else "not finite"
    return value or ""


# The trials of a run as a table that DuckDB reads, within a limit on memory: counted by value, and paged.


PAGE_SIZE = 50

MEMORY = "160MB"
"""For DuckDB. The program itself takes about as much again."""

SEARCHES_KEPT = 8
"""Searches whose counts are kept."""

MOST_COMBINATIONS = 20_000
"""Combinations of values that are counted. A study has some hundreds; a stranger's file may have one for each trial."""

_VIEW = """
create view judgment as select * exclude (file_row_number), file_row_number as position
from read_parquet({file}, file_row_number = true)
"""

# By plain columns first: what follows from them is worked out for each combination, and not for each trial.
_COUNTS = f"""
select {", ".join(COLUMNS.values())}, sum(trials)::bigint from (
  select *, {{result}} as result from (
    select {{columns}}, count(*) as trials from judgment where {{where}} group by all
  )
) group by all limit {MOST_COMBINATIONS + 1}
"""  # noqa: S608  # ours

_FOUND = """stimulus_id in (
  select id from stimulus
  where contains(lower(concat_ws(chr(10), task, array_to_string(candidates, chr(10)))), lower(?)))
"""

_PAGE = """
select position, result, trial_id, prompt_id, stimulus_id, {factors} from trial
where {where}{bound} {order} limit {limit}
"""


NEARBY = 10_000
"""Trials among which those before one are looked for first."""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """One trial in a list."""

    position: int
    """Its place in the plan, from 0."""
    result: Result
    trial: Trial


@dataclass(frozen=True, slots=True)
class TrialPage:
    """Some trials, and from where the next ones are."""

    rows: tuple[TrialRow, ...]
    following: int | None
    """The position after which the next page begins; None on the last one."""


class TrialTable:
    """The trials of one run, open for any number of threads."""

    def __init__(self, run: Run, spill: Path, judgments: Path | None = None) -> None:
        """Without the file of `judgments` the table is made and filled by whoever opened it."""
        self._kind: JudgeKind = run.judge.kind
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[object, str], Shares] = OrderedDict()
        self._ordered = judgments is not None
        self._db = self._stack.enter_context(open_duckdb(spill=spill, memory=MEMORY))
        try:
            self._db.execute("set threads = 2")
            # A file of many shards has a long list of its parts, which takes longer to read than a page.
            self._db.execute("set global parquet_metadata_cache = true")
            files = ", ".join(quoted_glob(run.stimuli.file(part), "") for part in run.stimuli.parts())
            with _naming_damage("the test cases of this run"):
                self._db.execute(f"create view stimulus as select * from read_parquet([{files}])")  # noqa: S608  # ours
            if judgments is not None:
                with _naming_damage(judgments.name):
                    self._db.execute(_VIEW.format(file=quoted_glob(judgments, "")))
                    self.judge()
        except BaseException:
            self.close()
            raise

    def judge(self) -> None:
        """Makes the trials of the judgments, once there is a view of those: each with its result."""
        with self.cursor() as db:
            db.execute(f"create view trial as select *, {self._result} as result from judgment")  # noqa: S608  # ours

    def close(self) -> None:
        self._stack.close()

    @property
    def _result(self) -> str:
        return result_column(self.columns, self._kind)

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
            return {row[0] for row in db.execute("describe judgment").fetchall()}

    def shares(self, version: object = None, filters: Filters = Filters()) -> Shares:  # noqa: B008  # it cannot be changed
        """Counts the trials by every combination of values; once for each `version` of the table, and for a search."""
        key = version, filters.search
        found = self._counts.get(key)
        if found is None:
            searched = Filters(search=filters.search)
            columns = ", ".join(f'"{name}"' for name in COUNTED if name in self.columns)
            query = _COUNTS.format(where=searched.where, result=self._result, columns=columns)
            with self.cursor() as db:
                rows = db.execute(query, searched.values).fetchall()
            if len(rows) > MOST_COMBINATIONS:
                raise StoreError("its trials have too many different values", fix="umpirical verify")
            found = self._counts[key] = Shares({tuple(row[:-1]): row[-1] for row in rows})
            while len(self._counts) > SEARCHES_KEPT:
                self._counts.popitem(last=False)
        return found

    def page(
        self, filters: Filters, shares: Shares, *, after: int = -1, size: int = PAGE_SIZE, is_backwards: bool = False
    ) -> TrialPage:
        """Returns the trials that follow a position in the order of the filters, or those that come before it."""
        groups = shares.groups(filters)[:: -1 if is_backwards else 1]
        if after >= 0:
            own = self._group(after, SORTS[filters.sort])
            groups = groups[groups.index(own) :] if own in groups else []
        is_down = is_backwards != (filters.is_reversed and filters.sort == "trial")
        rows: list[TrialRow] = []
        for place, group in enumerate(groups):
            within = replace(filters, chosen=(*filters.chosen, *group.chosen))
            start = after if place == 0 else -1
            rows += self._stretch(within, start=start, most=size + 1 - len(rows), is_down=is_down)
            if len(rows) > size:
                return TrialPage(tuple(rows[:size]), rows[size - 1].position)
        return TrialPage(tuple(rows), None)

    def _group(self, position: int, names: Sequence[str]) -> Filters | None:
        """Returns the filters of the stretch that a trial is in; None if it is not in the table."""
        columns = ", ".join(["position", *(COLUMNS[name] for name in names)])
        with self.cursor() as db:
            found = db.execute(f"select {columns} from trial where position = ?", [position]).fetchone()  # noqa: S608  # ours
        return Filters(tuple(zip(names, found[1:], strict=True))) if found else None

    def _stretch(self, filters: Filters, *, start: int, most: int, is_down: bool) -> list[TrialRow]:
        """Returns trials in the order of the plan, or in the opposite one, from after `start` on."""
        bounds: list[tuple[str, list[int]]] = [("", [])]
        if start >= 0:
            bounds = [(f" and position {'<' if is_down else '>'} ?", [start])]
        if start >= 0 and is_down:
            # The one before is most often near; to look for it among all takes ten times as long.
            near = " and position between ? and ?", [start - NEARBY, start - 1]
            bounds = [near] if start <= NEARBY else [near, *bounds]
        # Without an order, rows come as they are in the file: those near the beginning are found at once.
        order = "order by position desc" if is_down else "" if self._ordered else "order by position"
        factors = ", ".join(f'"{name}"' for name in FACTORS if name in self.columns)
        found: list[dict[str, Any]] = []
        for bound, values in bounds:
            query = _PAGE.format(factors=factors, where=filters.where, bound=bound, order=order, limit=most)
            with self.cursor() as db:
                found = _records(db.execute(query, [*filters.values, *values]))
            if len(found) == most:
                break
        rows = (TrialRow(row["position"], row["result"], trial_from_row(row)) for row in found)
        return sorted(rows, key=lambda row: row.position, reverse=is_down)

    def results(self, first: int, last: int) -> dict[int, Result]:
        """Returns the results of the trials from one position to another, as far as they are in the table."""
        with self.cursor() as db:
            found = db.execute("select position, result from trial where position between ? and ?", [first, last])
            return dict(found.fetchall())

    def stimuli(self, names: Iterable[str]) -> dict[str, Stimulus]:
        """Returns the test cases with these ids."""
        with self.cursor() as db:
            rows = _records(db.execute("select * from stimulus where id in (select unnest(?))", [sorted({*names})]))
        return {row["id"]: stimulus_from_row(row) for row in rows}

    def copy_to(self, file: Path) -> None:
        """Writes the trials as judgments, for whoever counts them."""
        with self.cursor() as db:
            query = f"copy (select * exclude (position) from judgment) to {quoted_glob(file, '')} (format parquet)"  # noqa: S608  # ours
            db.execute(query)

    def positions(self, condition: str, values: list[Any], *, most: int) -> list[int]:
        """Returns the positions of trials by a condition of our own; its values are bound."""
        with self.cursor() as db:
            found = db.execute(f"select position from trial where {condition} limit {most:d}", values).fetchall()  # noqa: S608  # ours
        return sorted(row[0] for row in found)


def _records(found: "duckdb.DuckDBPyConnection") -> list[dict[str, Any]]:
    columns = [column[0] for column in found.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


@contextmanager
def _naming_damage(what: str) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        said = str(error).partition("\n")[0]
        raise Damaged(f"{what} cannot be read: {said}", fix="run: umpirical report") from None


# What a run in progress has answered so far, read shard by shard into a table of this process's own.


class Places:
    """Where in the plan each shard begins: the place of a trial follows from it.

    Every shard but the last has as many trials, unless they are rounds, of which there are few.
    """

    def __init__(self, run: Run) -> None:
        self._run, self._starts = run, [0]
        size = run.store.planned(0) if run.shards else 1
        self._size = 0 if "looks" in run.manifest else size

    def first(self, shard: int) -> int:
        """Returns the place of the first trial of a shard, or the end if it is behind the last."""
        if self._size:
            return shard * self._size
        for known in range(len(self._starts) - 1, shard):
            self._starts.append(self._starts[-1] + self._run.store.planned(known))
        return self._starts[shard]

    def shard(self, place: int) -> int:
        """Returns the shard that a place is in."""
        if self._size:
            return place // self._size
        self.first(self._run.shards)
        return bisect_right(self._starts, place) - 1


class RunReading:
    """The answers of one run as far as they have been read."""

    def __init__(self, run: Run, folder: Path, facts: Facts) -> None:
        self.run = run
        self.facts = facts
        self.version = 0
        """Changes with every shard that is read."""
        self.read = self.answered = 0
        """Responses that are in the table, and that there were at the last look."""
        self._places = Places(run)
        self._seen: dict[int, tuple[object, ...]] = {}
        self._rows: dict[int, int] = {}
        self._reader = reader_of(run.judge)
        self._lock = threading.Lock()
        folder.mkdir(parents=True)
        self.table = TrialTable(run, folder / "spill")
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
        responses, rows, end = now.responses(shard), [], self._places.first(shard + 1)
        for place, (trial, part) in enumerate(self.run.store.plan_shard(shard), self._places.first(shard)):
            if place >= end:
                raise Damaged(f"shard {shard} of the plan has more trials than the first")
            if (response := responses.get(trial.id)) is not None:
                outcome = self._reader(response, trial.presentation)
                stimulus = self.run.stimuli.part(part)[trial.stimulus_id]
                row = judgment_row(trial, stimulus, outcome, self._scale(trial), self.facts)
                rows.append(row | {"position": place})
        return rows

    def _scale(self, trial: Trial) -> Any:  # noqa: ANN401  # a scale, or none
        return trial.presentation.scale(self.run.judge.scale)

    def _replace(self, shard: int, rows: list[dict[str, Any]]) -> None:
        import pyarrow as pa

        first, end = self._places.first(shard), self._places.first(shard + 1)
        with self.table.cursor() as db:
            db.begin()
            db.execute("delete from own.trial where position between ? and ?", [first, end - 1])
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
            db.execute("create view judgment as select * from own.trial")
        self.table.judge()

    def _schema(self) -> Any:  # noqa: ANN401  # pyarrow has no types
        import pyarrow as pa

        return judgment_schema(self.facts.columns).append(pa.field("position", pa.int64()))
