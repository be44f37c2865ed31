"""The stimulus set of the datasheet: vacuum, equal quality, and the ladder, task by task."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from typing import TypeVar

from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.stimuli.controlled.ladder import pairs
from umpirical.stimuli.controlled.ladder.balance import Balancer
from umpirical.stimuli.controlled.ladder.pairs import PairMaker
from umpirical.stimuli.controlled.recipes import Recipe
from umpirical.stimuli.controlled.tasks import Task

__all__ = ["MAKERS", "datasheet_stimuli", "spread_over_families", "vacuum_stimuli"]

T = TypeVar("T")

VACUUM_MAKER = "vacuum/2"

MAKERS = [pairs.MAKER, VACUUM_MAKER]
"""What makes the stimuli, with versions: another version makes another set of the same tasks."""

COSTS = {"whitespace": 2, "empty": 1, "identical": 1}
"""The vacuum classes, and how many distinct prompts a stimulus of each makes."""

WHITESPACE = (("   ", "\n\n"), (" \n ", "\t\t"), ("\n", "      "), ("\t", " \n\n "))


def datasheet_stimuli(tasks: Sequence[Task], recipe: Recipe, *, seed: int) -> Iterator[Stimulus]:
    """Every stimulus of the set. The same tasks, recipe and seed give the same bytes."""
    balancer, made = Balancer(), Counter[str]()
    for index, task in enumerate(tasks):
        maker = PairMaker(task, index, seed, balancer)
        yield from vacuum_stimuli(maker, prompts=recipe.vacuum)
        for turn in range(recipe.delta0):
            yield maker.equal(turn)
        yield from _ladder(maker, recipe, made)
        for turn in range(recipe.subset):
            yield maker.subset(turn)
        for turn in range(recipe.length):
            kind, make = ("length", maker.length) if (index + turn) % 2 else ("conflict", maker.conflict)
            yield make(turn, rank=made[kind])
            made[kind] += 1


def _ladder(maker: PairMaker, recipe: Recipe, made: Counter[str]) -> Iterator[Stimulus]:
    """Steps in rotation over the tasks, as far as a task's grain allows them. `made` counts them over the whole set."""
    top, grain = len(maker.task.requirements), maker.task.grain
    steps = [step for step in recipe.steps if step <= top and (step * grain).is_integer()]
    seen = Counter[float]()
    for place in range(recipe.ladder):
        delta = steps[(maker.index * recipe.ladder + place) % len(steps)]
        yield maker.step(delta, seen[delta], rank=made[f"{delta:g}"])
        seen[delta] += 1
        made[f"{delta:g}"] += 1


def vacuum_stimuli(maker: PairMaker, *, prompts: int) -> Iterator[Stimulus]:
    """Stimuli that make `prompts` distinct prompts for one task, of three classes that take turns over the tasks.

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
            yield _vacuum_stimulus(maker, stratum, turns[stratum])
            left -= COSTS[stratum]
            turns[stratum] += 1


def _vacuum_stimulus(maker: PairMaker, stratum: str, turn: int) -> Stimulus:
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
        maker=VACUUM_MAKER,
        family="vacuum",
        stratum=stratum,
        base=level,
    )


def spread_over_families(tasks: Sequence[Task], count: int) -> list[Task]:
    """`count` of the tasks, from as many domains and families as possible.

    The first task of each family, then the second of each; and among families, the first of each domain, then the
    second of each.
    """
    domains: dict[str, dict[str, list[Task]]] = {}
    for task in tasks:
        domains.setdefault(task.domain, {}).setdefault(task.family, []).append(task)
    families = _in_turn([list(families.values()) for families in domains.values()])
    return _in_turn(families)[:count]


def _in_turn(rows: Sequence[Sequence[T]]) -> list[T]:
    """The first of each row, then the second of each, and so on."""
    return [row[place] for place in range(max(map(len, rows), default=0)) for row in rows if place < len(row)]
