"""The interface to language models, independent of who serves them."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal, Protocol

from pydantic import ConfigDict, Field

from umpirical.domain.digests import Json
from umpirical.domain.responses import Response


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    role: Annotated[Literal["system", "user", "assistant"], Field(description="The role of the speaker.")]
    content: Annotated[str, Field(description="The text of the message, with placeholders such as {{task}}.")]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the answer is drawn; null leaves a parameter out of the request, so that the server's default holds."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    temperature: Annotated[
        float | None, Field(ge=0, description="0 makes the model choose the most likely answer.")
    ] = 0.0
    top_p: Annotated[
        float | None, Field(gt=0, le=1, description="Probability mass to sample from (nucleus sampling).")
    ] = None
    max_tokens: Annotated[
        int | None,
        Field(ge=1, description="Maximum length of an answer. Cost estimates and the spending cap rely on it."),
    ] = 256
    seed: Annotated[int | None, Field(description="Seed, for servers that support repeatable sampling.")] = None
    top_logprobs: Annotated[
        int | None,
        Field(
            ge=0,
            le=20,
            description="Number of alternatives per token to request log-probabilities for; null requests none.",
        ),
    ] = None

    def sent(self) -> dict[str, float | int]:
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model. A trial's id is made from its payload."""

    model: str
    messages: tuple[Message, ...]
    decoding: Decoding
    answer_schema: str = ""
    """JSON Schema that the answer is constrained to, as JSON; empty for free text."""

    def payload(self) -> Json:
        return {
            "model": self.model,
            "messages": [[message.role, message.content] for message in self.messages],
            "decoding": dict(self.decoding.sent()),
            "answer_schema": _parsed(self.answer_schema) if self.answer_schema else None,
        }


# All questions of a judge have the same few.
@lru_cache(maxsize=64)
def _parsed(schema: str) -> Json:
    parsed: Json = json.loads(schema)
    return parsed


class Model(Protocol):
    """A language model that can be asked. A call never raises: the response says what went wrong."""

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        """Asks once, including retries."""
        ...

    async def close(self) -> None:
        """Releases connections. May be called more than once."""
        ...
