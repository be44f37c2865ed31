"""What an instruction moves: rates of an arm against those of the baseline, task by task."""

from collections.abc import Callable, Collection

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.estimates.contrasts import Paired, paired_by_task
from umpirical.measures.estimates.rates import Counted

__all__ = ["BASELINE", "EMPTY", "shifts_by_step"]

BASELINE = "baseline"

EMPTY = "no task has answered pairs in this arm and in the baseline"


def shifts_by_step(
    name: str,
    tallies: Tallies,
    arm: str,
    *,
    families: Collection[str],
    score: Callable[[PairTally], float],
    result: Callable[[Paired, dict[str, int], str], Result],
) -> list[Measure]:
    """`result` on the arm's and the baseline's rates at each step that both were asked; nothing for the baseline.

    Tasks that lack answered pairs on one side are left out. `result` takes the two rates per task, what was left out,
    and the name of the step.
    """
    if arm == BASELINE:
        return []
    chosen = [tally for tally in tallies.pairs if tally.family in families]
    steps = sorted({t.delta for t in chosen if t.arm == arm} & {t.delta for t in chosen if t.arm == BASELINE})
    found = []
    for step in steps:
        here = [tally for tally in chosen if tally.arm == arm and tally.delta == step]
        there = [tally for tally in chosen if tally.arm == BASELINE and tally.delta == step]
        paired = paired_by_task(
            [Counted(tally.task_id, score(tally), tally.pairs) for tally in here],
            [Counted(tally.task_id, score(tally), tally.pairs) for tally in there],
        )
        missing = {
            "without an answer in both orders, this arm": sum(tally.incomplete for tally in here),
            "without an answer in both orders, baseline": sum(tally.incomplete for tally in there),
        }
        found.append(Measure(name, result(paired, missing, f"{step:g}"), arm, f"{step:g}"))
    return found
