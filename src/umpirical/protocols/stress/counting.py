"""Counts judgments of stress tests into tallies, and finds where the judge went wrong.

The verdict on a changed text is compared with the judge's own verdict on its original, given by the same prompt. A pair
with a missing verdict is left out; it never counts as a changed verdict.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.measures.counting.judgments import Counting, counting

WORST = 10
"""How many items of each test are shown."""

TOLERANCE = 1e-9
"""Scores on an interval scale that are closer than this are the same; it is also the last digit that is printed."""

# Labels are compared as text. An interval scale has values instead of labels, and there scores are compared: how a
# value is written does not matter.
_SAME = f"""
create temp macro same(given, score, other, other_score, is_value) as
  case when is_value then abs(score - other_score) < {TOLERANCE} else given = other end
"""

# A verdict given with another seed or other parameters of sampling is not a repeat of the same request.
_VERDICTS = """
create temp table verdict as
select cluster, variant, family as test, coalesce(prompt, '') as prompt, stimulus_id, parent, expectation, gold,
  gold_score,
  groups, repeat, characters, words,
  case when sampling <> '' then 'sampling' when seed is not null then 'seeds' else 'stability' end as way,
  outcome = 'verdict' and label is null as is_value,
  case when outcome = 'verdict' then coalesce(label, rtrim(rtrim(printf('%.9f', round(value, 9) + 0.0), '0'), '.')) end
    as given,
  case when outcome = 'verdict' then score end as score
from judgment
"""

# The chance that two answers to one request differ; unbiased for any number of repeats.
_RETESTS = """
create temp table retest as
with answered as (
  select variant, test, prompt, stimulus_id, given, count(*) as times
  from verdict where way = 'stability' and given is not null group by all
)
select variant, test, prompt, stimulus_id, sum(times) as answers,
  1 - sum(times * (times - 1)) / (sum(times) * (sum(times) - 1)) as flips
from answered group by all having sum(times) > 1
"""

# One row for each changed text; the averages go over all combinations of answers to it and to its original. The rows of
# one part of the originals: all at once would have to fit in memory.
_PAIRS = """
select c.cluster, c.variant, c.test, c.prompt, c.stimulus_id, c.parent, any_value(c.expectation) as expectation,
  any_value(c.groups) as groups, any_value(c.gold) as gold, any_value(o.gold) as original_gold,
  avg((not same(c.given, c.score, o.given, o.score, c.is_value))::double) as changed,
  avg((case when c.gold_score is null then c.given = c.gold and o.given <> c.gold
            else sign(c.score - o.score) = sign(c.gold_score - o.gold_score)
              and not same(c.given, c.score, o.given, o.score, c.is_value) end)::double)
    filter (golden) as moved,
  avg((same(c.given, c.score, c.gold, c.gold_score, c.is_value)
       and same(o.given, o.score, o.gold, o.gold_score, o.is_value))::double) filter (golden) as right_on_both,
  count(c.given) = 0 and count(o.given) > 0 as changed_missing,
  count(o.given) = 0 and count(c.given) > 0 as original_missing,
  avg(c.score - o.score) as shift, avg(abs(c.score - o.score)) as distance,
  any_value((r.flips + again.flips) / 2) as retest
from verdict c
left join verdict o on o.stimulus_id = c.parent and o.variant = c.variant and o.prompt = c.prompt
  and o.way = 'stability'
  and hash(o.stimulus_id) % {parts} = {part}
cross join lateral (
  -- False and unknown is false: a missing verdict has to be kept out by hand.
  select c.gold <> '' and o.gold <> '' and c.given is not null and o.given is not null as golden
)
left join retest r on r.stimulus_id = c.parent and r.variant = c.variant and r.prompt = c.prompt
  and hash(r.stimulus_id) % {parts} = {part}
left join retest again on again.stimulus_id = c.stimulus_id and again.variant = c.variant and again.prompt = c.prompt
where c.expectation in ('same-verdict', 'flipped-verdict') and c.test <> 'original'
  and hash(c.parent) % {parts} = {part}
group by all
"""

PART = 100_000
"""Judgments whose pairs are made at a time: they take some fifty megabytes."""

_CHANGE_TALLIES = """
with grouped as (select *, unnest(list_concat([''], groups)) as part from pair)
select cluster, variant, test, part as "group", expectation, count(g.changed) as pairs,
  coalesce(sum(g.changed), 0) as changed, coalesce(sum(g.moved), 0) as moved,
  coalesce(sum(g.right_on_both), 0) as right_on_both, count(g.moved) as golden,
  coalesce(sum(g.shift), 0) as shift, coalesce(sum(g.distance), 0) as distance,
  count(retest) filter (g.changed is not null) as retested,
  coalesce(sum(retest) filter (g.changed is not null), 0) as retest_changed,
  coalesce(sum(g.changed) filter (retest is not null), 0) as changed_retested,
  count(*) filter (g.changed is null) as incomplete,
  count(*) filter (g.changed_missing) as changed_missing, count(*) filter (g.original_missing) as original_missing
from grouped g group by all order by all
"""

# Items with the same answers to their repeats share a row: the answers, each with its count. The judge's noise and its
# agreement are those of its own prompt: what it said of originals with the prompt of a test is only compared.
_REPEAT_TALLIES = """
with counted as (
  select cluster, variant, way as test, any_value(groups) as groups, stimulus_id,
    given, any_value(score) as score, count(*) as times
  from verdict where test = 'original' and prompt = '' group by cluster, variant, way, stimulus_id, given
), item as (
  select cluster, variant, test, any_value(groups) as groups, stimulus_id, sum(times) as asked,
    list({'given': given, 'times': times, 'score': score} order by given) filter (given is not null) as answers
  from counted group by cluster, variant, test, stimulus_id
), grouped as (select *, unnest(list_concat([''], groups)) as part from item)
select cluster, variant, test, part as "group", coalesce(g.answers, []) as answers, count(*) as items, asked
from grouped g where asked > 1 group by cluster, variant, test, part, g.answers, asked order by all
"""

# An item counts once for all of its repeats: each verdict by its share of the item's verdicts.
_GOLD_TALLIES = """
with counted as (
  select cluster, variant, test, any_value(groups) as groups, stimulus_id, gold, gold_score, given,
    any_value(score) as score, any_value(characters) as characters, any_value(words) as words, count(*) as times
  from verdict where gold <> '' and way = 'stability' and (prompt = '' or test <> 'original')
  group by cluster, variant, test, stimulus_id, gold, gold_score, given
), shared as (
  select *, bool_or(given is not null) over item as answered,
    times / sum(times) filter (given is not null) over item as share
  from counted window item as (partition by variant, stimulus_id)
), grouped as (
  select *, unnest(list_concat([''], groups)) as part from shared where given is not null or not answered
)
select cluster, variant, test, part as "group", gold, coalesce(g.given, '') as given, gold_score, score as given_score,
  sum(case when answered then share else 1 end) as items, characters, words
from grouped g group by all order by all
"""

# What went wrong, and by how much: a verdict that moved but should not have, one that did not move but should have, one
# that differs from the gold label, and one that changes when asked again.
_WORST = f"""
with wrong as (
  select variant, test, prompt, 'changed' as kind, stimulus_id, parent as original_id,
    coalesce(distance, changed) as distance
  from pair where expectation = 'same-verdict' and changed > 0
  union all
  select variant, test, prompt, 'unmoved', stimulus_id, parent, 1 - moved
  from pair where expectation = 'flipped-verdict' and moved < 1
  union all
  select variant, test, prompt, 'wrong', stimulus_id, if(test = 'original', stimulus_id, ''),
    avg(coalesce(abs(score - gold_score), (given <> gold)::double))
  from verdict where expectation = 'given-label' and way = 'stability' and given is not null
    and (prompt = '' or test <> 'original')
  group by all having bool_or(not same(given, score, gold, gold_score, is_value))
  union all
  select variant, 'stability', prompt, 'unsteady', stimulus_id, stimulus_id, flips
  from retest where test = 'original' and prompt = '' and flips > 0
)
select * from wrong
qualify row_number() over (partition by variant, test order by distance desc, stimulus_id) <= {WORST}
order by variant, test, distance desc, stimulus_id
"""  # noqa: S608  # the number is ours

_ANSWERS = """
select stimulus_id, list(coalesce(given, 'no verdict') order by repeat) as answers
from verdict where variant = ? and prompt = ? and way = 'stability' and stimulus_id in (select unnest(?)) group by all
"""

Wrong = Literal["changed", "unmoved", "wrong", "unsteady"]


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A stimulus on which the judge went wrong, and what it said."""

    variant: str
    test: str
    prompt: str
    """The test whose prompt it was asked with; empty for the judge's own."""
    kind: Wrong
    stimulus_id: str
    original_id: str
    """Empty for a text that was written from scratch; the stimulus itself if nothing was changed."""
    distance: float
    """In steps of the scale, or as a share of answers; a larger distance is worse."""
    given: tuple[str, ...]
    """Answers by repeat."""
    original_given: tuple[str, ...]


class StressCounts:
    """All counts of a stress run, from tables that are made once."""

    def __init__(self, judgments: Counting) -> None:
        self._judgments = judgments
        judgments.execute(_SAME, _VERDICTS, _RETESTS)
        [verdicts] = judgments.rows("select count(*) as n from verdict")
        parts = 1 + verdicts["n"] // PART
        for part in range(parts):
            made = "insert into pair" if part else "create temp table pair as"
            judgments.execute(f"{made} {_PAIRS.format(parts=parts, part=part)}")

    def tallies(self, scale: GradeScale, positive: tuple[str, ...] = ()) -> Tallies:
        """Returns all counts, per cluster of items."""
        return Tallies(
            calls=self._judgments.calls(),
            changes=self._judgments.tallies(ChangeTally, _CHANGE_TALLIES),
            repeats=tuple(_repeat_tally(row) for row in self._judgments.each(_REPEAT_TALLIES)),
            golds=self._judgments.tallies(GoldTally, _GOLD_TALLIES),
            scale=scale,
            positive=positive,
        )

    def worst(self) -> list[WorstRow]:
        """The items of each test on which the judge was farthest off, the worst first."""
        found = []
        for row in self._judgments.rows(_WORST):
            ids = [row["stimulus_id"], row["original_id"]]
            answers = self._judgments.rows(_ANSWERS, [row["variant"], row["prompt"], ids])
            said = {each["stimulus_id"]: each["answers"] for each in answers}
            given, original = (tuple(said.get(stimulus, ())) for stimulus in ids)
            found.append(WorstRow(**row, given=given, original_given=original))
        return found


@contextmanager
def stress_counts(path: Path) -> Iterator[StressCounts]:
    """Opens the judgments of a stress run for counting."""
    with counting(path, "grade") as judgments:
        yield StressCounts(judgments)


def _repeat_tally(row: dict[str, Any]) -> RepeatTally:
    answers = row["answers"]
    scores = tuple(answer["score"] for answer in answers)
    return RepeatTally(
        cluster=row["cluster"],
        variant=row["variant"],
        test=row["test"],
        group=row["group"],
        answers=tuple((answer["given"], answer["times"]) for answer in answers),
        scores=() if None in scores else scores,
        items=row["items"],
        asked=int(row["asked"]),
    )
