"""The `review` part of a study file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from umpirical.domain.reviews import ReviewMode

Undecided = Literal["count", "leave-out"]
"""What happens to a generated text that people have not settled: judges are asked about it, or they are not."""


class ReviewSpec(BaseModel):
    """How people review what a generator wrote."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    overlap: int = Field(default=1, ge=1, le=9, description="People who decide on each text, each by themselves.")
    mode: ReviewMode = Field(
        default="blind",
        description="blind: what others, validators and the generator's target say is hidden until one has decided.",
    )
    undecided: Undecided = Field(
        default="count",
        description="Whether a generated text counts that nobody has decided on, or people disagree on.",
    )
    guideline: str | None = Field(default=None, description="A text file: what reviewers are to go by.")
    sensitive: tuple[str, ...] = Field(default=(), description="Tests whose texts are shown blurred until asked for.")


@dataclass(frozen=True, slots=True)
class ReviewTerms:
    """The review of one study: where it is kept, and how people review."""

    folder: Path
    """Folder of the study."""
    spec: ReviewSpec
    guideline: str = ""
    """The rules that reviewers follow."""
    ordered_labels: bool = False
    """Whether the labels have an order, so that a near miss counts less than a far one."""
