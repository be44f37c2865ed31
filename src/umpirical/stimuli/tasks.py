"""Tasks: a prompt and five requirements, each with facts that a program can check."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from umpirical.domain.errors import ConfigError
from umpirical.store.yaml_files import YamlDocument, parse_yaml

__all__ = ["Fact", "Requirement", "Task", "builtin_tasks", "read_task"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing an answer can state."""

    check: tuple[str, ...]
    """Phrases that all occur, whatever the case, in a text that states it."""
    forms: tuple[str, ...]
    """Sentences that state it, all of one length."""
    fillers: tuple[str, ...]
    """Sentences of the same length that state nothing, to stand in where the fact is absent."""

    def stated_in(self, text: str) -> bool:
        folded = text.casefold()
        return all(phrase.casefold() in folded for phrase in self.check)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing the task asks for: the unit of quality."""

    name: str
    facts: tuple[Fact, ...]

    def met_in(self, text: str) -> bool:
        return all(fact.stated_in(text) for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Task:
    """A task whose answers can be made to measure."""

    id: str
    domain: str
    prompt: str
    requirements: tuple[Requirement, ...]

    def level(self, text: str) -> int:
        """How many requirements a text meets, by program."""
        return sum(requirement.met_in(text) for requirement in self.requirements)


@cache
def builtin_tasks() -> tuple[Task, ...]:
    """The tasks that ship, in order of file name."""
    folder = files("umpirical.stimuli") / "ladder" / "tasks"
    found = sorted((path for path in folder.iterdir() if path.name.endswith(".yaml")), key=lambda path: path.name)
    return tuple(read_task(parse_yaml(path.read_text(encoding="utf-8"), name=path.name)) for path in found)


def read_task(document: YamlDocument) -> Task:
    data = document.data
    try:
        return Task(
            id=str(data["id"]),
            domain=str(data["domain"]),
            prompt=str(data["prompt"]).strip(),
            requirements=tuple(
                Requirement(str(entry["name"]), tuple(map(_fact, entry["facts"]))) for entry in data["requirements"]
            ),
        )
    except (KeyError, TypeError) as error:
        raise ConfigError(f"not a task: {error!r}", where=document.where(())) from None


def _fact(entry: dict[str, Any]) -> Fact:
    return Fact(*(tuple(map(str, entry[part])) for part in ("check", "forms", "fillers")))
