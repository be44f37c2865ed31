"""A study: what every study file holds, whatever its protocol, and a study file after reading."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.domain.errors import UsageError
from umpirical.judges.spec import JudgeSpec

if TYPE_CHECKING:
    from umpirical.protocols.protocol import Protocol

STUDY_FILE = "umpirical.yaml"


class DesignSpec(BaseModel):
    """How often everything is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repeats: int = Field(default=1, ge=1, le=10_000, description="How often each question is asked.")
    arms: tuple[str, ...] = Field(
        default=("baseline",),
        min_length=1,
        description="For judges that name no prompts: baseline, strict, forced-choice, each a built-in instruction.",
    )


class StudySpec(BaseModel):
    """What the user writes, whatever the protocol: which judges are measured. A protocol adds keys of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    study: str = Field(description="A name for the study.")
    protocol: str | None = Field(
        default=None, description="How the judges are measured. Default: by the keys that the study has."
    )
    seed: int = Field(default=1, description="Decides every random draw.")
    judges: list[JudgeSpec] = Field(min_length=1)
    design: DesignSpec = DesignSpec()
    concurrency: int = Field(default=16, ge=1, le=4096, description="Calls in flight at a time.")

    @model_validator(mode="after")
    def _distinct(self) -> "StudySpec":
        names = [judge.name for judge in self.judges]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two judges are named {', '.join(sorted(doubled))}")
        return self


SpecT_co = TypeVar("SpecT_co", bound=StudySpec, covariant=True)


@dataclass(frozen=True)
class Study(Generic[SpecT_co]):
    """A study file after reading, and its folder. Prompts are resolved, so every file that it names exists."""

    folder: Path
    spec: SpecT_co
    protocol: "Protocol[Any, Any]"
    commands: Mapping[str, str] = field(default_factory=dict)
    """Maps a judge to the command that measures it, if that is not `umpirical run`."""
    found: Mapping[str, object] = field(default_factory=dict, repr=False)
    """Maps a judge to the object itself, for judges that were passed in this process."""
    policy: str = ""
    """The policy that a person names for this run, in place of the study's: a shipped one, or a file."""
    max_calls: int | None = None
    """Most calls that one judge may take; None if a person has set how much is asked, and not a file."""

    def command(self, judge: str) -> str:
        policy = f" --policy {shlex.quote(self.policy)}" if self.policy else ""
        return self.commands.get(judge, f"umpirical run --judge {judge}") + policy

    def judge(self, name: str) -> JudgeSpec:
        for judge in self.spec.judges:
            if judge.name == name:
                return judge
        raise UsageError(f"no judge {name!r} in the study", fix=f"known: {', '.join(j.name for j in self.spec.judges)}")
