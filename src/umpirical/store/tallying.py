"""Judgments to tallies, by DuckDB over Parquet. The only SQL that counts anything.

A slot answer is mapped back to content before any pair is classified: `content` is u or v, `slot` is 1 or 2. What a
`grade` judge was shown is `graded`, u or v, and `score` is its grade.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import StoreError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import (
    CallTally,
    GradePairTally,
    GradeTally,
    OutcomeTally,
    PairTally,
    Tallies,
    VacuumTally,
)
from umpirical.store.sql import open_duckdb, quoted_glob

if TYPE_CHECKING:
    import duckdb

__all__ = ["CALLS", "CALL_TALLIES", "refuse_doubles", "tally_judgments"]

# One row per trial. An abstention is no preference; unparsed, failed and unasked trials are no answer at all, and
# neither is a grade on a scale without order, which has no score.
CALLS = """
create temp view call as
select *,
  outcome = 'abstained' or choice is not null or score is not null as answered,
  case when choice in ('1', '2') then choice end as slot,
  case
    when choice = '1' then case "order" when 'uv' then 'u' else 'v' end
    when choice = '2' then case "order" when 'uv' then 'v' else 'u' end
  end as content,
  case winner when 0 then 'u' when 1 then 'v' end as better,
  case "order" when 'uv' then 'u' else 'v' end as graded
from read_parquet(?)
"""

CALL_TALLIES = """
select task_id, arm, family, stratum, delta, count(*),
  count(*) filter (choice = '1'), count(*) filter (choice = '2'), count(*) filter (choice = 'tie'),
  count(*) filter (outcome = 'abstained'), count(*) filter (outcome = 'unparsed'),
  count(*) filter (outcome = 'failed'), count(*) filter (outcome = 'unasked'),
  count(*) filter (outcome = 'verdict' and choice is null)
from call group by all order by all
"""

# A distinct prompt counts once, however often it was repeated.
_VACUUM_TALLIES = """
with prompt as (
  select task_id, arm, stratum, prompt_id,
    count(*) filter (answered) as answers, count(*) filter (slot is not null or score > 0) as preferences
  from call where family = 'vacuum' group by all
)
select task_id, arm, stratum, count(*) filter (answers > 0),
  coalesce(sum(preferences / answers) filter (answers > 0), 0), count(*) filter (answers = 0)
from prompt group by all order by all
"""

# A canonical pair is a stimulus and a repeat, asked in both orders.
_PAIR_TALLIES = """
with pair as (
  select task_id, arm, family, delta, stratum, stimulus_id, repeat,
    count(*) filter (answered) = 2 and count(distinct "order") filter (answered) = 2 as complete,
    count(slot) as commits,
    count(distinct slot) as slots, count(distinct content) as contents,
    any_value(slot) as slot, any_value(content) as content,
    count(*) filter (content = better) as correct,
    count(*) filter (content <> better) as wrong,
    count(*) filter (slot = '1') as slot_1, count(*) filter (slot = '2') as slot_2
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
  count(*) filter (not complete),
  stratum,
  coalesce(sum(slot_1) filter (complete), 0)::bigint,
  coalesce(sum(slot_2) filter (complete), 0)::bigint,
  count(*) filter (complete and commits = 1 and slot = '1' and content = 'u')
from pair group by all order by all
"""

# What one pair got, repeats together, and how many pairs got the same. Only repeats answered in both orders count, so
# that the model is fitted to the pairs the rates are made of.
_OUTCOME_TALLIES = """
with repeated as (
  select *, count(*) filter (answered) over (partition by stimulus_id, arm, repeat) = 2 as complete
  from call where family <> 'vacuum'
), pair as (
  select task_id, arm, family, stratum, case winner when 1 then -delta else delta end as delta,
    base, log_length, stimulus_id,
    count(*) filter ("order" = 'uv' and slot = '1') as uv1, count(*) filter ("order" = 'uv' and slot = '2') as uv2,
    count(*) filter ("order" = 'uv' and slot is null) as uvt,
    count(*) filter ("order" = 'vu' and slot = '1') as vu1, count(*) filter ("order" = 'vu' and slot = '2') as vu2,
    count(*) filter ("order" = 'vu' and slot is null) as vut
  from repeated where complete group by all
)
select task_id, arm, family, stratum, delta, coalesce(base, 0), log_length,
  (uv1, uv2, uvt, vu1, vu2, vut), count(*)
from pair group by all order by all
"""

# Where neither answer is better, u stands for the better one.
_GRADE_PAIR_TALLIES = """
with pair as (
  select task_id, arm, family, stratum, delta, stimulus_id, repeat,
    any_value(score) filter (graded = coalesce(better, 'u'))
      - any_value(score) filter (graded <> coalesce(better, 'u')) as difference
  from call where family <> 'vacuum' group by all
)
select task_id, arm, family, stratum, delta, count(difference),
  count(*) filter (difference > 0), count(*) filter (difference < 0), count(*) filter (difference = 0),
  coalesce(sum(difference), 0), coalesce(sum(abs(difference)), 0), count(*) filter (difference is null)
from pair group by all order by all
"""

# One answer may come up in two pairs: it was asked about once, and is counted once in its family.
_GRADE_TALLIES = """
select task_id, arm, family, level, score, count(distinct trial_id)
from call where score is not null group by all order by all
"""


def tally_judgments(folder: Path, kind: JudgeKind = "compare") -> Tallies:
    """Counts every judgment in `folder`, per task. Refuses if a trial is there twice."""
    with open_duckdb(spill=folder / "spill") as db:
        # A view takes no parameters, so the path is put into its text.
        db.execute(CALLS.replace("?", quoted_glob(folder, "*.parquet")))
        refuse_doubles(db, kind)

        def rows(query: str) -> list[Any]:
            return db.execute(query).fetchall()

        vacuum = tuple(VacuumTally(*row) for row in rows(_VACUUM_TALLIES))
        calls = tuple(CallTally(*row) for row in rows(CALL_TALLIES))
        if kind == "grade":
            return Tallies(
                vacuum=vacuum,
                calls=calls,
                grade_pairs=tuple(GradePairTally(*row) for row in rows(_GRADE_PAIR_TALLIES)),
                grades=tuple(GradeTally(*row) for row in rows(_GRADE_TALLIES)),
            )
        return Tallies(
            vacuum=vacuum,
            pairs=tuple(PairTally(*row) for row in rows(_PAIR_TALLIES)),
            calls=calls,
            outcomes=tuple(OutcomeTally(*row) for row in rows(_OUTCOME_TALLIES)),
        )


def refuse_doubles(db: "duckdb.DuckDBPyConnection", kind: JudgeKind) -> None:
    """A trial is a question; a `grade` judge is asked the same of an answer that came up in two pairs."""
    trial = "trial_id" if kind == "compare" else '(trial_id, stimulus_id, "order")'
    [(doubled,)] = db.execute(f"select count(*) - count(distinct {trial}) from call").fetchall()  # noqa: S608  # ours
    if doubled:
        raise StoreError(f"{doubled} trials are counted twice", fix="delete judgments/ and report again")
