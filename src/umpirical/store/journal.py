"""The journal: responses of the shards in progress, durable as soon as a batch is committed."""

import sqlite3
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path
from typing import Any

from umpirical.domain.responses import Response
from umpirical.store.schemas import response_from_row, response_row

__all__ = ["COLUMNS", "RESPONSE_TYPES", "Journal"]

COLUMNS = (
    "trial_id",
    "text",
    "failure",
    "failure_detail",
    "finish_reason",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "logprobs",
    "sent",
    "served_by",
    "latency_ms",
    "attempts",
    "rate_limited",
    "cost",
    "price_table",
    "asked_at",
)

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
  {RESPONSE_TYPES}, shard integer not null, generation integer not null
) without rowid;
create index if not exists response_by_shard on response (shard);
"""

# A trial is answered once. Only a failure may be replaced by a later response.
_INSERT = f"""
insert into response (shard, generation, {", ".join(COLUMNS)})
values {{rows}}
on conflict (trial_id) do update set
  {", ".join(f"{column} = excluded.{column}" for column in COLUMNS[1:])}
where response.failure is not null
"""  # noqa: S608  # column names are ours


_ROW = f"({', '.join('?' * (len(COLUMNS) + 2))})"

ROWS_PER_STATEMENT = 500
"""SQLite takes 32,766 values in one statement."""

_values = itemgetter(*COLUMNS)


class Journal:
    """A SQLite database in WAL mode, written by one process at a time."""

    def __init__(self, path: Path) -> None:
        # The executor commits from worker threads, but never from two at once.
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("pragma journal_mode = wal")
        # FULL: a committed response is paid for and must survive a power cut, not only a crash.
        self._db.execute("pragma synchronous = full")
        self._db.executescript(_CREATE)

    def commit(self, shard_of: Iterable[tuple[int, int, Response]]) -> None:
        """Makes (shard, generation, response) triples durable, all or none."""
        rows = [(s, g, *_values(response_row(response))) for s, g, response in shard_of]
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

    def responses(self, shard: int) -> list[Response]:
        """Returns the journal's responses of one shard, in order of trial id."""
        found = self._db.execute("select * from response where shard = ? order by trial_id", (shard,))
        return [response_from_row(row) for row in found]

    def rows(self, shard: int) -> list[dict[str, Any]]:
        """Returns the journal's responses of one shard, as rows to be sealed."""
        columns = ", ".join(COLUMNS)
        found = self._db.execute(f"select {columns} from response where shard = ? order by trial_id", (shard,))  # noqa: S608
        return [dict(row) for row in found]

    def holds_any(self) -> bool:
        return self._db.execute("select 1 from response limit 1").fetchone() is not None

    def forget(self, shard: int, generation: int) -> None:
        """Drops what has been sealed."""
        self._db.execute("delete from response where shard = ? and generation = ?", (shard, generation))

    def close(self) -> None:
        self._db.close()
