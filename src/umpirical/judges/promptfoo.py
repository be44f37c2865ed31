"""What the user writes about a judge of promptfoo, and what the integration does with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from umpirical.registry import load_integration

if TYPE_CHECKING:
    from umpirical.judges.adapters.catalogue import Adapted
    from umpirical.judges.spec import JudgeSpec


class PromptfooSpec(BaseModel):
    """An assertion that a model decides, in a config of promptfoo's."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    config: str = Field(min_length=1, description="promptfooconfig.yaml, from the study's folder.")
    assertion: int = Field(
        default=0,
        ge=0,
        description="Which one, counted from 0 among those that a model decides: defaultTest first, then each test.",
    )
    command: tuple[Annotated[str, Field(max_length=4096)], ...] = Field(
        default=("promptfoo",),
        min_length=1,
        max_length=16,
        description="How promptfoo is started; a path is from the study's folder: [node_modules/.bin/promptfoo].",
    )

    @field_validator("command")
    @classmethod
    def _startable(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not command[0] or any("\0" in word for word in command):
            raise ValueError("command: name a program, such as [promptfoo]")
        return command


class Promptfoo(Protocol):
    """Asks assertions through promptfoo's own command."""

    def describe(self, spec: PromptfooSpec, folder: Path) -> Mapping[str, Any]:
        """Returns what an assertion tells of itself, as keys of a judge in a study file."""
        ...

    def files(self, spec: PromptfooSpec, folder: Path) -> list[Path]:
        """Returns every file of a folder that a judge of promptfoo may load, in order: the config, and what it names.

        A file that it names may load others, so with one of them all code counts.
        """
        ...

    def judge(self, spec: "JudgeSpec", folder: Path) -> "Adapted":
        """Makes the assertion of a spec askable. Raises UsageError if it is no judge, or promptfoo is not there."""
        ...


def promptfoo() -> Promptfoo:
    found: Promptfoo = load_integration("promptfoo")
    return found
