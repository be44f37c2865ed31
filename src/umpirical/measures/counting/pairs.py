"""Counts choices between two candidates: the part that every protocol with judges that compare shares.

Slot answers are mapped back to content before any pair is classified: slot 1 is u in order uv, and v in order vu. A
protocol sums the views by its own keys, with `PAIR_COUNTS` and `QUAD_COUNTS` as columns.
"""

from dataclasses import dataclass

from umpirical.domain.trials import PAIR_FACTORS

PAIR = f"stimulus_id, {', '.join(PAIR_FACTORS)}"
"""Two calls that agree in these are the two orders of one pair."""

CALL = """
create or replace temp view call as
select *,
  case when choice in ('1', '2') then choice end as slot,
  case winner when 0 then 'u' when 1 then 'v' end as better,
  case "order" when 'uv' then 'u' else 'v' end as graded
from judgment
"""
"""The view `call`, one row for each trial."""

# A pair in one repeat, as what was said in each order: slot 1, slot 2, tie or abstention. All else follows from these
# counts. Counting distinct values instead would keep a set for each pair, which takes long and does not spill to disk.
_SAID = f"""
create or replace temp table said as
select cluster, family, delta, stratum, quad, version, better, {PAIR}{{facts}},
  count(*) filter ("order" = 'uv' and choice = '1')::tinyint as uv1,
  count(*) filter ("order" = 'uv' and choice = '2')::tinyint as uv2,
  count(*) filter ("order" = 'uv' and choice = 'tie')::tinyint as uvt,
  count(*) filter ("order" = 'uv' and outcome = 'abstained')::tinyint as uva,
  count(*) filter ("order" = 'vu' and choice = '1')::tinyint as vu1,
  count(*) filter ("order" = 'vu' and choice = '2')::tinyint as vu2,
  count(*) filter ("order" = 'vu' and choice = 'tie')::tinyint as vut,
  count(*) filter ("order" = 'vu' and outcome = 'abstained')::tinyint as vua
from call where family <> 'vacuum' group by all
"""  # noqa: S608  # the factors are ours

_PAIR = """
create or replace temp view pair as
select *,
  uv1 + uv2 + uvt = 1 and vu1 + vu2 + vut = 1 as decided,
  uv1 + uv2 + uvt + uva = 1 and vu1 + vu2 + vut + vua = 1 as complete,
  uv1 + vu1 as slot_1, uv2 + vu2 as slot_2, slot_1 + slot_2 as commits,
  uv1 + vu2 as chose_u, uv2 + vu1 as chose_v,
  case better when 'u' then chose_u when 'v' then chose_v else 0 end as correct,
  case better when 'u' then chose_v when 'v' then chose_u else 0 end as wrong,
  case better when 'u' then uv1 when 'v' then vu1 else 0 end as slot_1_correct,
  uvt + vut as ties, uva + vua as abstentions,
  uv1 - uv2 as uv, vu2 - vu1 as vu,
  case when chose_u = 2 then 'u' when chose_v = 2 then 'v' end as settled
from said
"""

# A pair counts once, with the mean over its repeats.
_WHOLE_PAIR = """
create or replace temp view whole_pair as
select cluster, arm, family, delta, stratum, stimulus_id,
  count(*) filter (complete) > 0 as complete,
  avg((settled is not null)::int) filter (complete) as stable,
  avg((slot_1 = 2 or slot_2 = 2)::int) filter (complete) as positional,
  avg((commits = 1)::int) filter (complete) as one_sided,
  avg((commits = 0)::int) filter (complete) as no_preference,
  avg((commits = 1 and slot_1 = 1)::int) filter (complete) as one_sided_slot_1,
  avg((commits = 1 and chose_u = 1)::int) filter (complete) as one_sided_u,
  avg((commits = 1 and slot_1 = 1 and chose_u = 1)::int) filter (complete) as one_sided_u_slot_1,
  avg(correct) filter (complete) as correct_calls,
  avg(wrong) filter (complete) as wrong_calls,
  avg(slot_1_correct) filter (complete) as slot_1_correct_calls,
  avg(ties) filter (complete) as tie_calls,
  avg(abstentions) filter (complete) as abstained_calls,
  avg(slot_1) filter (complete) as slot_1_calls,
  avg(slot_2) filter (complete) as slot_2_calls,
  avg((correct = 2)::int) filter (complete) as both_correct,
  count(*) filter (complete and abstentions = 0) = 0 as abstained,
  count(*) filter (not complete) / count(*) as lost
from pair group by all
"""

PAIR_COUNTS = """
  count(*) filter (complete) as pairs,
  coalesce(sum(stable), 0) as stable,
  coalesce(sum("positional"), 0) as positional,
  coalesce(sum(one_sided), 0) as one_sided,
  coalesce(sum(no_preference), 0) as no_preference,
  coalesce(sum(one_sided_slot_1), 0) as one_sided_slot_1,
  coalesce(sum(one_sided_u), 0) as one_sided_u,
  coalesce(sum(one_sided_u_slot_1), 0) as one_sided_u_slot_1,
  coalesce(sum(correct_calls), 0) as correct_calls,
  coalesce(sum(wrong_calls), 0) as wrong_calls,
  coalesce(sum(slot_1_correct_calls), 0) as slot_1_correct_calls,
  coalesce(sum(tie_calls), 0) as tie_calls,
  coalesce(sum(abstained_calls), 0) as abstained_calls,
  coalesce(sum(slot_1_calls), 0) as slot_1_calls,
  coalesce(sum(slot_2_calls), 0) as slot_2_calls,
  coalesce(sum(both_correct), 0) as both_correct,
  count(*) filter (complete and abstained) as abstained_pairs,
  count(*) filter (not complete) as incomplete,
  coalesce(sum(lost) filter (complete), 0) as lost
"""
"""The counts of a `PairTally`, from rows of `whole_pair`."""

# The winners of both versions: the repeats of the one have nothing to do with those of the other, so all combinations
# count alike. A half of a quad is version 1 in order uv with version 2 in order vu, or the other way round.
_WHOLE_QUAD = """
create or replace temp view whole_quad as
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
)
select a.cluster, a.arm, a.family, a.stratum, a.delta, a.quad, coalesce(a.answered * b.answered, 0) as answered,
  a.u as u, a.v as v, a.u + a.v as won, a.good as good,
  b.u as other_u, b.v as other_v, b.u + b.v as other_won, b.good as other_good,
  (a.uv + b.vu) / 2 * (a.vu + b.uv) / 2 as appeal
from placed a left join placed b on a.quad = b.quad and a.arm = b.arm and b.place = 2 where a.place = 1
"""

QUAD_COUNTS = """
  count(*) filter (answered > 0) as quads,
  coalesce(sum(good * other_good) filter (answered > 0), 0) as following,
  coalesce(sum(u * other_u + v * other_v) filter (answered > 0), 0) as blind,
  coalesce(sum((won - good) * (other_won - other_good)) filter (answered > 0), 0) as reversed,
  coalesce(sum(won * (1 - other_won) + (1 - won) * other_won) filter (answered > 0), 0) as one_version,
  coalesce(sum((1 - won) * (1 - other_won)) filter (answered > 0), 0) as neither,
  count(*) filter (answered = 0) as incomplete,
  coalesce(sum(1 - answered) filter (answered > 0), 0) as lost,
  coalesce(sum(appeal) filter (answered > 0), 0) as appeal
"""
"""The counts of a `QuadTally`, from rows of `whole_quad`."""


def pair_views(*facts: str) -> tuple[str, ...]:
    """Returns what makes the views `pair`, in one repeat, `whole_pair`, over all of its repeats, and `whole_quad`.

    They need `call`, and are all counted from one table. A pair has, besides the counts, the columns that a protocol
    names: facts about its stimulus.
    """
    return _SAID.format(facts="".join(f", {fact}" for fact in facts)), _PAIR, _WHOLE_PAIR, _WHOLE_QUAD


@dataclass(frozen=True, slots=True)
class WorstPair:
    """A pair about which the judge was wrong, by the share of its answers."""

    arm: str
    edit: str
    """Empty for a pair as it is."""
    stimulus_id: str
    right: float
    """Share that names the right candidate."""
    wrong: float
    """Share that names the other one. What is left are ties and abstentions."""
    slot_1: float
    """Share that names slot 1."""
