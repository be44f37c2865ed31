"""Counts verdicts on transcripts: on texts that break their policy and that keep it, on pairs, and on twins.

A pair is an edited text and its original, a twin a text under a policy and under its opposite. What has no verdict is
left out and counted; it never becomes a verdict. What is graded in levels is counted for itself, item by item.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, GoldTally, PairTally, PolicyTally, QuadTally, Tallies
from umpirical.measures.counting.judgments import Counting, counting
from umpirical.measures.counting.pairs import CALL, PAIR_COUNTS, QUAD_COUNTS, WorstPair, pair_views

MOST_WORST = 5
"""How many texts or pairs of each edit are shown."""

# One row for each text under a policy: the share of its verdicts that say it is violated, null without a verdict.
_TEXTS = """
create temp table shown as
select cluster, variant, family as test, stimulus_id, parent, crossed_pair, version, gold, gold = ? as broken, groups,
  avg((label = ?)::double) filter (outcome = 'verdict') as violated
from judgment where levels = '' group by all
"""

# An edited text counts with its edit, and with everything together; so does a text as it was. What models rewrote is
# true by the word of verifiers, and what programs edited by proof: the two are never pooled.
PARTS = """
create temp macro parts(test, groups, crossed_pair) as
  list_concat(
    list_transform(list_concat([''], groups), lambda each: {'test': test, 'group': each}),
    list_transform(case when crossed_pair = '' then [] else list_concat([''], groups) end,
      lambda each: {'test': '', 'group': each}))
"""

_POLICIES = """
with seen as (
  select cluster, variant, unnest(parts(test, groups, crossed_pair)) as part,
    (broken and violated is not null)::int as broken, coalesce(violated * broken::int, 0) as detected,
    (broken and violated is null)::int as broken_missing,
    (not broken and violated is not null)::int as kept, coalesce(violated * (not broken)::int, 0) as alarmed,
    (not broken and violated is null)::int as kept_missing,
    0 as pairs, 0.0 as noticed, 0 as pairs_missing, 0 as twins, 0.0 as followed, 0.0 as same, 0 as twins_missing
  from shown
), paired as (
  select e.cluster, e.variant, unnest(parts(e.test, e.groups, e.crossed_pair)) as part,
    e.violated * (1 - o.violated) as noticed
  from shown e join shown o on o.stimulus_id = e.parent and o.variant = e.variant where e.version = 'as-written'
), twin as (
  select a.cluster, a.variant, unnest(parts(a.test, a.groups, a.crossed_pair)) as part,
    case when a.broken then a.violated * (1 - b.violated) else b.violated * (1 - a.violated) end as followed,
    a.violated * b.violated + (1 - a.violated) * (1 - b.violated) as same
  from shown a join shown b on a.crossed_pair = b.crossed_pair and a.variant = b.variant
  where a.version = 'as-written' and b.version = 'opposite' and a.crossed_pair <> ''
), counted as (
  select * from seen
  union all
  select cluster, variant, part, 0, 0, 0, 0, 0, 0, (noticed is not null)::int, coalesce(noticed, 0),
    (noticed is null)::int, 0, 0, 0, 0 from paired
  union all
  select cluster, variant, part, 0, 0, 0, 0, 0, 0, 0, 0, 0, (same is not null)::int, coalesce(followed, 0),
    coalesce(same, 0), (same is null)::int from twin
)
select cluster, variant, part.test as test, part."group" as "group", sum(broken)::int as broken,
  sum(detected) as detected,
  sum(broken_missing)::int as broken_missing, sum(kept)::int as kept, sum(alarmed) as alarmed,
  sum(kept_missing)::int as kept_missing, sum(pairs)::int as pairs, sum(noticed) as noticed,
  sum(pairs_missing)::int as pairs_missing, sum(twins)::int as twins, sum(followed) as followed, sum(same) as same,
  sum(twins_missing)::int as twins_missing
from counted group by all order by all
"""

# One row for each verdict on a text that is graded in levels, and one for each question without a verdict.
_GRADED = """
create temp table graded as
select cluster, variant, stratum as item, family as test, stimulus_id, parent, gold, gold_score,
  case when outcome = 'verdict' then label end as given, case when outcome = 'verdict' then score end as score
from judgment where levels <> ''
"""

# An item's texts count by test, and all together.
_LEVEL_GOLDS = """
with counted as (
  select cluster, variant, item, test, stimulus_id, gold, gold_score, given, any_value(score) as score,
    count(*) as times
  from graded where item = ? group by all
), shared as (
  select *, bool_or(given is not null) over text as answered,
    times / sum(times) filter (given is not null) over text as share
  from counted window text as (partition by variant, stimulus_id)
), parted as (
  select *, unnest(['', test]) as part from shared where given is not null or not answered
)
select cluster, variant, part as test, '' as "group", gold, coalesce(p.given, '') as given, gold_score,
  score as given_score, sum(case when answered then share else 1 end) as items
from parted p group by all order by all
"""

# A rewritten text beside its original; a person may have found that it deserves the same, and then nothing has to move.
_LEVEL_CHANGES = """
with pair as (
  select c.cluster, c.variant, c.test, c.stimulus_id, avg((c.given <> o.given)::double) as changed,
    avg((sign(c.score - o.score) = sign(c.gold_score - o.gold_score))::double) as moved,
    avg((c.given = c.gold and o.given = o.gold)::double)
      filter (c.given is not null and o.given is not null) as right_on_both,
    avg(c.score - o.score) as shift, avg(abs(c.score - o.score)) as distance,
    count(c.given) = 0 and count(o.given) > 0 as changed_missing,
    count(o.given) = 0 and count(c.given) > 0 as original_missing
  from graded c join graded o on o.stimulus_id = c.parent and o.variant = c.variant
  where c.item = ? and c.gold <> o.gold group by all
), parted as (select *, unnest(['', test]) as part from pair)
select cluster, variant, part as test, '' as "group", 'flipped-verdict' as expectation, count(p.changed) as pairs,
  coalesce(sum(p.changed), 0) as changed, coalesce(sum(p.moved), 0) as moved,
  coalesce(sum(p.right_on_both), 0) as right_on_both, count(p.changed) as golden,
  coalesce(sum(p.shift), 0) as shift, coalesce(sum(p.distance), 0) as distance,
  count(*) filter (p.changed is null) as incomplete, count(*) filter (p.changed_missing) as changed_missing,
  count(*) filter (p.original_missing) as original_missing
from parted p group by all order by all
"""

_LEVEL_WORST = f"""
with wrong as (
  select variant, test, stimulus_id, parent, gold, avg(abs(score - gold_score)) as distance,
    list(coalesce(given, 'no verdict') order by given) as given
  from graded where item = ? group by all
)
select * from wrong where distance > 0
qualify row_number() over (partition by variant, test order by distance desc, stimulus_id) <= {MOST_WORST}
order by variant, test, distance desc, stimulus_id
"""  # noqa: S608  # the number is ours

# A text counts once for all of its repeats, each verdict by its share.
_GOLDS = """
with counted as (
  select j.cluster, j.variant, j.family as test, j.stimulus_id, j.gold, j.groups, j.crossed_pair,
    -- The scale has two labels, the worse first.
    (not any_value(s.broken))::double as gold_score,
    case when outcome = 'verdict' then label end as given, any_value(score) as score, count(*) as times
  from judgment j join shown s using (stimulus_id, variant)
  group by j.cluster, j.variant, j.family, j.stimulus_id, j.gold, j.groups, j.crossed_pair, given
), shared as (
  select *, bool_or(given is not null) over text as answered,
    times / sum(times) filter (given is not null) over text as share
  from counted window text as (partition by variant, stimulus_id)
), parted as (
  select *, unnest(parts(test, groups, crossed_pair)) as part from shared where given is not null or not answered
)
select cluster, variant, part.test as test, part."group" as "group", gold, coalesce(given, '') as given,
  any_value(gold_score) as gold_score, any_value(score) as given_score,
  sum(case when answered then share else 1 end) as items
from parted group by cluster, variant, part.test, part."group", gold, given order by all
"""

_WORST = f"""
with wrong as (
  select variant, test, stimulus_id, parent, gold, violated, abs(violated - broken::int) as distance from shown
)
select * from wrong where distance > 0
qualify row_number() over (partition by variant, test order by distance desc, stimulus_id) <= {MOST_WORST}
order by variant, test, distance desc, stimulus_id
"""  # noqa: S608  # the number is ours


@dataclass(frozen=True, slots=True)
class WorstText:
    """A text on which the judge was wrong."""

    variant: str
    test: str
    stimulus_id: str
    parent: str
    gold: str
    violated: float
    """Share of its verdicts that say the policy is violated."""
    distance: float
    """Share of its verdicts that are wrong."""


@dataclass(frozen=True, slots=True)
class WorstLevel:
    """A text that the judge graded farthest from its level."""

    variant: str
    test: str
    stimulus_id: str
    parent: str
    gold: str
    distance: float
    """In levels, on average over its verdicts."""
    given: list[str]


class AgentCounts:
    """All counts of an agent run, from tables that are made once."""

    def __init__(self, judgments: Counting, violated: str) -> None:
        self._judgments = judgments
        self._violated = violated
        judgments.execute(PARTS, _GRADED)
        judgments.rows(_TEXTS, [violated, violated])

    def tallies(self, scale: GradeScale) -> Tallies:
        """Returns all counts, by transcript."""
        return Tallies(
            calls=self._judgments.calls(),
            golds=self._judgments.tallies(GoldTally, _GOLDS),
            policies=self._judgments.tallies(PolicyTally, _POLICIES),
            scale=scale,
            positive=(self._violated,),
        )

    def level_tallies(self, item: str, scale: GradeScale) -> Tallies:
        """Returns the counts of one item that is graded in levels."""
        return Tallies(
            golds=tuple(GoldTally(**row) for row in self._judgments.rows(_LEVEL_GOLDS, [item])),
            changes=tuple(ChangeTally(**row) for row in self._judgments.rows(_LEVEL_CHANGES, [item])),
            scale=scale,
        )

    def worst_levels(self, item: str) -> list[WorstLevel]:
        """The texts of an item that the judge graded farthest off, by test, the worst first."""
        return [WorstLevel(**row) for row in self._judgments.rows(_LEVEL_WORST, [item])]

    def worst(self) -> list[WorstText]:
        """The texts of each edit about which the judge was wrong most often, the worst first."""
        return [WorstText(**row) for row in self._judgments.rows(_WORST)]


@contextmanager
def agent_counts(path: Path, violated: str) -> Iterator[AgentCounts]:
    """Opens the judgments of an agent run for counting."""
    with counting(path, "grade") as judgments:
        yield AgentCounts(judgments, violated)


# Counts choices between two runs: in both orders, and under a policy and its opposite.


# A pair has the same groups under both policies.
_GROUPED = """
create temp table grouped as
select crossed_pair, any_value(groups) as groups, list_sort(list(distinct stimulus_id)) as stimuli
  from judgment group by crossed_pair
"""

_PAIR_TALLIES = f"""
with parted as (
  select p.*, unnest(parts(p.family, g.groups, g.crossed_pair)) as part
  from whole_pair p join (select crossed_pair, groups, unnest(stimuli) as stimulus_id
    from grouped) g using (stimulus_id)
)
select cluster, variant, part.test as family, part."group" as stratum, 0.0::double as delta, {PAIR_COUNTS}
from parted group by cluster, variant, part.test, part."group" order by all
"""  # noqa: S608  # the counts are ours

_QUAD_TALLIES = f"""
with parted as (
  select q.*, unnest(parts(q.family, g.groups, q.crossed_pair)) as part from whole_quad q
    join grouped g using (crossed_pair)
)
select cluster, variant, part.test as family, part."group" as stratum, 0.0::double as delta, {QUAD_COUNTS}
from parted group by cluster, variant, part.test, part."group" order by all
"""  # noqa: S608  # likewise

_WORST_PAIRS = f"""
select variant, family as edit, stimulus_id, correct_calls / 2 as "right", wrong_calls / 2 as wrong,
  position_1_calls / 2 as position_1
from whole_pair where complete and correct_calls < 2
qualify row_number() over (partition by variant, family order by correct_calls, wrong_calls desc, stimulus_id)
  <= {MOST_WORST}
order by variant, family, correct_calls, wrong_calls desc, stimulus_id
"""  # noqa: S608  # the number is ours


class PairCounts:
    """All counts of a run of a judge that compares."""

    def __init__(self, judgments: Counting) -> None:
        self._judgments = judgments
        judgments.execute(PARTS, _GROUPED, CALL, *pair_views())

    def tallies(self) -> Tallies:
        """Returns all counts, by transcript. The family of a pair is its edit, and its stratum is a group."""
        return Tallies(
            calls=self._judgments.calls(),
            pairs=self._judgments.tallies(PairTally, _PAIR_TALLIES),
            quads=self._judgments.tallies(QuadTally, _QUAD_TALLIES),
        )

    def worst(self) -> list[WorstPair]:
        """The pairs of each edit about which the judge was wrong most often, the worst first."""
        return [WorstPair(**row) for row in self._judgments.rows(_WORST_PAIRS)]


@contextmanager
def pair_counts(path: Path) -> Iterator[PairCounts]:
    """Opens the judgments of a judge that compares for counting."""
    with counting(path, "compare") as judgments:
        yield PairCounts(judgments)
