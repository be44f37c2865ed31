"""What a generator and its validators said, and the resulting attempts: one SQLite database in WAL mode per study.

A call is durable before it is used, so a killed run pays for no call twice; an attempt is durable together with its
stimulus, so a reviewer can start while the generator is still writing.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt, CheckResult
from umpirical.store.journal import COLUMNS, RESPONSE_TYPES
from umpirical.store.lock import locked
from umpirical.store.schemas import response_from_row, response_row, stimulus_from_row, stimulus_row, storable

_CREATE = f"""
create table if not exists call (
  {RESPONSE_TYPES}, commission text not null, role text not null
) without rowid;
create table if not exists attempt (
  serial integer primary key, commission text not null, number integer not null, test text not null,
  temperature real not null, text text not null, checks text not null, opinions text not null,
  rejected text not null, stimulus text, unique (commission, number)
);
create unique index if not exists one_stimulus_a_commission on attempt (commission) where stimulus is not null;
create index if not exists attempt_by_test on attempt (test);
"""

# An answer is final. Only a failure is replaced by a later response.
_CALL = f"""
insert into call (commission, role, {", ".join(COLUMNS)}) values (?, ?, {", ".join("?" * len(COLUMNS))})
on conflict (trial_id) do update set {", ".join(f"{column} = excluded.{column}" for column in COLUMNS[1:])}
where call.failure is not null
"""  # noqa: S608  # column names are ours

_ATTEMPT = """
insert into attempt (commission, number, test, temperature, text, checks, opinions, rejected, stimulus)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_FILE = "attempts.sqlite"

_values = itemgetter(*COLUMNS)

Called = tuple[str, str, Response]
"""Commission, role and response."""


class GenerationStore:
    """The generation of one study. Written by one process at a time, read by any number."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        # Commits come from worker threads, but never two at once.
        self._db = sqlite3.connect(folder / _FILE, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("pragma journal_mode = wal")
        # FULL: a committed call is paid for and must survive a power cut, not only a crash.
        self._db.execute("pragma synchronous = full")
        self._db.executescript(_CREATE)

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether there is a record. Opening one would create it, and reading must not change anything."""
        return (folder / _FILE).is_file()

    def locked(self) -> AbstractContextManager[None]:
        """Held while stimuli are generated."""
        return locked(self.folder, held="another process is generating test cases for this study")

    def commit(self, calls: Iterable[Called], attempts: Iterable[Attempt]) -> None:
        """Makes calls and settled attempts durable, all or none."""
        self._db.execute("begin immediate")
        try:
            self._db.executemany(
                _CALL, ((commission, role, *_values(response_row(said))) for commission, role, said in calls)
            )
            self._db.executemany(_ATTEMPT, map(_attempt_row, attempts))
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def call(self, name: str) -> Response | None:
        """Returns the last response to a call, perhaps a failure, whichever commission it was made for."""
        row = self._db.execute("select * from call where trial_id = ?", (name,)).fetchone()
        return None if row is None else response_from_row(dict(row))

    def failures(self, commissions: Collection[str]) -> Counter[tuple[str, str]]:
        """Counts the failed calls for these commissions, by kind and detail."""
        query = "select commission, failure, failure_detail from call where failure is not null"
        return Counter((row[1], row[2]) for row in self._db.execute(query) if row[0] in commissions)

    def settled(self) -> dict[str, tuple[int, bool]]:
        """Returns, for every commission tried, the number of settled attempts and whether one is a stimulus."""
        query = "select commission, count(*), count(stimulus) from attempt group by commission"
        return {commission: (tried, bool(taken)) for commission, tried, taken in self._db.execute(query)}

    def attempts(self, commissions: Sequence[str] | None = None) -> Iterator[Attempt]:
        """Yields the settled attempts in the order they were settled, of the named commissions or of all."""
        wanted = None if commissions is None else set(commissions)
        for row in self._db.execute("select * from attempt order by serial"):
            if wanted is None or row["commission"] in wanted:
                yield _attempt(row)

    def accepted_after(self, serial: int) -> Iterator[tuple[int, Attempt]]:
        """Yields accepted attempts that were settled after this serial number, each with its own number.

        Only one process writes, so a later commit has a greater number and no reader misses any.
        """
        query = "select * from attempt where serial > ? and stimulus is not null order by serial"
        for row in self._db.execute(query, (serial,)):
            yield row["serial"], _attempt(row)

    def spent(self, commissions: Collection[str] | None = None) -> Iterator[tuple[str, Response]]:
        """Yields the role and response of every call, for the named commissions or for all."""
        for row in self._db.execute("select * from call order by trial_id"):
            if commissions is None or row["commission"] in commissions:
                yield row["role"], response_from_row(dict(row))

    def close(self) -> None:
        self._db.close()


def _attempt_row(attempt: Attempt) -> tuple[Any, ...]:
    stimulus = None if attempt.stimulus is None else canonical_json(stimulus_row(attempt.stimulus))
    return (
        attempt.commission,
        attempt.number,
        attempt.test,
        attempt.temperature,
        storable(attempt.text),
        canonical_json([asdict(result) for result in attempt.checks]),
        canonical_json(list(attempt.opinions)),
        storable(attempt.rejected),
        stimulus,
    )


def _attempt(row: sqlite3.Row) -> Attempt:
    return Attempt(
        commission=row["commission"],
        test=row["test"],
        number=row["number"],
        temperature=row["temperature"],
        text=row["text"],
        checks=tuple(CheckResult(**result) for result in json.loads(row["checks"])),
        opinions=tuple(json.loads(row["opinions"])),
        rejected=row["rejected"],
        stimulus=None if row["stimulus"] is None else stimulus_from_row(json.loads(row["stimulus"])),
    )
