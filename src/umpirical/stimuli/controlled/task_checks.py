"""Checks by program that a task is what it claims to be, before any answer is made from it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from umpirical.stimuli.controlled.layouts import PROSE, Layout, member
from umpirical.stimuli.controlled.tasks import Fact, Task, Twin, folded_statements
from umpirical.text.sentences import sentences_at_every_stop
from umpirical.text.words import shared_triples, word_triples

MIN_WORDINGS = 2
"""The fewest forms, and the fewest fillers, of a fact: two answers of equal quality must be able to differ."""

MIN_REQUIREMENTS = 2

LIST_NUMBER = re.compile(r"\(\d+\) ")
"""What numbers the list of a request: no figure that an answer could state."""

SAME_PROMPT = 0.8
"""Two prompts that share more of their word triples than this count as one prompt."""


def check_tasks(tasks: Sequence[Task]) -> Iterator[str]:
    """What is wrong with a set of tasks, in words: with each of them, and between them."""
    for task in tasks:
        yield from check_task(task)
    prompts = [(task.id, word_triples(task.prompt)) for task in tasks]
    for (one, first), (other, second) in combinations(prompts, 2):
        if one == other:
            yield f"two tasks are named {one}"
        elif (shared := shared_triples(first, second)) > SAME_PROMPT:
            yield f"tasks {one} and {other} are near-duplicates: their prompts share {shared:.0%} of word triples"


def check_twins(twins: Sequence[Twin]) -> Iterator[str]:
    """What is wrong with a set of twins, in words. The prompts of a family may be alike: its figures are exchanged."""
    for twin in twins:
        for task in twin.versions:
            yield from check_task(task)
    firsts: dict[str, Task] = {}
    for twin in twins:
        firsts.setdefault(twin.family, twin.versions[0])
    prompts = [(task.id, word_triples(task.prompt)) for task in firsts.values()]
    for (one, first), (other, second) in combinations(prompts, 2):
        if (shared := shared_triples(first, second)) > SAME_PROMPT:
            yield f"tasks {one} and {other} are near-duplicates: their prompts share {shared:.0%} of word triples"
    for name in (name for name, count in Counter(twin.id for twin in twins).items() if count > 1):
        yield f"two tasks are named {name}"


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
            instead = "fillers" if not task.version else "forms of the fact that stands in for it"
            yield f"task {task.id}: {fact.check} needs at least two forms and two {instead}"
        yield from (
            f"task {task.id}: {text!r} is not one {'sentence' if task.layout == PROSE else 'member of an object'}"
            for text in (*fact.forms, *fact.fillers)
            if not _is_one(text, task.layout)
        )
        # In a twin the fillers are facts of the other version, and the gate on lengths looks at whole answers.
        if not task.version and len(lengths := {len(text.split()) for text in (*fact.forms, *fact.fillers)}) > 1:
            yield f"task {task.id}: sentences for {fact.check} differ in length: {sorted(lengths)} words"
        # What is given may well hold the answer, as a passage does; what is asked may not.
        if fact.stated_in(LIST_NUMBER.sub("", task.request or task.prompt)):
            yield f"task {task.id}: the {'request' if task.request else 'prompt'} gives {fact.check} away"


def _is_one(text: str, layout: Layout) -> bool:
    if layout == PROSE:
        return len(sentences_at_every_stop(text)) == 1 and text.endswith(".")
    try:
        member(text)
    except ValueError:
        return False
    return True


def _check_statements(task: Task, fact: Fact, others: list[Fact]) -> Iterator[str]:
    for text in fact.forms:
        found = folded_statements(text)
        if not any(map(fact.stated_by, found)):
            yield f"task {task.id}: {text!r} does not state {fact.check}"
        too = (other for other in others if any(map(other.stated_by, found)))
        yield from (f"task {task.id}: {text!r} states {other.check} too" for other in too)
    for text in fact.fillers:
        found = folded_statements(text)
        for stated in (fact, *others):
            if any(map(stated.stated_by, found)):
                of = "the filler" if not task.version else "what the other version asks for,"
                yield f"task {task.id}: {of} {text!r} states {stated.check}"
