"""Tasks: what the judge is given, and requirements with facts that a program can check; and twins of tasks."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.layouts import PROSE, Layout, statements

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
