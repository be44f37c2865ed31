"""Answers made to measure: every answer has the same sentence slots, filled with facts or with fillers."""

from collections.abc import Sequence

import numpy as np

from umpirical.stimuli.tasks import Task

__all__ = ["chain", "draw_answer", "draw_pair"]

Wording = Sequence[int]
"""For each sentence slot, which of its surface forms (or fillers) is used."""


def chain(task: Task, index: int) -> list[int]:
    """The order in which requirements come in as the level rises.

    A row of a cyclic Latin square, chosen by the task's index, so that over the tasks no requirement is always the
    one that makes the difference.
    """
    size = len(task.requirements)
    return [(index + step) % size for step in range(size)]


def draw_answer(task: Task, *, index: int, level: int, rng: np.random.Generator) -> tuple[str, Wording]:
    """An answer that meets the first `level` requirements of the chain, in a wording drawn at random."""
    wording = [int(rng.integers(choices)) for choices in _choices(task)]
    return _write(task, index, level, wording), wording


def draw_pair(task: Task, *, index: int, levels: tuple[int, int], rng: np.random.Generator) -> tuple[str, str]:
    """Two answers that differ in wording in every sentence, whether or not they differ in level.

    Both come from one distribution at every step of the ladder, so that "anything differs" tells nothing about
    quality.
    """
    first, wording = draw_answer(task, index=index, level=levels[0], rng=rng)
    shifts = [int(rng.integers(1, choices)) for choices in _choices(task)]
    other = [(w + s) % c for w, s, c in zip(wording, shifts, _choices(task), strict=True)]
    return first, _write(task, index, levels[1], other)


def _write(task: Task, index: int, level: int, wording: Wording) -> str:
    present = set(chain(task, index)[:level])
    slots = [(number, fact) for number, requirement in enumerate(task.requirements) for fact in requirement.facts]
    sentences = [
        (fact.forms if number in present else fact.fillers)[which]
        for (number, fact), which in zip(slots, wording, strict=True)
    ]
    # Where a sentence stands is rotated at another pace than the chain, so that position does not stand for rank.
    turn = (2 * index + index // len(task.requirements)) % len(sentences)
    return " ".join(sentences[turn:] + sentences[:turn])


def _choices(task: Task) -> list[int]:
    facts = [fact for requirement in task.requirements for fact in requirement.facts]
    return [min(len(fact.forms), len(fact.fillers)) for fact in facts]
