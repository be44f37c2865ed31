"""Vacuum stimuli: nothing to compare, so any preference is the judge's own."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, repeat

from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.stimuli.controlled.ladder.pairs import PairMaker

__all__ = ["vacuum_stimuli"]

MAKER = "vacuum/2"

COSTS = {"whitespace": 2, "empty": 1, "identical": 1}
"""The vacuum classes, and the distinct prompts that a stimulus of each makes."""

WHITESPACE = (("   ", "\n\n"), (" \n ", "\t\t"), ("\n", "      "), ("\t", " \n\n "))


def vacuum_stimuli(maker: PairMaker, *, prompts: int) -> Iterator[Stimulus]:
    """So many distinct prompts in one task, of three classes that take turns over the tasks.

    Two empty answers, and two identical ones, are one prompt; two blank ones that differ in blanks are two, one in
    each order.
    """
    index, left, turns = maker.index, prompts, Counter[str]()
    start = index % len(COSTS)
    classes = [*COSTS][start:] + [*COSTS][:start] + ["whitespace"]
    for stratum in chain(classes, repeat("identical")):
        if left <= 0:
            return
        if COSTS[stratum] <= left:
            yield _stimulus(maker, stratum, turns[stratum])
            left -= COSTS[stratum]
            turns[stratum] += 1


def _stimulus(maker: PairMaker, stratum: str, turn: int) -> Stimulus:
    task, index, level = maker.task, maker.index, None
    match stratum:
        case "empty":
            candidates = ("", "")
        case "whitespace":
            candidates = WHITESPACE[(index // len(COSTS) + turn) % len(WHITESPACE)]
        case _:
            # All levels come up over the tasks, though not every task shows two identical answers.
            level = (index + index // len(COSTS) + 2 * turn) % (len(task.requirements) + 1)
            candidates = (maker.answer(level, turn),) * 2
    return Stimulus(
        task_id=task.id,
        task=task.prompt,
        candidates=candidates,
        expectation=NoPreference(),
        maker=MAKER,
        family="vacuum",
        stratum=stratum,
        base=level,
    )
