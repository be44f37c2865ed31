"""Judgments to tallies, by DuckDB over Parquet. The only SQL that counts anything.

A slot answer is mapped back to content before any pair is classified: `content` is u or v, `slot` is 1 or 2.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from umpirical.domain.errors import StoreError
from umpirical.domain.tallies import CallTally, PairTally, Tallies, VacuumTally
from umpirical.store.sql import open_duckdb, quoted_glob

if TYPE_CHECKING:
    import duckdb

__all__ = ["tally_judgments"]

# One row per trial. An abstention is no preference; unparsed, failed and unasked trials are no answer at all.
_CALLS = """
create temp view call as
select *,
  outcome in ('verdict', 'abstained') as answered,
  case when choice in ('1', '2') then choice end as slot,
  case
    when choice = '1' then case "order" when 'uv' then 'u' else 'v' end
    when choice = '2' then case "order" when 'uv' then 'v' else 'u' end
  end as content,
  case winner when 0 then 'u' when 1 then 'v' end as better
from read_parquet(?)
"""

_CALL_TALLIES = """
select task_id, arm, family, stratum, delta, count(*),
  count(*) filter (choice = '1'), count(*) filter (choice = '2'), count(*) filter (choice = 'tie'),
  count(*) filter (outcome = 'abstained'), count(*) filter (outcome = 'unparsed'),
  count(*) filter (outcome = 'failed'), count(*) filter (outcome = 'unasked')
from call group by all order by all
"""

# A distinct prompt counts once, however often it was repeated.
_VACUUM_TALLIES = """
with prompt as (
  select task_id, arm, stratum, prompt_id,
    count(*) filter (answered) as answers, count(*) filter (slot is not null) as preferences
  from call where family = 'vacuum' group by all
)
select task_id, arm, stratum, count(*) filter (answers > 0),
  coalesce(sum(preferences / answers) filter (answers > 0), 0), count(*) filter (answers = 0)
from prompt group by all order by all
"""

# A canonical pair is a stimulus and a repeat, asked in both orders.
_PAIR_TALLIES = """
with pair as (
  select task_id, arm, family, delta, stimulus_id, repeat,
    count(*) filter (answered) = 2 and count(distinct "order") filter (answered) = 2 as complete,
    count(slot) as commits,
    count(distinct slot) as slots, count(distinct content) as contents,
    any_value(slot) as slot, any_value(content) as content,
    count(*) filter (content = better) as correct,
    count(*) filter (content <> better) as wrong
  from call where family <> 'vacuum' group by all
)
select task_id, arm, family, delta, count(*) filter (complete),
  count(*) filter (complete and commits = 2 and contents = 1),
  count(*) filter (complete and commits = 2 and slots = 1),
  count(*) filter (complete and commits = 1),
  count(*) filter (complete and commits = 0),
  count(*) filter (complete and commits = 1 and slot = '1'),
  count(*) filter (complete and commits = 1 and content = 'u'),
  coalesce(sum(correct) filter (complete), 0)::bigint,
  coalesce(sum(wrong) filter (complete), 0)::bigint,
  coalesce(sum(2 - commits) filter (complete), 0)::bigint,
  count(*) filter (not complete)
from pair group by all order by all
"""


def tally_judgments(folder: Path) -> Tallies:
    """Counts every judgment in `folder`, per task. Refuses if a trial is there twice."""
    with open_duckdb(spill=folder / "spill") as db:
        # A view takes no parameters, so the path is put into its text.
        db.execute(_CALLS.replace("?", quoted_glob(folder, "*.parquet")))
        _refuse_doubles(db)
        return Tallies(
            vacuum=tuple(VacuumTally(*row) for row in db.execute(_VACUUM_TALLIES).fetchall()),
            pairs=tuple(PairTally(*row) for row in db.execute(_PAIR_TALLIES).fetchall()),
            calls=tuple(CallTally(*row) for row in db.execute(_CALL_TALLIES).fetchall()),
        )


def _refuse_doubles(db: "duckdb.DuckDBPyConnection") -> None:
    [(doubled,)] = db.execute("select count(*) - count(distinct trial_id) from call").fetchall()
    if doubled:
        raise StoreError(f"{doubled} trials are counted twice", fix="delete judgments/ and report again")
