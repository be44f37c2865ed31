"""Tasks: a prompt and its requirements, each with facts that a program can check. A file holds a family of them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from umpirical.domain.errors import ConfigError
from umpirical.store.yaml_files import YamlDocument, load_yaml, parse_yaml
from umpirical.text.sentences import sentences_at_every_stop

__all__ = ["Fact", "Requirement", "Task", "builtin_tasks", "load_tasks", "read_tasks"]


@dataclass(frozen=True)
class Fact:
    """One thing an answer can state."""

    check: tuple[str, ...]
    """Phrases that all occur as whole words, whatever the case, in one sentence of a text that states it."""
    forms: tuple[str, ...]
    """Sentences that state it, all of one length."""
    fillers: tuple[str, ...]
    """Sentences of the same length that state nothing, to stand in where the fact is absent."""

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE) for phrase in self.check]

    def stated_in(self, text: str) -> bool:
        return any(self.stated_by(sentence) for sentence in sentences_at_every_stop(text))

    def stated_by(self, sentence: str) -> bool:
        return all(pattern.search(sentence) for pattern in self._patterns)


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

    @cached_property
    def facts(self) -> list[Fact]:
        """Every fact, in the order of the requirements."""
        return [fact for requirement in self.requirements for fact in requirement.facts]

    @property
    def grain(self) -> int:
        """Facts in a requirement, and so the steps in which an answer can meet it."""
        return len(self.requirements[0].facts)

    def stated(self, text: str) -> frozenset[int]:
        """The places of the facts that a text states, by program."""
        return frozenset().union(*(self._stated_by(sentence) for sentence in sentences_at_every_stop(text)))

    def level(self, text: str) -> float:
        """How many requirements a text meets; some of its facts meet that share of a requirement."""
        return len(self.stated(text)) / self.grain

    @cached_property
    def _known(self) -> dict[str, frozenset[int]]:
        return {}

    def _stated_by(self, sentence: str) -> frozenset[int]:
        """Cached, since the answers of a task are made of the same few sentences again and again."""
        if sentence not in self._known:
            self._known[sentence] = frozenset(n for n, fact in enumerate(self.facts) if fact.stated_by(sentence))
        return self._known[sentence]


@cache
def builtin_tasks() -> tuple[Task, ...]:
    """The tasks that ship, in order of file name."""
    folder = files("umpirical.stimuli.controlled.ladder") / "families"
    found = sorted((path for path in folder.iterdir() if path.name.endswith(".yaml")), key=lambda path: path.name)
    documents = [parse_yaml(path.read_text(encoding="utf-8"), name=path.name) for path in found]
    return tuple(task for document in documents for task in read_tasks(document))


def load_tasks(path: Path) -> list[Task]:
    """The tasks of a file of the user's."""
    return read_tasks(load_yaml(path))


def read_tasks(document: YamlDocument) -> list[Task]:
    """One task for each set of parameters, or one task if there are none."""
    data = document.data
    try:
        sets = data.get("parameters") or [{}]
        return [_task(data, {str(name): str(value) for name, value in values.items()}) for values in sets]
    except KeyError as error:
        raise ConfigError(f"not a task: {error} is missing", where=document.where(())) from None
    except (AttributeError, TypeError) as error:
        raise ConfigError(f"not a task: {error}", where=document.where(())) from None


def _task(data: Mapping[str, Any], parameters: Mapping[str, str]) -> Task:
    family = str(data["id"])
    names = [name for name in parameters if name != "id"]
    pattern = re.compile("|".join(rf"\{{{re.escape(name)}\}}" for name in names) or r"(?!)")

    def filled(text: object) -> str:
        """Only a parameter's own name in braces is a placeholder, so that code may hold braces."""
        return pattern.sub(lambda match: parameters[match[0][1:-1]], str(text))

    return Task(
        id=f"{family}.{parameters['id']}" if parameters else family,
        family=family,
        domain=str(data["domain"]),
        prompt=filled(data["prompt"]).strip(),
        requirements=tuple(
            Requirement(
                str(entry["name"]),
                tuple(
                    Fact(*(tuple(map(filled, _several(fact, part))) for part in ("check", "forms", "fillers")))
                    for fact in _several(entry, "facts")
                ),
            )
            for entry in _several(data, "requirements")
        ),
        reviewed=_reviewed(data),
    )


def _reviewed(data: Mapping[str, Any]) -> bool:
    """Whether a person has read it. A task that a person wrote needs no such line."""
    found = data.get("reviewed", True)
    if not isinstance(found, bool):
        raise TypeError(f"reviewed: expected true or false, got {found!r:.60}")
    return found


def _several(entry: Mapping[str, Any], name: str) -> list[Any]:
    """A list with something in it: a bare text would be taken for a list of letters."""
    found = entry[name]
    if not isinstance(found, list) or not found:
        raise TypeError(f"{name}: expected a list with something in it, got {found!r:.60}")
    return found
