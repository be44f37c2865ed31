"""Counts choices between two runs: in both orders, and under a policy and its opposite.

The views of pairs and quads are those of `store/pairs.py`. What was not answered in both orders is left out, and
counted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from umpirical.domain.tallies import PairTally, QuadTally, Tallies
from umpirical.protocols.agent.counting import MOST_WORST, PARTS
from umpirical.store.counting import Counting, counting
from umpirical.store.pairs import CALL, PAIR_COUNTS, QUAD_COUNTS, pair_views

# A pair has the same groups under both policies.
_GROUPED = """
create temp table grouped as
select quad, any_value(groups) as groups, list_sort(list(distinct stimulus_id)) as stimuli from judgment group by quad
"""

_PAIR_TALLIES = f"""
with parted as (
  select p.*, unnest(parts(p.family, g.groups, g.quad)) as part
  from whole_pair p join (select quad, groups, unnest(stimuli) as stimulus_id from grouped) g using (stimulus_id)
)
select cluster, arm, part.test as family, part."group" as stratum, 0.0::double as delta, {PAIR_COUNTS}
from parted group by cluster, arm, part.test, part."group" order by all
"""  # noqa: S608  # the counts are ours

_QUAD_TALLIES = f"""
with parted as (
  select q.*, unnest(parts(q.family, g.groups, q.quad)) as part from whole_quad q join grouped g using (quad)
)
select cluster, arm, part.test as family, part."group" as stratum, 0.0::double as delta, {QUAD_COUNTS}
from parted group by cluster, arm, part.test, part."group" order by all
"""  # noqa: S608  # likewise

_WORST = f"""
select arm, family as edit, stimulus_id, correct_calls / 2 as "right", wrong_calls / 2 as wrong,
  slot_1_calls / 2 as slot_1
from whole_pair where complete and correct_calls < 2
qualify row_number() over (partition by arm, family order by correct_calls, wrong_calls desc, stimulus_id)
  <= {MOST_WORST}
order by arm, family, correct_calls, wrong_calls desc, stimulus_id
"""  # noqa: S608  # the number is ours


@dataclass(frozen=True, slots=True)
class WorstPair:
    """A pair about which the judge was wrong."""

    arm: str
    edit: str
    stimulus_id: str
    right: float
    """Share of its answers that name the run that keeps the policy."""
    wrong: float
    """Share of its answers that name the other run. What is left are ties and abstentions."""
    slot_1: float
    """Share of its answers that name slot 1."""


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
        return [WorstPair(**row) for row in self._judgments.rows(_WORST)]


@contextmanager
def pair_counts(path: Path) -> Iterator[PairCounts]:
    """Opens the judgments of a judge that compares for counting."""
    with counting(path, "compare") as judgments:
        yield PairCounts(judgments)
