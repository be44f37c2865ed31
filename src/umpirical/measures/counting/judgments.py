"""Counts judgments with DuckDB over Parquet: the part that all protocols share.

A protocol writes the queries. Their columns are named like the fields of the tally they make, so that an extra or moved
column cannot end up as another number.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from umpirical.domain.errors import StoreError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import CallTally
from umpirical.store.sql import open_duckdb, quoted, quoted_glob

if TYPE_CHECKING:
    import duckdb


T = TypeVar("T")

# One row per trial. An abstention is an answer; unparsed, failed and unasked trials are not, and neither is a grade
# on a scale without order, which has no score.
JUDGMENTS = """
create or replace temp view judgment as
select *, outcome = 'abstained' or choice is not null or score is not null as answered
from read_parquet({files})
"""

_CALL_TALLIES = """
select cluster, variant, family, stratum, delta, count(*) as planned,
  count(*) filter (choice = '1') as position_1, count(*) filter (choice = '2') as position_2,
  count(*) filter (choice = 'tie') as tie,
  count(*) filter (outcome = 'abstained') as abstained, count(*) filter (outcome = 'unparsed') as unparsed,
  count(*) filter (outcome = 'failed') as failed, count(*) filter (outcome = 'unasked') as unasked,
  count(*) filter (outcome = 'verdict' and choice is null) as graded,
  count(reasoning) as reasoned, count(*) filter (reasoning <> 'states-none') as stated,
  count(*) filter (reasoning = 'contradicts') as contradicted
from judgment group by all order by all
"""

PART = 10_000_000
"""Judgments that are counted at a time: five million pairs fit into the memory that there is."""

ROWS = 2_000
"""Rows of a query that are taken at a time."""


class Counting:
    """The judgments of a run as the view `judgment`, open for queries."""

    def __init__(self, db: "duckdb.DuckDBPyConnection", view: str) -> None:
        """`view` is the statement that makes it."""
        self._db, self._view = db, view

    def in_parts(self, most: int = PART) -> Iterator[None]:
        """Makes `judgment` one part of the judgments after the other, each of about `most` at most: whole clusters.

        What is counted by cluster is the same in the end, and takes the memory of a part.
        """
        parts: list[list[str]] = []
        size = most
        for row in self.rows("select cluster, count(*) as judgments from judgment group by cluster order by cluster"):
            if size + row["judgments"] > most:
                parts.append([])
                size = 0
            parts[-1].append(row["cluster"])
            size += row["judgments"]
        for clusters in parts:
            if len(parts) > 1:
                self._db.execute(f"{self._view} where cluster in ({', '.join(map(quoted, clusters))})")
            yield

    def execute(self, *statements: str) -> None:
        """Executes statements that return nothing: views, tables and macros for later queries."""
        for statement in statements:
            self._db.execute(statement)

    def rows(self, query: str, parameters: object = None) -> list[dict[str, Any]]:
        """Returns the rows of a query, each as a mapping from column names."""
        return list(self.each(query, parameters))

    def each(self, query: str, parameters: object = None) -> Iterator[dict[str, Any]]:
        """Yields the same rows, a few at a time: a mapping takes five times the memory of the tally made of it.

        No other query may be made before the last of them.
        """
        found = self._db.execute(query, parameters)
        names = [column[0] for column in found.description or ()]
        # A cluster is in many rows, and so is a share of 0 or 1: each row would keep copies of its own.
        texts: dict[str, str] = {}
        numbers: dict[float, float] = {}
        while some := found.fetchmany(ROWS):
            for row in some:
                shared = (
                    texts.setdefault(value, value)
                    if type(value) is str
                    else numbers.setdefault(value, value)
                    if type(value) is float
                    else value
                    for value in row
                )
                yield dict(zip(names, shared, strict=True))

    def tallies(self, kind: type[T], query: str) -> tuple[T, ...]:
        """Returns a tally for every row; its fields are the columns of the same names."""
        return tuple(kind(**row) for row in self.each(query))

    def calls(self) -> tuple[CallTally, ...]:
        """Counts every trial by outcome, in the same way for every protocol."""
        return self.tallies(CallTally, _CALL_TALLIES)


@contextmanager
def counting(judgments: Path, kind: JudgeKind) -> Iterator[Counting]:
    """Opens judgments for counting: a file, which stays as it is meanwhile. Raises if a trial occurs twice."""
    with open_duckdb(spill=judgments.with_name("spill")) as db:
        # A view takes no parameters, so the path is part of its text.
        view = JUDGMENTS.format(files=quoted_glob(judgments, ""))
        db.execute(view)
        _refuse_doubles(db, kind)
        yield Counting(db, view)


def _refuse_doubles(db: "duckdb.DuckDBPyConnection", kind: JudgeKind) -> None:
    """Raises if a trial is counted twice; a `grade` judge shares one trial for an answer that occurs in two pairs.

    It also shares one for two tests whose prompts are the same.
    """
    trial = "trial_id" if kind == "compare" else 'trial_id, stimulus_id, "order", prompt'
    # Groups are put on disk where memory ends; a count of distinct values has to fit.
    repeated = f"select count(*) - 1 as more from judgment group by {trial} having count(*) > 1"  # noqa: S608  # ours
    [(doubled,)] = db.execute(f"select coalesce(sum(more), 0)::bigint from ({repeated})").fetchall()  # noqa: S608  # ours
    if doubled:
        raise StoreError(f"{doubled} trials are counted twice", fix="umpirical verify  says which file is at fault")
