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
    QuadTally,
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
  select cluster, arm, stratum, prompt_id,
    count(*) filter (answered) as answers, count(*) filter (slot is not null or score > 0) as preferences
  from call where family = 'vacuum' group by all
)
select cluster, arm, stratum, count(*) filter (answers > 0) as prompts,
  coalesce(sum(preferences / answers) filter (answers > 0), 0) as false_preferences,
  count(*) filter (answers = 0) as unanswered
from prompt group by all order by all
"""

# A pair in one repeat. An abstention is an answer that names no winner.
_PAIRS = f"""
create temp view pair as
with asked as (
  select cluster, family, delta, stratum, quad, version, better, {_PAIR},
    count(*) filter (answered) = 2 and count(distinct "order") filter (answered) = 2 as complete,
    count(slot) as commits,
    count(distinct slot) as slots, count(distinct content) as contents,
    any_value(slot) as slot, any_value(content) as content,
    count(*) filter (content = better) as correct,
    count(*) filter (content <> better) as wrong,
    count(*) filter (choice = 'tie') as ties, count(*) filter (outcome = 'abstained') as abstentions,
    count(*) filter (slot = '1') as slot_1, count(*) filter (slot = '2') as slot_2,
    count(*) filter ("order" = 'uv' and content = 'u') - count(*) filter ("order" = 'uv' and content = 'v') as uv,
    count(*) filter ("order" = 'vu' and content = 'u') - count(*) filter ("order" = 'vu' and content = 'v') as vu
  from call where family <> 'vacuum' group by all
)
select *, case when commits = 2 and contents = 1 then content end as settled from asked
"""  # noqa: S608  # the factors are ours

# A pair counts once, with the mean over its repeats.
_PAIR_TALLIES = """
with stimulus as (
  select cluster, arm, family, delta, stratum, stimulus_id,
    count(*) filter (complete) > 0 as complete,
    avg((commits = 2 and contents = 1)::int) filter (complete) as stable,
    avg((commits = 2 and slots = 1)::int) filter (complete) as positional,
    avg((commits = 1)::int) filter (complete) as one_sided,
    avg((commits = 0)::int) filter (complete) as no_preference,
    avg((commits = 1 and slot = '1')::int) filter (complete) as one_sided_slot_1,
    avg((commits = 1 and content = 'u')::int) filter (complete) as one_sided_u,
    avg((commits = 1 and slot = '1' and content = 'u')::int) filter (complete) as one_sided_u_slot_1,
    avg(correct) filter (complete) as correct_calls,
    avg(wrong) filter (complete) as wrong_calls,
    avg(ties) filter (complete) as tie_calls,
    avg(abstentions) filter (complete) as abstained_calls,
    avg(slot_1) filter (complete) as slot_1_calls,
    avg(slot_2) filter (complete) as slot_2_calls,
    avg((correct = 2)::int) filter (complete) as both_correct,
    count(*) filter (complete and abstentions = 0) = 0 as abstained,
    count(*) filter (not complete) / count(*) as lost
  from pair group by all
)
select cluster, arm, family, delta, stratum, count(*) filter (complete) as pairs,
  coalesce(sum(stable), 0) as stable,
  coalesce(sum("positional"), 0) as positional,
  coalesce(sum(one_sided), 0) as one_sided,
  coalesce(sum(no_preference), 0) as no_preference,
  coalesce(sum(one_sided_slot_1), 0) as one_sided_slot_1,
  coalesce(sum(one_sided_u), 0) as one_sided_u,
  coalesce(sum(one_sided_u_slot_1), 0) as one_sided_u_slot_1,
  coalesce(sum(correct_calls), 0) as correct_calls,
  coalesce(sum(wrong_calls), 0) as wrong_calls,
  coalesce(sum(tie_calls), 0) as tie_calls,
  coalesce(sum(abstained_calls), 0) as abstained_calls,
  coalesce(sum(slot_1_calls), 0) as slot_1_calls,
  coalesce(sum(slot_2_calls), 0) as slot_2_calls,
  coalesce(sum(both_correct), 0) as both_correct,
  count(*) filter (complete and abstained) as abstained_pairs,
  count(*) filter (not complete) as incomplete,
  coalesce(sum(lost) filter (complete), 0) as lost
from stimulus group by all order by all
"""

# The winners of both versions: the repeats of the one have nothing to do with those of the other, so all combinations
# count alike. A half of a quad is version 1 in order uv with version 2 in order vu, or the other way round.
_QUAD_TALLIES = """
with shown as (
  select cluster, arm, family, stratum, delta, quad, version,
    count(*) filter (complete) / count(*) as answered,
    avg((settled is not distinct from 'u')::int) filter (complete) as u,
    avg((settled is not distinct from 'v')::int) filter (complete) as v,
    avg((settled is not distinct from better)::int) filter (complete) as good,
    avg(uv) filter (complete) as uv, avg(vu) filter (complete) as vu
  from pair where quad <> '' group by all
), placed as (
  select *, row_number() over (partition by quad, arm order by version) as place from shown
), quad as (
  select a.cluster, a.arm, a.family, a.stratum, a.delta, coalesce(a.answered * b.answered, 0) as answered,
    a.u as u, a.v as v, a.u + a.v as won, a.good as good,
    b.u as other_u, b.v as other_v, b.u + b.v as other_won, b.good as other_good,
    (a.uv + b.vu) / 2 * (a.vu + b.uv) / 2 as appeal
  from placed a left join placed b on a.quad = b.quad and a.arm = b.arm and b.place = 2 where a.place = 1
)
select cluster, arm, family, stratum, delta, count(*) filter (answered > 0) as quads,
  coalesce(sum(good * other_good) filter (answered > 0), 0) as following,
  coalesce(sum(u * other_u + v * other_v) filter (answered > 0), 0) as blind,
  coalesce(sum((won - good) * (other_won - other_good)) filter (answered > 0), 0) as reversed,
  coalesce(sum(won * (1 - other_won) + (1 - won) * other_won) filter (answered > 0), 0) as one_version,
  coalesce(sum((1 - won) * (1 - other_won)) filter (answered > 0), 0) as neither,
  count(*) filter (answered = 0) as incomplete,
  coalesce(sum(1 - answered) filter (answered > 0), 0) as lost,
  coalesce(sum(appeal) filter (answered > 0), 0) as appeal
from quad group by all order by all
"""

# The outcomes of one pair over all repeats, and how many pairs have the same. Only repeats with a verdict in both
# orders count: an abstention is none of the model's three answers.
_OUTCOME_TALLIES = f"""
with repeated as (
  select *, count(choice) over (partition by {_PAIR}) = 2 as complete
  from call where family <> 'vacuum'
), pair as (
  select cluster, arm, family, stratum, case winner when 1 then -delta else delta end as delta,
    base, log_length, stimulus_id,
    count(*) filter ("order" = 'uv' and choice = '1') as uv1, count(*) filter ("order" = 'uv' and choice = '2') as uv2,
    count(*) filter ("order" = 'uv' and choice = 'tie') as uvt,
    count(*) filter ("order" = 'vu' and choice = '1') as vu1, count(*) filter ("order" = 'vu' and choice = '2') as vu2,
    count(*) filter ("order" = 'vu' and choice = 'tie') as vut
  from repeated where complete group by all
)
select cluster, arm, family, stratum, delta, coalesce(base, 0) as base, log_length,
  (uv1, uv2, uvt, vu1, vu2, vut) as counts, count(*) as pairs
from pair group by all order by all
"""  # noqa: S608  # likewise

# Pairs with nothing to prefer, by layout. Repeats of a pair are averaged, so that a pair counts once.
_LAYOUT_TALLIES = f"""
with asked as (
  select cluster, family, {_PAIR},
    count(*) filter (answered) as answers,
    avg(case slot when '1' then 1 when '2' then -1 else 0 end) as difference,
    avg(case choice when 'tie' then 1 else 0 end) as tie
  from call where layout is not null and (family = 'delta0' or family = 'vacuum' and stratum = 'identical')
  group by all
), whole as (
  select *, answers = case family when 'vacuum' then 1 else 2 end as complete from asked
), pair as (
  select cluster, arm, family, stimulus_id, layout,
    avg(difference) filter (complete) as difference, avg(tie) filter (complete) as tie
  from whole group by all
)
select cluster, arm, family,
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
with asked as (
  select cluster, family, stratum, delta, {_PAIR},
    any_value(score) filter (graded = coalesce(better, 'u'))
      - any_value(score) filter (graded <> coalesce(better, 'u')) as gap
  from call where family <> 'vacuum' group by all
), stimulus as (
  select cluster, arm, family, stratum, delta, stimulus_id, count(gap) / count(*) as answered,
    avg((gap > 0)::int) as better_higher, avg((gap < 0)::int) as lesser_higher, avg((gap = 0)::int) as equal,
    avg(gap) as difference, avg(abs(gap)) as distance
  from asked group by all
)
select cluster, arm, family, stratum, delta, count(*) filter (answered > 0) as pairs,
  coalesce(sum(better_higher), 0) as better_higher, coalesce(sum(lesser_higher), 0) as lesser_higher,
  coalesce(sum(equal), 0) as equal,
  coalesce(sum(difference), 0) as difference, coalesce(sum(distance), 0) as distance,
  count(*) filter (answered = 0) as incomplete,
  coalesce(sum(1 - answered) filter (answered > 0), 0) as lost
from stimulus group by all order by all
"""  # noqa: S608  # likewise

# An answer may occur in two pairs: it was asked about once, and is counted once in its family.
_GRADE_TALLIES = """
select cluster, arm, family, level, score, count(distinct trial_id) as answers
from call where score is not null group by all order by all
"""


def tally_judgments(path: Path, kind: JudgeKind = "compare") -> Tallies:
    """Counts every judgment in a file, per task. Raises if a trial occurs twice."""
    with counting(path, kind) as judgments:
        judgments.execute(_CALLS)
        vacuum, calls = judgments.tallies(VacuumTally, _VACUUM_TALLIES), judgments.calls()
        if kind == "grade":
            return Tallies(
                vacuum=vacuum,
                calls=calls,
                grade_pairs=judgments.tallies(GradePairTally, _GRADE_PAIR_TALLIES),
                grades=judgments.tallies(GradeTally, _GRADE_TALLIES),
            )
        judgments.execute(_PAIRS)
        return Tallies(
            vacuum=vacuum,
            pairs=judgments.tallies(PairTally, _PAIR_TALLIES),
            calls=calls,
            outcomes=judgments.tallies(OutcomeTally, _OUTCOME_TALLIES),
            quads=judgments.tallies(QuadTally, _QUAD_TALLIES),
            layouts=judgments.tallies(LayoutTally, _LAYOUT_TALLIES),
        )
