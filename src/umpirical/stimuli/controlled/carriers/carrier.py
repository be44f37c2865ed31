"""Carriers: real answers, and the passages in them that somebody has verified, as a file holds them."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from umpirical.domain.errors import ConfigError
from umpirical.store.yaml_files import YamlDocument

PREFIX = "carrier:"
"""Stands before the id of a carrier where that is used as a task's: no task of tier 1 may begin with it."""

_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


@dataclass(frozen=True, slots=True)
class Carrier:
    """A real answer, and the passages of it that are known to be right."""

    id: str
    task: str
    """What was asked."""
    answer: str
    claims: tuple[str, ...]
    """Passages of the answer, word for word, that the user has verified."""
    context: str = ""
    """What the answer is grounded in, such as a passage that was retrieved; empty if there is none."""

    @property
    def prompt(self) -> str:
        """The task as the judge reads it: the context, if there is one, and then what was asked."""
        return self.prompt_with(self.context)

    def prompt_with(self, context: str) -> str:
        return f"{context}\n\n{self.task}" if context else self.task

    @property
    def task_id(self) -> str:
        return f"{PREFIX}{self.id}"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    context: str = ""
    task: _Text
    answer: _Text
    claims: list[_Text]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    answers: list[_Entry]


def read_carriers(document: YamlDocument) -> list[Carrier]:
    """The entries under `answers`. The gate says whether they can be edited."""
    try:
        found = _File.model_validate(document.data)
    except ValidationError as error:
        problem = error.errors()[0]
        path = tuple(problem["loc"])
        place = ".".join(map(str, path))
        fix = "answers: is a list, each entry with id, task, answer and claims, and a context if it has one"
        raise ConfigError(f"{place}: {problem['msg']}", where=document.where(path), fix=fix) from None
    return [
        Carrier(entry.id, entry.task, entry.answer, tuple(entry.claims), entry.context.strip())
        for entry in found.answers
    ]
