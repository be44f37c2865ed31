"""The trials of a run as a table that DuckDB reads, within a limit on memory: counted by value, and paged.

A measured run has its judgments in one Parquet file, in the order of the plan. What is read of a run in progress is
kept in a database of this process's own.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import StoreError
from umpirical.store.manifests import Damaged
from umpirical.store.sql import open_duckdb, quoted_glob
from umpirical.view.filters import COLUMNS, Filters, Shares

if TYPE_CHECKING:
    import duckdb

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
select position, trial_id, stimulus_id, family, coalesce(stratum, '') as part, delta as step, arm, "order", repeat,
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
    arm: str
    order: str
    repeat: int
    outcome: str
    answer: str | None
    """A slot, `tie`, or a grade; None without a verdict."""
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
            with _naming_damage("what was read of this run"):
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
                raise StoreError(
                    "its trials have more different values than those of any study", fix="umpirical verify"
                )
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
        raise Damaged(f"{what} cannot be read: {said}", fix="umpirical report  reads the run again") from None
