"""Counts choices between labelled answers: in both orders, and as they are beside an edit of one of them.

The views of pairs are those of `measures/counting/pairs.py`. What has no verdict is left out and counted; it
never becomes one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umpirical.domain.tallies import ChangeTally, EditTally, PairTally, Tallies
from umpirical.measures.counting.judgments import Counting, counting
from umpirical.measures.counting.pairs import CALL, PAIR_COUNTS, WorstPair, pair_views

MOST_WORST = 8
"""How many pairs as they are, and how many of each edit, are shown."""

_GROUPED = """
create temp table grouped as
select stimulus_id, list_concat([''], any_value(groups)) as groups from judgment where parent = '' group by stimulus_id
"""

_PAIR_TALLIES = f"""
with parted as (select p.*, unnest(g.groups) as part from whole_pair p join grouped g using (stimulus_id))
select cluster, variant, family, part as stratum, 0.0::double as delta, {PAIR_COUNTS}
from parted group by cluster, variant, family, part order by all
"""  # noqa: S608  # the counts are ours

# One row for each verdict: 1 if it names the chosen answer, -1 if it names the other, 0 for a tie.
_SAID_OF = """
create temp table verdict as
select variant, stimulus_id, "order",
  case when choice = 'tie' then 0 when (choice = '1') = ((winner = 0) = ("order" = 'ab')) then 1 else -1 end as chosen
from judgment where outcome = 'verdict'
"""

# The chance that two answers to one question differ, averaged over the orders; unbiased for any number of repeats.
_RETESTS = """
create temp table retest as
with answered as (select variant, stimulus_id, "order", chosen, count(*) as times from verdict group by all),
asked as (
  select variant, stimulus_id, "order", 1 - sum(times * (times - 1)) / (sum(times) * (sum(times) - 1)) as flips
  from answered group by all having sum(times) > 1
)
select variant, stimulus_id, avg(flips) as flips from asked group by all having count(*) = 2
"""

# One row for each edited pair; the averages go over all combinations of answers to it and to the pair as it is, order
# by order. `towards` is 1 for an edit of the chosen answer, so that a rise is one in favour of the edited answer.
_VERSIONS = """
create temp table version as
with edited as (
  select distinct cluster, variant, family as test, side, stimulus_id, parent,
    case side when 'chosen' then 1 else -1 end
    as towards
  from judgment where parent <> ''
), by_order as (
  select e.variant, e.stimulus_id, c."order", avg((c.chosen <> o.chosen)::double) as changed,
    avg(((c.chosen - o.chosen) * e.towards > 0)::double) as favoured,
    avg(((c.chosen - o.chosen) * e.towards < 0)::double) as disfavoured,
    avg((c.chosen = -1 and o.chosen > -1 and e.towards = -1)::double) as overturned
  from edited e
  join verdict c on c.variant = e.variant and c.stimulus_id = e.stimulus_id
  join verdict o on o.variant = e.variant and o.stimulus_id = e.parent and o."order" = c."order"
  group by all
), whole as (
  select variant, stimulus_id, avg(changed) as changed, avg(favoured) as favoured, avg(disfavoured) as disfavoured,
    avg(overturned) as overturned, count(*) / 2 as seen
  from by_order group by all
), answered as (
  select variant, stimulus_id, count(distinct "order") = 2 as complete from verdict group by all
)
select e.cluster, e.variant, e.test, e.side, e.stimulus_id, e.parent, w.changed, w.favoured, w.disfavoured,
  w.overturned,
  coalesce(w.seen, 0) as seen,
  (r.flips + again.flips) / 2 as retest, coalesce(a.complete, false) as edited_answered,
  coalesce(b.complete, false) as original_answered
from edited e
left join whole w using (variant, stimulus_id)
left join retest again using (variant, stimulus_id)
left join retest r on r.variant = e.variant and r.stimulus_id = e.parent
left join answered a on a.variant = e.variant and a.stimulus_id = e.stimulus_id
left join answered b on b.variant = e.variant and b.stimulus_id = e.parent
"""

# A pair counts once, with the mean over its edited versions, in every cell of edits and sides that it has any in. Where
# some of the comparisons have no verdict, it counts by the others, and `lost` is the share of those without.
_COMPARED = """
create temp table compared as
with placed as (
  select *, unnest([{'test': '', 'side': ''}, {'test': test, 'side': ''}, {'test': '', 'side': side},
    {'test': test, 'side': side}]) as cell
  from version
)
select cluster, variant, cell.test as test,
  case cell.side when '' then '' else 'side=' || cell.side end as "group", parent,
  avg(changed) as changed, 1 - sum(seen) / count(*) as lost,
  avg(favoured) as favoured, avg(disfavoured) as disfavoured, avg(overturned) as overturned,
  case when count(retest) = count(*) then avg(retest) end as retest,
  bool_and(edited_answered) as edited_answered, bool_and(original_answered) as original_answered
from placed group by cluster, variant, cell.test, cell.side, parent
"""

_CHANGE_TALLIES = """
select cluster, variant, test, "group", 'same-verdict' as expectation, count(c.changed) as pairs,
  coalesce(sum(c.changed), 0) as changed,
  count(c.retest) filter (c.changed is not null) as retested,
  coalesce(sum(c.retest) filter (c.changed is not null), 0) as retest_changed,
  coalesce(sum(c.changed) filter (c.retest is not null), 0) as changed_retested,
  count(*) filter (c.changed is null) as incomplete,
  coalesce(sum(c.lost) filter (c.changed is not null), 0) as lost,
  count(*) filter (c.changed is null and original_answered) as changed_missing,
  count(*) filter (c.changed is null and edited_answered) as original_missing
from compared c group by all order by all
"""

_EDIT_TALLIES = """
select cluster, variant, test, "group", count(c.changed) as pairs,
  coalesce(sum(c.favoured) filter (c.changed is not null), 0) as favoured,
  coalesce(sum(c.disfavoured) filter (c.changed is not null), 0) as disfavoured,
  coalesce(sum(c.overturned) filter (c.changed is not null), 0) as overturned,
  count(*) filter (c.changed is null) as incomplete,
  coalesce(sum(c.lost) filter (c.changed is not null), 0) as lost
from compared c group by all order by all
"""

_WORST = f"""
select p.variant, '' as edit, p.stimulus_id, correct_calls / 2 as "right", wrong_calls / 2 as wrong,
  position_1_calls / 2 as position_1
from whole_pair p join grouped using (stimulus_id) where complete and correct_calls < 2
qualify row_number() over (partition by p.variant order by correct_calls, wrong_calls desc, stimulus_id) <= {MOST_WORST}
union all
select v.variant, v.test as edit, v.stimulus_id, correct_calls / 2 as "right", wrong_calls / 2 as wrong,
  position_1_calls / 2 as position_1
from version v join whole_pair p using (variant, stimulus_id) where complete and v.overturned > 0
qualify row_number() over (partition by v.variant, v.test order by v.overturned desc, v.stimulus_id) <= {MOST_WORST}
order by variant, edit, "right", wrong desc, stimulus_id
"""  # noqa: S608  # the number is ours


class PairsCounts:
    """All counts of a run on labelled pairs, from tables that are made once."""

    def __init__(self, judgments: Counting) -> None:
        self._judgments = judgments
        judgments.execute(_GROUPED, CALL, *pair_views(), _SAID_OF, _RETESTS, _VERSIONS, _COMPARED)

    def tallies(self) -> Tallies:
        """Returns all counts, by cluster. The stratum of a pair is a group."""
        return Tallies(
            calls=self._judgments.calls(),
            pairs=self._judgments.tallies(PairTally, _PAIR_TALLIES),
            changes=self._judgments.tallies(ChangeTally, _CHANGE_TALLIES),
            edits=self._judgments.tallies(EditTally, _EDIT_TALLIES),
        )

    def worst(self) -> list[WorstPair]:
        """The pairs about which the judge was wrong most often, and those that an edit turned, the worst first."""
        return [WorstPair(**row) for row in self._judgments.rows(_WORST)]


@contextmanager
def pairs_counts(path: Path) -> Iterator[PairsCounts]:
    """Opens the judgments of a run on labelled pairs for counting."""
    with counting(path, "compare") as judgments:
        yield PairsCounts(judgments)
