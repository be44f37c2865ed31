"""Counts judgments of controlled stimuli into tallies.

A slot answer is mapped back to content before any pair is classified: `content` is u or v, `slot` is 1 or 2. The
candidate that a `grade` judge was shown is `graded`, u or v, and `score` is its grade.
"""

from pathlib import Path

from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import (
    GradePairTally,
    GradeTally,
    LayoutTally,
    OutcomeTally,
    PairTally,
    Tallies,
    VacuumTally,
)
from umpirical.domain.trials import PAIR_FACTORS
from umpirical.store.counting import counting

__all__ = ["tally_judgments"]

_PAIR = f"stimulus_id, {', '.join(PAIR_FACTORS)}"
"""Two calls that agree in these are the two orders of one pair."""

_CALLS = """
create temp view call as
select *,
  case when choice in ('1', '2') then choice end as slot,
  case
    when choice = '1' then case "order" when 'uv' then 'u' else 'v' end
    when choice = '2' then case "order" when 'uv' then 'v' else 'u' end
  end as content,
  case winner when 0 then 'u' when 1 then 'v' end as better,
  case "order" when 'uv' then 'u' else 'v' end as graded
from judgment
"""

# A distinct prompt counts once, however often it was repeated.
_VACUUM_TALLIES = """
with prompt as (
  select task_id, arm, stratum, prompt_id,
    count(*) filter (answered) as answers, count(*) filter (slot is not null or score > 0) as preferences
  from call where family = 'vacuum' group by all
)
select task_id, arm, stratum, count(*) filter (answers > 0) as prompts,
  coalesce(sum(preferences / answers) filter (answers > 0), 0) as false_preferences,
  count(*) filter (answers = 0) as unanswered
from prompt group by all order by all
"""

_PAIR_TALLIES = f"""
with pair as (
  select task_id, family, delta, stratum, {_PAIR},
    count(*) filter (answered) = 2 and count(distinct "order") filter (answered) = 2 as complete,
    count(slot) as commits,
    count(distinct slot) as slots, count(distinct content) as contents,
    any_value(slot) as slot, any_value(content) as content,
    count(*) filter (content = better) as correct,
    count(*) filter (content <> better) as wrong,
    count(*) filter (slot = '1') as slot_1, count(*) filter (slot = '2') as slot_2
  from call where family <> 'vacuum' group by all
)
select task_id, arm, family, delta, count(*) filter (complete) as pairs,
  count(*) filter (complete and commits = 2 and contents = 1) as stable,
  count(*) filter (complete and commits = 2 and slots = 1) as positional,
  count(*) filter (complete and commits = 1) as one_sided,
  count(*) filter (complete and commits = 0) as no_preference,
  count(*) filter (complete and commits = 1 and slot = '1') as one_sided_slot_1,
  count(*) filter (complete and commits = 1 and content = 'u') as one_sided_u,
  coalesce(sum(correct) filter (complete), 0)::bigint as correct_calls,
  coalesce(sum(wrong) filter (complete), 0)::bigint as wrong_calls,
  coalesce(sum(2 - commits) filter (complete), 0)::bigint as tie_calls,
  count(*) filter (not complete) as incomplete,
  stratum,
  coalesce(sum(slot_1) filter (complete), 0)::bigint as slot_1_calls,
  coalesce(sum(slot_2) filter (complete), 0)::bigint as slot_2_calls,
  count(*) filter (complete and commits = 1 and slot = '1' and content = 'u') as one_sided_u_slot_1
from pair group by all order by all
"""  # noqa: S608  # the factors are ours

# The outcomes of one pair over all repeats, and how many pairs have the same. Only repeats answered in both orders
# count, so that the model is fitted to the same pairs as the rates.
_OUTCOME_TALLIES = f"""
with repeated as (
  select *, count(*) filter (answered) over (partition by {_PAIR}) = 2 as complete
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
select task_id, arm, family, stratum, delta, coalesce(base, 0) as base, log_length,
  (uv1, uv2, uvt, vu1, vu2, vut) as counts, count(*) as pairs
from pair group by all order by all
"""  # noqa: S608  # likewise

# Pairs with nothing to prefer, by layout. Repeats of a pair are averaged, so that a pair counts once.
_LAYOUT_TALLIES = f"""
with asked as (
  select task_id, family, {_PAIR},
    count(*) filter (answered) as answers,
    avg(case slot when '1' then 1 when '2' then -1 else 0 end) as difference,
    avg(case choice when 'tie' then 1 else 0 end) as tie
  from call where layout is not null and (family = 'delta0' or family = 'vacuum' and stratum = 'identical')
  group by all
), whole as (
  select *, answers = case family when 'vacuum' then 1 else 2 end as complete from asked
), pair as (
  select task_id, arm, family, stimulus_id, layout,
    avg(difference) filter (complete) as difference, avg(tie) filter (complete) as tie
  from whole group by all
)
select task_id, arm, family,
  case when layout.labels_swapped then -1 else 1 end as label_sign,
  case when layout.options_swapped then -1 else 1 end as list_sign,
  layout.tie_place as tie_place,
  count(difference) as pairs,
  coalesce(sum(difference), 0) as difference, coalesce(sum(tie), 0) as ties,
  count(*) - count(difference) as incomplete
from pair group by all order by all
"""  # noqa: S608  # likewise

# If neither answer is better, u takes the place of the better one.
_GRADE_PAIR_TALLIES = f"""
with pair as (
  select task_id, family, stratum, delta, {_PAIR},
    any_value(score) filter (graded = coalesce(better, 'u'))
      - any_value(score) filter (graded <> coalesce(better, 'u')) as gap
  from call where family <> 'vacuum' group by all
)
select task_id, arm, family, stratum, delta, count(gap) as pairs,
  count(*) filter (gap > 0) as better_higher, count(*) filter (gap < 0) as lesser_higher,
  count(*) filter (gap = 0) as equal,
  coalesce(sum(gap), 0) as difference, coalesce(sum(abs(gap)), 0) as distance,
  count(*) filter (gap is null) as incomplete
from pair group by all order by all
"""  # noqa: S608  # likewise

# An answer may occur in two pairs: it was asked about once, and is counted once in its family.
_GRADE_TALLIES = """
select task_id, arm, family, level, score, count(distinct trial_id) as answers
from call where score is not null group by all order by all
"""


def tally_judgments(folder: Path, kind: JudgeKind = "compare") -> Tallies:
    """Counts every judgment in `folder`, per task. Raises if a trial occurs twice."""
    with counting(folder, kind) as judgments:
        judgments.execute(_CALLS)
        vacuum, calls = judgments.tallies(VacuumTally, _VACUUM_TALLIES), judgments.calls()
        if kind == "grade":
            return Tallies(
                vacuum=vacuum,
                calls=calls,
                grade_pairs=judgments.tallies(GradePairTally, _GRADE_PAIR_TALLIES),
                grades=judgments.tallies(GradeTally, _GRADE_TALLIES),
            )
        return Tallies(
            vacuum=vacuum,
            pairs=judgments.tallies(PairTally, _PAIR_TALLIES),
            calls=calls,
            outcomes=judgments.tallies(OutcomeTally, _OUTCOME_TALLIES),
            layouts=judgments.tallies(LayoutTally, _LAYOUT_TALLIES),
        )
