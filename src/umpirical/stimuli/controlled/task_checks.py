"""Checks by program that a task is what it claims to be, before any answer is made from it."""

from collections.abc import Iterator
from itertools import combinations

from umpirical.stimuli.controlled.tasks import Fact, Task
from umpirical.text.sentences import sentences_at_every_stop
from umpirical.text.words import shared_triples, word_triples

__all__ = ["check_task", "check_tasks"]

MIN_WORDINGS = 2
"""The fewest forms, and the fewest fillers, of a fact: two answers of equal quality must be able to differ."""

MIN_REQUIREMENTS = 2

SAME_PROMPT = 0.8
"""Two prompts that share more of their word triples than this count as one prompt."""


def check_tasks(tasks: list[Task]) -> Iterator[str]:
    """What is wrong with a set of tasks, in words: with each of them, and between them."""
    for task in tasks:
        yield from check_task(task)
    prompts = [(task.id, word_triples(task.prompt)) for task in tasks]
    for (one, first), (other, second) in combinations(prompts, 2):
        if one == other:
            yield f"two tasks are named {one}"
        elif (shared := shared_triples(first, second)) > SAME_PROMPT:
            yield f"tasks {one} and {other} are near-duplicates: their prompts share {shared:.0%} of word triples"


def check_task(task: Task) -> Iterator[str]:
    """What is wrong with a task, in words."""
    if not task.reviewed:
        yield f"task {task.id}: it is a draft that nobody has reviewed: read it, correct it, set reviewed: true"
    if len(task.requirements) < MIN_REQUIREMENTS:
        yield f"task {task.id}: a ladder needs at least two requirements"
    if len(sizes := {len(requirement.facts) for requirement in task.requirements}) > 1:
        yield f"task {task.id}: every requirement needs the same number of facts, not {sorted(sizes)}"
    for fact in task.facts:
        others = [other for other in task.facts if other is not fact]
        yield from _check_statements(task, fact, others)
        if min(len(set(fact.forms)), len(set(fact.fillers))) < MIN_WORDINGS:
            yield f"task {task.id}: {fact.check} needs at least two forms and two fillers"
        yield from (
            f"task {task.id}: {text!r} is not one sentence"
            for text in (*fact.forms, *fact.fillers)
            if len(sentences_at_every_stop(text)) != 1 or not text.endswith(".")
        )
        if len(lengths := {len(text.split()) for text in (*fact.forms, *fact.fillers)}) > 1:
            yield f"task {task.id}: sentences for {fact.check} differ in length: {sorted(lengths)} words"
        if fact.stated_in(task.prompt):
            yield f"task {task.id}: the prompt gives {fact.check} away"


def _check_statements(task: Task, fact: Fact, others: list[Fact]) -> Iterator[str]:
    for text in fact.forms:
        if not fact.stated_in(text):
            yield f"task {task.id}: {text!r} does not state {fact.check}"
        yield from (f"task {task.id}: {text!r} states {other.check} too" for other in others if other.stated_in(text))
    for text in fact.fillers:
        for stated in (fact, *others):
            if stated.stated_in(text):
                yield f"task {task.id}: the filler {text!r} states {stated.check}"
