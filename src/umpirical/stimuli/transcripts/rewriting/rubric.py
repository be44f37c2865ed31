"""Rubrics of agents: items, each with its own scale."""

import json
from dataclasses import dataclass

from umpirical.domain.digests import Json
from umpirical.domain.scales import GradeScale

KEPT_OR_NOT = GradeScale("binary", ("violated", "satisfied"))


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One thing that is asked of an agent."""

    name: str
    text: str
    scale: GradeScale = KEPT_OR_NOT
    """Binary or ordinal, the worst label first."""

    def __post_init__(self) -> None:
        if self.scale.kind not in ("binary", "ordinal"):
            raise ValueError(
                f"{self.name}: a transcript cannot be aimed at a label of a scale that is {self.scale.kind}"
            )

    @property
    def shown(self) -> str:
        """The item as models are shown it by itself."""
        return f"{self.name}\n{self.text}"

    @property
    def labels(self) -> str:
        """The labels as a prompt lists them."""
        return ", ".join(json.dumps(label, ensure_ascii=False) for label in self.scale.labels)


@dataclass(frozen=True, slots=True)
class Rubric:
    """What an agent's transcript is graded by. Every transcript may have its own."""

    items: tuple[RubricItem, ...]
    instruction: str = ""
    """The judge's own, verbatim."""

    def __post_init__(self) -> None:
        names = [item.name for item in self.items]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"a rubric needs items with names of their own, got {names!r}")

    def item(self, name: str) -> RubricItem:
        """Returns the item of this name. Raises KeyError if there is none."""
        found = [item for item in self.items if item.name == name]
        if not found:
            raise KeyError(name)
        return found[0]

    @property
    def words(self) -> str:
        """The rubric as a model reads it."""
        items = (f"item {item.name} (worst to best: {item.labels}):\n{item.text}" for item in self.items)
        return "\n\n".join([self.instruction, *items] if self.instruction else items)

    def as_json(self) -> Json:
        """Returns everything that decides what it asks."""
        return [self.instruction, *([item.name, item.text, *item.scale.labels] for item in self.items)]
