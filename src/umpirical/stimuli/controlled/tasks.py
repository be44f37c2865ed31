"""Tasks with requirements that a program can check, layouts of their answers, and checks of the tasks themselves."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from umpirical.text.sentences import sentences_at_every_stop
from umpirical.text.words import shared_triples, word_triples

# The layout of an answer: sentences of prose, or the members of a JSON object.


Layout = Literal["prose", "json"]

PROSE: Layout = "prose"
JSON_LAYOUT: Layout = "json"


def joined(parts: list[str], layout: Layout) -> str:
    """The text of an answer made of these statements."""
    return " ".join(parts) if layout == PROSE else "{\n  " + ",\n  ".join(parts) + "\n}"


def statements(text: str, layout: Layout) -> list[str]:
    """The parts of an answer, each of which can state a fact: sentences, or members, whatever blanks stand between."""
    if layout == PROSE or not text.strip():
        return list(sentences_at_every_stop(text))
    return [_member(name, value) for name, value in _pairs(text)]


def member(text: str) -> str:
    """A member of an object as `statements` gives it. Raises ValueError if it is not exactly one."""
    [(name, value)] = _pairs("{" + text + "}")
    return _member(name, value)


def _pairs(text: str) -> list[tuple[str, Any]]:
    """As pairs, since a name that comes twice must not hide a statement."""
    found: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    return found


def _member(name: str, value: object) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"


# Tasks: what the judge is given, and requirements with facts that a program can check; and twins of tasks.

Kind = Literal["asked", "figures"]
"""What the two versions of a twin differ in: the request, or the figures given."""


@dataclass(frozen=True)
class Fact:
    """One thing an answer can state."""

    check: tuple[str, ...]
    """Phrases that all occur as whole words, whatever the case, in one statement of a text that states it."""
    forms: tuple[str, ...]
    """Statements of it, all of one length."""
    fillers: tuple[str, ...]
    """Statements of the same length, to stand in where the fact is absent: in a twin, those of the other version."""

    @cached_property
    def _phrases(self) -> list[str]:
        return [phrase.casefold() for phrase in self.check]

    def stated_in(self, text: str, layout: Layout = PROSE) -> bool:
        return any(map(self.stated_by, folded_statements(text, layout)))

    def stated_by(self, folded: str) -> bool:
        """Whether one statement states it. It is given case-folded, since many facts are looked for in each."""
        # Most statements lack a phrase, which this first look finds out much faster.
        present = all(map(folded.__contains__, self._phrases))
        return present and all(_as_whole_words(phrase, folded) for phrase in self._phrases)

    def stated_by_any(self, folded: Iterable[str]) -> bool:
        """As `stated_by`, for many statements."""
        first = self._phrases[0]
        return any(self.stated_by(text) for text in folded if first in text)


def folded_statements(text: str, layout: Layout = PROSE) -> list[str]:
    """The statements of a text, case-folded."""
    return [statement.casefold() for statement in statements(text, layout)]


def _as_whole_words(phrase: str, text: str) -> bool:
    """Whether a phrase occurs with no letter, figure or underscore next to it. A task has too many for patterns."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        if not (_in_a_word(text[start - 1 : start]) or _in_a_word(text[end : end + 1])):
            return True
        start = text.find(phrase, start + 1)
    return False


def _in_a_word(mark: str) -> bool:
    return mark.isalnum() or mark == "_"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing the task asks for: the unit of quality."""

    name: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Task:
    """A task whose answers can be made to measure."""

    id: str
    family: str
    """The hand-written template it is an instance of."""
    domain: str
    prompt: str
    requirements: tuple[Requirement, ...]
    reviewed: bool = True
    """False for a model's draft that no person has read yet: nothing is measured with it."""
    request: str = ""
    """The end of the prompt that says what is asked for; empty where it is not told apart."""
    version: str = ""
    """Which of the two versions of its twin it is; empty for a task that stands alone."""
    layout: Layout = PROSE
    language: str = "en"

    @property
    def parts(self) -> dict[str, str]:
        """What a judge may be good or bad at, by kind. Results are also given for each."""
        return {"format": self.layout, "language": self.language, "domain": self.domain}

    @cached_property
    def facts(self) -> list[Fact]:
        """Every fact, in the order of the requirements."""
        return [fact for requirement in self.requirements for fact in requirement.facts]

    @cached_property
    def wordings(self) -> NDArray[np.int64]:
        """For each fact, how many wordings its slot has, whether or not it is stated."""
        return np.array([min(len(fact.forms), len(fact.fillers)) for fact in self.facts])

    @property
    def grain(self) -> int:
        """Facts in a requirement, and so the steps in which an answer can meet it."""
        return len(self.requirements[0].facts)

    def stated(self, text: str) -> frozenset[int]:
        """The places of the facts that a text states, by program."""
        return frozenset().union(*(self._stated_by(statement) for statement in statements(text, self.layout)))

    def level(self, text: str) -> float:
        """How many requirements a text meets; some of its facts meet that share of a requirement."""
        return len(self.stated(text)) / self.grain

    @cached_property
    def _known(self) -> dict[str, frozenset[int]]:
        return {}

    def _stated_by(self, statement: str) -> frozenset[int]:
        """Cached, since the answers of a task are made of the same few statements again and again."""
        if statement not in self._known:
            folded = statement.casefold()
            self._known[statement] = frozenset(n for n, fact in enumerate(self.facts) if fact.stated_by(folded))
        return self._known[statement]


@dataclass(frozen=True)
class Twin:
    """Two versions of one task. Where an answer does not state a fact of one version, it states one of the other.

    So what is better under one version is the lesser one under the other, by the same step, and whatever a judge makes
    of the texts alone, without the task, is right under one version exactly as often as wrong under the other.
    """

    id: str
    kind: Kind
    versions: tuple[Task, Task]

    @property
    def family(self) -> str:
        return self.versions[0].family

    @property
    def domain(self) -> str:
        return self.versions[0].domain


# Checks by program that a task is what it claims to be, before any answer is made from it.

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
        yield f"task {task.id}: this is a draft: read it, correct it, then set reviewed: true"
    if len(task.requirements) < MIN_REQUIREMENTS:
        yield f"task {task.id}: a ladder needs at least two requirements"
    if len(sizes := {len(requirement.facts) for requirement in task.requirements}) > 1:
        yield f"task {task.id}: every requirement needs the same number of facts, not {sorted(sizes)}"
    for fact in task.facts:
        others = [other for other in task.facts if other is not fact]
        yield from _check_statements(task, fact, others)
        if min(len(set(fact.forms)), len(set(fact.fillers))) < MIN_WORDINGS:
            instead = "fillers" if not task.version else "forms of the fact that replaces it"
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
                of = "the filler" if not task.version else "a fact of the other version,"
                yield f"task {task.id}: {of} {text!r} states {stated.check}"
