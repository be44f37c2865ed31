"""Counts judgments of controlled stimuli into tallies.

The views of calls, pairs and crossed pairs are those of `measures/counting/pairs.py`. The candidate that a `grade`
judge was shown is `graded`, u or v, and `score` is its grade.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.tallies import (
    GradePairTally,
    GradeTally,
    LayoutTally,
    OutcomeTally,
    PairTally,
    PartTally,
    QuadTally,
    Tallies,
    VacuumTally,
)
from umpirical.domain.trials import Order, Trial
from umpirical.measures.counting.judgments import PART, Counting, counting
from umpirical.measures.counting.pairs import CALL, PAIR, PAIR_COUNTS, QUAD_COUNTS, pair_views
from umpirical.runs.judgments import Facts


def _facts(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:
    u, v = stimulus.candidates[0], stimulus.candidates[-1]
    graded = 0 if trial.presentation.order is Order.AB else -1
    return {
        "winner": stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None,
        "base": stimulus.base,
        "crossed_pair": stimulus.crossed_pair,
        "version": stimulus.version,
        "log_length": round(math.log(max(1, len(u)) / max(1, len(v))), 2),
        "level": None if scale is None else stimulus.levels[graded],
        "parts": "\n".join(f"{kind}={name}" for kind, name in stimulus.parts.items()),
    }


FACTS = Facts(
    {
        "winner": "int32",
        "base": "double",
        "crossed_pair": "string",
        "version": "string",
        "log_length": "double",
        "level": "double",
        "parts": "string",
    },
    _facts,
)


# A distinct prompt counts once, however often it was repeated.
_VACUUM_TALLIES = """
with prompt as (
  select cluster, variant, stratum, prompt_id,
    count(*) filter (answered) as answers, count(*) filter (slot is not null or score > 0) as preferences
  from call where family = 'blank' group by all
)
select cluster, variant, stratum, count(*) filter (answers > 0) as prompts,
  coalesce(sum(preferences / answers) filter (answers > 0), 0) as false_preferences,
  count(*) filter (answers = 0) as unanswered
from prompt group by all order by all
"""

PAIRS = pair_views("base", "log_length")
"""The pairs of a datasheet, with what the signal model needs to know of them."""

PAIR_TALLIES = f"""
select cluster, variant, family, delta, stratum, {PAIR_COUNTS} from whole_pair group by all order by all
"""  # noqa: S608  # the counts are ours

_QUAD_TALLIES = f"""
select cluster, variant, family, stratum, delta, {QUAD_COUNTS} from whole_quad group by all order by all
"""  # noqa: S608  # likewise

# The outcomes of one pair over all repeats, and how many pairs have the same. Only repeats with a verdict in both
# orders count: an abstention is none of the model's three answers.
_OUTCOME_TALLIES = """
with repeated as (
  select cluster, variant, family, stratum, case better when 'b' then -delta else delta end as delta,
    base, log_length, stimulus_id,
    sum(ab1)::bigint as ab1, sum(ab2)::bigint as ab2, sum(abt)::bigint as abt,
    sum(ba1)::bigint as ba1, sum(ba2)::bigint as ba2, sum(bat)::bigint as bat
  from pair where decided group by all
)
select cluster, variant, family, stratum, delta, coalesce(base, 0) as base, log_length,
  (ab1, ab2, abt, ba1, ba2, bat) as counts, count(*) as pairs
from repeated group by all order by all
"""

# Pairs with nothing to prefer, by layout. Repeats of a pair are averaged, so that a pair counts once.
_LAYOUT_TALLIES = f"""
with asked as (
  select cluster, family, {PAIR},
    count(*) filter (answered) as answers,
    avg(case slot when '1' then 1 when '2' then -1 else 0 end) as difference,
    avg(case choice when 'tie' then 1 else 0 end) as tie
  from call where layout is not null and (family = 'equal' or family = 'blank' and stratum = 'identical')
  group by all
), whole as (
  select *, answers = case family when 'blank' then 1 else 2 end as complete from asked
), pair as (
  select cluster, variant, family, stimulus_id, layout,
    avg(difference) filter (complete) as difference, avg(tie) filter (complete) as tie
  from whole group by all
)
select cluster, variant, family,
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
  select cluster, family, stratum, delta, {PAIR},
    any_value(score) filter (graded = coalesce(better, 'a'))
      - any_value(score) filter (graded <> coalesce(better, 'a')) as gap
  from call where family <> 'blank' group by all
), stimulus as (
  select cluster, variant, family, stratum, delta, stimulus_id, count(gap) / count(*) as answered,
    avg((gap > 0)::int) as better_higher, avg((gap < 0)::int) as lesser_higher, avg((gap = 0)::int) as equal,
    avg(gap) as difference, avg(abs(gap)) as distance
  from asked group by all
)
select cluster, variant, family, stratum, delta, count(*) filter (answered > 0) as pairs,
  coalesce(sum(better_higher), 0) as better_higher, coalesce(sum(lesser_higher), 0) as lesser_higher,
  coalesce(sum(equal), 0) as equal,
  coalesce(sum(difference), 0) as difference, coalesce(sum(distance), 0) as distance,
  count(*) filter (answered = 0) as incomplete,
  coalesce(sum(1 - answered) filter (answered > 0), 0) as lost
from stimulus group by all order by all
"""  # noqa: S608  # likewise

# An answer may occur in two pairs: it was asked about once, and is counted once in its family.
_GRADE_TALLIES = """
select cluster, variant, family, level, score, count(distinct trial_id) as answers
from call where score is not null group by all order by all
"""

_PART_TALLIES = """
select distinct cluster, variant, unnest(string_split(parts, chr(10))) as part from call where parts <> '' order by all
"""


def tally_judgments(path: Path, kind: JudgeKind = "compare", *, most: int = PART) -> Tallies:
    """Counts every judgment in a file, per task; about `most` of them at a time. Raises if a trial occurs twice."""
    with counting(path, kind) as judgments:
        tally = _tally_grades if kind == "grade" else _tally_choices
        parts = [tally(judgments) for _ in judgments.in_parts(most)]
    return parts[0] if len(parts) == 1 else _joined(parts)


def _tally_grades(judgments: Counting) -> Tallies:
    judgments.execute(CALL)
    return Tallies(
        vacuum=judgments.tallies(VacuumTally, _VACUUM_TALLIES),
        calls=judgments.calls(),
        grade_pairs=judgments.tallies(GradePairTally, _GRADE_PAIR_TALLIES),
        grades=judgments.tallies(GradeTally, _GRADE_TALLIES),
        parts=judgments.tallies(PartTally, _PART_TALLIES),
    )


def _tally_choices(judgments: Counting) -> Tallies:
    judgments.execute(CALL, *PAIRS)
    return Tallies(
        vacuum=judgments.tallies(VacuumTally, _VACUUM_TALLIES),
        pairs=judgments.tallies(PairTally, PAIR_TALLIES),
        calls=judgments.calls(),
        outcomes=judgments.tallies(OutcomeTally, _OUTCOME_TALLIES),
        quads=judgments.tallies(QuadTally, _QUAD_TALLIES),
        layouts=judgments.tallies(LayoutTally, _LAYOUT_TALLIES),
        parts=judgments.tallies(PartTally, _PART_TALLIES),
    )


def _joined(parts: Sequence[Tallies]) -> Tallies:
    """Returns the tallies of all parts. Each is about clusters of its own; without any part, nothing was judged."""
    names = ("vacuum", "pairs", "calls", "outcomes", "quads", "layouts", "grade_pairs", "grades", "parts")
    found: dict[str, Any] = {name: tuple(tally for part in parts for tally in getattr(part, name)) for name in names}
    return Tallies(**found)
