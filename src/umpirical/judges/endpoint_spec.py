"""What the user writes about an HTTP endpoint that judges, or an assertion of promptfoo's. Data only."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.models.recording import KEY_SHAPES
from umpirical.models.spec import TlsSpec
from umpirical.text.templates import placeholders

OWN_HEADERS = {"host", "content-length", "content-type", "transfer-encoding", "accept-encoding", "connection"}
"""Headers that belong to the transport."""


class HttpSpec(BaseModel):
    """An endpoint that judges: what is sent to it, and where in its reply the answer is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str = Field(pattern=r"^https?://[^\s\\@#?/]+(/[^\s\\@#?]*(\?[^\s\\@#]*)?)?$", description="Where to POST.")
    body: dict[str, Any] | list[Any] = Field(
        description="What is sent, as JSON. {{task}}, {{first}}, {{second}}, {{response}} in its texts are filled in."
    )
    answer: str = Field(
        default="",
        pattern=r"^([^.\s]+(\.[^.\s]+)*)?$",
        description="Where the answer is in the reply: result.verdict, or choices.0.text. Default: the whole reply.",
    )
    headers: dict[str, str] = Field(default={}, description="Further headers; {{key}} stands for the key.")
    api_key_env: str | None = Field(
        default=None, description="Environment variable that holds the key; sent as a bearer token unless headers say."
    )
    tls: TlsSpec | None = Field(
        default=None, exclude=True, description="Files for encryption: {ca, certificate, key}, each by its path."
    )
    attempts: int = Field(default=5, ge=1, le=20, description="Attempts per call, the first included.")

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name) or name.lower() in OWN_HEADERS:
                raise ValueError(f"headers: {name!r} cannot be set")
            if not value.isprintable() or placeholders(value) - {"key"}:
                raise ValueError(f"headers: {name} is one line, and {{{{key}}}} is all that can be filled in")
            if KEY_SHAPES.search(value):
                raise ValueError(f"headers: {name} looks like a key: put it into a variable, named in api_key_env")
        return headers

    @field_validator("body")
    @classmethod
    def _is_json(cls, body: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
        try:
            json.dumps(body, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("body: what is sent must be JSON") from None
        return body

    @model_validator(mode="after")
    def _keyed(self) -> "HttpSpec":
        if self.api_key_env is None and any(map(placeholders, self.headers.values())):
            raise ValueError("headers: {{key}} needs api_key_env, the variable that holds the key")
        return self

    def filled_in(self) -> set[str]:
        """Returns the names of what is filled into the body."""
        return {name for text in _texts(self.body) for name in placeholders(text)}


def _texts(part: Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)


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
