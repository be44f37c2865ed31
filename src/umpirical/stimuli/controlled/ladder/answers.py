"""Answers made to measure: every answer has the same sentence slots, filled with facts or with fillers."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.tasks import Task

__all__ = ["Wording", "chain", "facts_at", "random_wording", "reworded", "slot_sentences"]

Wording = tuple[int, ...]
"""For each sentence slot, which of its surface forms (or fillers) is used."""


def chain(task: Task, index: int) -> list[int]:
    """The order in which facts come in as the level rises, requirement by requirement.

    Requirements follow a row of a cyclic Latin square, chosen by the task's index, and the facts of each are rotated
    too, so that over the tasks nothing is always the one thing that makes the difference.
    """
    grain, size = task.grain, len(task.requirements)
    requirements = [(index + step) % size for step in range(size)]
    return [number * grain + (index + step) % grain for number in requirements for step in range(grain)]


def facts_at(task: Task, index: int, level: float) -> frozenset[int]:
    """The facts of an answer that meets the first `level` requirements of the chain."""
    return frozenset(chain(task, index)[: round(level * task.grain)])


def random_wording(task: Task, rng: np.random.Generator) -> Wording:
    return tuple(rng.integers(_choices(task)).tolist())


def reworded(task: Task, wording: Wording, rng: np.random.Generator) -> Wording:
    """Another wording in every slot, where there is another: that there is, is for the gate on tasks to say."""
    choices = _choices(task)
    return tuple(((np.array(wording) + rng.integers(1, np.maximum(choices, 2))) % choices).tolist())


def slot_sentences(task: Task, index: int, present: Collection[int], wording: Wording) -> list[str]:
    """The sentences of an answer that states the facts `present`, in the order they stand in it."""
    chosen = [
        (fact.forms if number in present else fact.fillers)[which]
        for number, (fact, which) in enumerate(zip(task.facts, wording, strict=True))
    ]
    # Where a sentence stands is rotated at another pace than the chain, so that position does not stand for rank.
    turn = (7 * index + index // len(task.requirements)) % len(chosen)
    return chosen[turn:] + chosen[:turn]


def _choices(task: Task) -> NDArray[np.int64]:
    return np.array([min(len(fact.forms), len(fact.fillers)) for fact in task.facts])
