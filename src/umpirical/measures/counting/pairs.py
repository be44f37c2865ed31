"""Counts choices between two candidates: the part that every protocol with judges that compare shares.

Slot answers are mapped back to content before any pair is classified: position 1 is u in order ab, and v in order ba. A
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
  case winner when 0 then 'a' when 1 then 'b' end as better,
  case "order" when 'ab' then 'a' else 'b' end as graded
from judgment
"""
"""The view `call`, one row for each trial."""

# A pair in one repeat, as what was said in each order: position 1, position 2, tie or abstention. All else follows
# from these counts. Counting distinct values instead would keep a set for each pair, which takes long and does not
# spill to disk.
_SAID = f"""
create or replace temp table said as
select cluster, family, delta, stratum, crossed_pair, version, better, {PAIR}{{facts}},
  count(*) filter ("order" = 'ab' and choice = '1')::tinyint as ab1,
  count(*) filter ("order" = 'ab' and choice = '2')::tinyint as ab2,
  count(*) filter ("order" = 'ab' and choice = 'tie')::tinyint as abt,
  count(*) filter ("order" = 'ab' and outcome = 'abstained')::tinyint as aba,
  count(*) filter ("order" = 'ba' and choice = '1')::tinyint as ba1,
  count(*) filter ("order" = 'ba' and choice = '2')::tinyint as ba2,
  count(*) filter ("order" = 'ba' and choice = 'tie')::tinyint as bat,
  count(*) filter ("order" = 'ba' and outcome = 'abstained')::tinyint as baa
from call where family <> 'blank' group by all
"""  # noqa: S608  # the factors are ours

_PAIR = """
create or replace temp view pair as
select *,
  ab1 + ab2 + abt = 1 and ba1 + ba2 + bat = 1 as decided,
  ab1 + ab2 + abt + aba = 1 and ba1 + ba2 + bat + baa = 1 as complete,
  ab1 + ba1 as position_1, ab2 + ba2 as position_2, position_1 + position_2 as commits,
  ab1 + ba2 as chose_a, ab2 + ba1 as chose_b,
  case better when 'a' then chose_a when 'b' then chose_b else 0 end as correct,
  case better when 'a' then chose_b when 'b' then chose_a else 0 end as wrong,
  case better when 'a' then ab1 when 'b' then ba1 else 0 end as position_1_correct,
  abt + bat as ties, aba + baa as abstentions,
  ab1 - ab2 as uv, ba2 - ba1 as vu,
  case when chose_a = 2 then 'a' when chose_b = 2 then 'b' end as settled
from said
"""

# A pair counts once, with the mean over its repeats.
_WHOLE_PAIR = """
create or replace temp view whole_pair as
select cluster, variant, family, delta, stratum, stimulus_id,
  count(*) filter (complete) > 0 as complete,
  avg((settled is not null)::int) filter (complete) as stable,
  avg((position_1 = 2 or position_2 = 2)::int) filter (complete) as positional,
  avg((commits = 1)::int) filter (complete) as one_sided,
  avg((commits = 0)::int) filter (complete) as no_preference,
  avg((commits = 1 and position_1 = 1)::int) filter (complete) as one_sided_position_1,
  avg((commits = 1 and chose_a = 1)::int) filter (complete) as one_sided_a,
  avg((commits = 1 and position_1 = 1 and chose_a = 1)::int) filter (complete) as one_sided_a_position_1,
  avg(correct) filter (complete) as correct_calls,
  avg(wrong) filter (complete) as wrong_calls,
  avg(position_1_correct) filter (complete) as position_1_correct_calls,
  avg(ties) filter (complete) as tie_calls,
  avg(abstentions) filter (complete) as abstained_calls,
  avg(position_1) filter (complete) as position_1_calls,
  avg(position_2) filter (complete) as position_2_calls,
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
  coalesce(sum(one_sided_position_1), 0) as one_sided_position_1,
  coalesce(sum(one_sided_a), 0) as one_sided_a,
  coalesce(sum(one_sided_a_position_1), 0) as one_sided_a_position_1,
  coalesce(sum(correct_calls), 0) as correct_calls,
  coalesce(sum(wrong_calls), 0) as wrong_calls,
  coalesce(sum(position_1_correct_calls), 0) as position_1_correct_calls,
  coalesce(sum(tie_calls), 0) as tie_calls,
  coalesce(sum(abstained_calls), 0) as abstained_calls,
  coalesce(sum(position_1_calls), 0) as position_1_calls,
  coalesce(sum(position_2_calls), 0) as position_2_calls,
  coalesce(sum(both_correct), 0) as both_correct,
  count(*) filter (complete and abstained) as abstained_pairs,
  count(*) filter (not complete) as incomplete,
  coalesce(sum(lost) filter (complete), 0) as lost
"""
"""The counts of a `PairTally`, from rows of `whole_pair`."""

# The winners of both versions: the repeats of the one have nothing to do with those of the other, so all combinations
# count alike. A half of a crossed pair is version 1 in order ab with version 2 in order ba, or the other way round.
_WHOLE_QUAD = """
create or replace temp view whole_quad as
with shown as (
  select cluster, variant, family, stratum, delta, crossed_pair, version,
    count(*) filter (complete) / count(*) as answered,
    avg((settled is not distinct from 'a')::int) filter (complete) as u,
    avg((settled is not distinct from 'b')::int) filter (complete) as v,
    avg((settled is not distinct from better)::int) filter (complete) as good,
    avg(uv) filter (complete) as uv, avg(vu) filter (complete) as vu
  from pair where crossed_pair <> '' group by all
), placed as (
  select *, row_number() over (partition by crossed_pair, variant order by version) as place from shown
)
select a.cluster, a.variant, a.family, a.stratum, a.delta, a.crossed_pair, coalesce(a.answered * b.answered,
  0) as answered,
  a.u as u, a.v as v, a.u + a.v as won, a.good as good,
  b.u as other_u, b.v as other_v, b.u + b.v as other_won, b.good as other_good,
  (a.uv + b.vu) / 2 * (a.vu + b.uv) / 2 as appeal
from placed a left join placed b on a.crossed_pair = b.crossed_pair and a.variant = b.variant and b.place = 2
  where a.place = 1
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

    variant: str
    edit: str
    """Empty for a pair as it is."""
    stimulus_id: str
    right: float
    """Share that names the right candidate."""
    wrong: float
    """Share that names the other one. What is left are ties and abstentions."""
    position_1: float
    """Share that names position 1."""
