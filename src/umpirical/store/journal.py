"""The journal: responses of the shards in progress, durable as soon as a batch is committed.

One process writes it, and any number read it. Processes that ask a run together have one each. A reader sees it as it
was at one moment, changes nothing in it, and needs no permission to write.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from umpirical.domain.responses import Response
from umpirical.store.database_view import DatabaseView
from umpirical.store.manifests import Damaged
from umpirical.store.schemas import RESPONSE_COLUMNS, response_from_row, response_values

COLUMNS = RESPONSE_COLUMNS

RESPONSE_TYPES = """
  trial_id text primary key,
  text text, failure text, failure_detail text not null, finish_reason text not null,
  input_tokens integer, output_tokens integer, cached_tokens integer,
  logprobs text not null, sent text not null, served_by text not null,
  latency_ms real not null, attempts integer not null,
  rate_limited integer not null, cost text, price_table text not null, asked_at text not null
"""
"""The columns of a response in SQLite."""

_CREATE = f"""
create table if not exists response (
  {RESPONSE_TYPES}, shard integer not null, generation integer not null, digest text
) without rowid;
create index if not exists response_by_shard on response (shard);
"""

_CHECKED = (*COLUMNS, "shard", "generation")
"""What the digest of a row covers."""

_STORED = (*_CHECKED, "digest")

# A trial is answered once. Only a failure may be replaced by a later response.
_INSERT = f"""
insert into response ({", ".join(_STORED)})
values {{rows}}
on conflict (trial_id) do update set
  {", ".join(f"{column} = excluded.{column}" for column in _STORED[1:])}
where response.failure is not null
"""  # noqa: S608  # column names are ours


_ROW = f"({', '.join('?' * len(_STORED))})"

ROWS_PER_STATEMENT = 500
"""SQLite takes 32,766 values in one statement."""


class _Rows:
    """The rows of a journal, open for reading."""

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        self.path = path
        self._db = db

    def counts(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Returns how many responses there are, and how many of them are failures, by shard and generation."""
        query = "select shard, generation, count(*), count(failure) from response group by shard, generation"
        with self._naming_damage():
            return {(row[0], row[1]): (row[2], row[3]) for row in self._db.execute(query)}

    def trials(self) -> list[tuple[str, int, int, bool]]:
        """Returns the id, the shard and the generation of every trial, and whether it failed."""
        query = "select trial_id, shard, generation, failure is not null from response"
        with self._naming_damage():
            return [(row[0], row[1], row[2], bool(row[3])) for row in self._db.execute(query)]

    def responses(self, shard: int) -> list[Response]:
        """Returns the responses of one shard, in order of trial id."""
        return [response_from_row(row) for _, row in self._rows(shard)]

    def _rows(self, shard: int) -> list[tuple[int, dict[str, Any]]]:
        """Returns the generation and the checked row of every response of a shard, in order of trial id."""
        found = []
        with self._naming_damage():
            # A row of the first format has no digest.
            digest = "digest" if "digest" in _columns(self._db) else "null"
            query = f"select {', '.join(_CHECKED)}, {digest} from response where shard = ? order by trial_id"  # noqa: S608  # ours
            for *stored, said in self._db.execute(query, (shard,)):
                if said is not None and said != _digest(stored):
                    raise sqlite3.DatabaseError(f"trial {stored[0]} has been changed since it was written")
                found.append((stored[-1], dict(zip(COLUMNS, stored, strict=False))))
        return found

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise Damaged(f"cannot read {self.path}: {error}. It contains answers that are not sealed yet") from None

    def close(self) -> None:
        self._db.close()


class Journal(_Rows):
    """A SQLite database in WAL mode, open for writing, by one process at a time."""

    def __init__(self, path: Path) -> None:
        # The executor commits from worker threads, but never from two at once.
        super().__init__(path, sqlite3.connect(path, isolation_level=None, check_same_thread=False))
        self._db.execute("pragma journal_mode = wal")
        # FULL: a committed response is paid for and must survive a power cut, not only a crash.
        self._db.execute("pragma synchronous = full")
        self._db.executescript(_CREATE)
        if "digest" not in _columns(self._db):
            self._db.execute("alter table response add column digest text")

    def commit(self, shard_of: Iterable[tuple[int, int, Response]]) -> None:
        """Makes (shard, generation, response) triples durable, all or none."""
        rows = [_stored(response, shard, generation) for shard, generation, response in shard_of]
        self._db.execute("begin immediate")
        try:
            # One statement for many rows: each statement releases Python's lock and waits to get it back.
            for start in range(0, len(rows), ROWS_PER_STATEMENT):
                some = rows[start : start + ROWS_PER_STATEMENT]
                self._db.execute(_INSERT.format(rows=", ".join([_ROW] * len(some))), [v for row in some for v in row])
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def rows(self, shard: int, generation: int) -> list[dict[str, Any]]:
        """Returns the journal's responses of one generation of a shard, as rows to be sealed."""
        return [row for found, row in self._rows(shard) if found == generation]

    def unsealed(self) -> dict[tuple[int, int], list[dict[str, Any]]]:
        """Returns every row that is left, by shard and generation."""
        found: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for (shard,) in self._db.execute("select distinct shard from response").fetchall():
            for generation, row in self._rows(shard):
                found.setdefault((shard, generation), []).append(row)
        return found

    def take_up(self, other: "Journal") -> None:
        """Makes the rows of another journal durable here."""
        for (shard, generation), rows in other.unsealed().items():
            self.commit((shard, generation, response_from_row(row)) for row in rows)

    def remove(self) -> None:
        """Closes the journal and removes its file. Only for one that has been taken up by another."""
        # Closed by its last user, a database has no log left, which another file of this name would take for its own.
        self.close()
        self.path.unlink()

    def forget(self, shard: int, generation: int) -> None:
        """Drops what has been sealed. Only for what has been read back from the sealed file."""
        self._db.execute("delete from response where shard = ? and generation = ?", (shard, generation))


class JournalView(_Rows):
    """The journal as it was when this was opened. Empty if there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._view: DatabaseView | None = None
        with self._naming_damage():
            super().__init__(path, self._open())

    def close(self) -> None:
        super().close()
        if self._view is not None:
            self._view.close()

    def _open(self) -> sqlite3.Connection:
        if self.path.exists() and (view := self._view_of_it()) is not None:
            self._view = view
            try:
                _check_pages(self._view.db)
                # Between making the file and the table in it, a writer has committed nothing.
                made = self._view.db.execute("select count(*) from sqlite_master").fetchone() != (0,)
            except BaseException:
                self._view.close()
                raise
            if made:
                return self._view.db
        empty = sqlite3.connect(":memory:", check_same_thread=False)
        empty.executescript(_CREATE)
        return empty

    def _view_of_it(self) -> DatabaseView | None:
        """Returns the view; None if the file has been taken up and removed meanwhile."""
        try:
            return DatabaseView(self.path)
        except (sqlite3.DatabaseError, FileNotFoundError):
            if self.path.exists():
                raise
            return None


class JournalViews:
    """The journals of all processes that ask a run together, each as it was when this was opened, read as one.

    A row may be in two of them, if a process was killed while it took up the journal of another. It counts once.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        """They are opened in this order, so one that is taken up by another has to come before it."""
        self._views: list[JournalView] = []
        try:
            for path in paths:
                self._views.append(JournalView(path))
        except BaseException:
            self.close()
            raise

    def counts(self) -> dict[tuple[int, int], tuple[int, int]]:
        if len(self._views) == 1:
            return self._views[0].counts()
        found: dict[str, tuple[int, int, bool]] = {}
        for view in self._views:
            for trial_id, shard, generation, failed in view.trials():
                if trial_id not in found or found[trial_id][2]:
                    found[trial_id] = (shard, generation, failed)
        counts: dict[tuple[int, int], tuple[int, int]] = {}
        for shard, generation, failed in found.values():
            rows, lost = counts.get((shard, generation), (0, 0))
            counts[shard, generation] = rows + 1, lost + failed
        return counts

    def responses(self, shard: int) -> list[Response]:
        if len(self._views) == 1:
            return self._views[0].responses(shard)
        found: dict[str, Response] = {}
        for view in self._views:
            for response in view.responses(shard):
                if response.trial_id not in found or found[response.trial_id].failure is not None:
                    found[response.trial_id] = response
        return [found[trial_id] for trial_id in sorted(found)]

    def close(self) -> None:
        for view in self._views:
            view.close()


def _check_pages(db: sqlite3.Connection) -> None:
    """Raises if a page is damaged, or an index: a row that it hides would be asked again, or counted as never asked."""
    [found] = db.execute("pragma integrity_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def _columns(db: sqlite3.Connection) -> list[str]:
    return [row[1] for row in db.execute("pragma table_info(response)")]


def _stored(response: Response, shard: int, generation: int) -> tuple[object, ...]:
    checked = (*response_values(response), shard, generation)
    return (*checked, _digest(checked))


def _digest(checked: Sequence[object]) -> str:
    """Returns the digest of a row: SQLite does not notice a changed byte in a text."""
    return hashlib.sha256(repr(tuple(checked)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
