"""What the user writes about an HTTP endpoint that judges, or an assertion of promptfoo's. Data only."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.models.spec import Headers, TlsSpec, check_keyed
from umpirical.text.json_texts import texts_in
from umpirical.text.templates import placeholders


class HttpSpec(BaseModel):
    """An HTTP endpoint: the request it gets, and where its reply has the verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(
        pattern=r"^https?://[^\s\\@#?/]+(/[^\s\\@#?]*(\?[^\s\\@#]*)?)?$", description="The URL for POST requests."
    )
    body: dict[str, Any] | list[Any] = Field(
        description="The JSON to send. {{task}}, {{first}}, {{second}} and {{response}} in its texts are filled in."
    )
    answer: str = Field(
        default="",
        pattern=r"^([^.\s]+(\.[^.\s]+)*)?$",
        description="The path to the answer in the reply: result.verdict, or choices.0.text. Default: the whole reply.",
    )
    headers: Headers = Field(default={}, description="Additional headers; {{key}} is replaced by the key.")
    api_key_env: str | None = Field(
        default=None,
        description="Environment variable with the key; sent as a bearer token unless headers contain {{key}}.",
    )
    tls: TlsSpec | None = Field(
        default=None, exclude=True, description="TLS files: {ca, certificate, key}, each by its path."
    )
    attempts: int = Field(
        default=5, ge=1, le=20, description="Maximum number of attempts per call, including the first."
    )

    @field_validator("body")
    @classmethod
    def _is_json(cls, body: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("body: must be valid JSON") from None
        return body

    @model_validator(mode="after")
    def _keyed(self) -> "HttpSpec":
        check_keyed(self)
        return self

    def filled_in(self) -> set[str]:
        return {name for text in texts_in(self.body) for name in placeholders(text)}


class PromptfooSpec(BaseModel):
    """An assertion that a model decides, in a config of promptfoo's."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    config: str = Field(min_length=1, description="Path to promptfooconfig.yaml, relative to the study's folder.")
    assertion: int = Field(
        default=0,
        ge=0,
        description="Which model-graded assertion, counted from 0: defaultTest first, then each test.",
    )
    command: tuple[Annotated[str, Field(max_length=4096)], ...] = Field(
        default=("promptfoo",),
        min_length=1,
        max_length=16,
        description="The command for promptfoo; paths are relative to the study's folder: "
        "[node_modules/.bin/promptfoo].",
    )

    @field_validator("command")
    @classmethod
    def _startable(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not command[0] or any("\0" in word for word in command):
            raise ValueError("command: name a program, such as [promptfoo]")
        return command
