"""What the user writes about a judge of promptfoo. Data only."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator


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
