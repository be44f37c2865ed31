"""What Umpirical asks of a language model, whoever serves it."""

import json
from dataclasses import dataclass
from typing import Literal, Protocol

from umpirical.domain.digests import Json
from umpirical.domain.responses import Response

__all__ = ["ChatRequest", "Decoding", "Message", "Model"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Decoding:
    """How the answer is drawn. None means: not sent, so the server's default holds."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = 256
    seed: int | None = None
    top_logprobs: int | None = None
    """How many alternatives per token to ask log-probabilities for; None asks for none."""

    def sent(self) -> dict[str, float | int]:
        """The parameters that go out."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model. Its payload is what a trial's id is made of."""

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
            "answer_schema": json.loads(self.answer_schema) if self.answer_schema else None,
        }


class Model(Protocol):
    """A language model that can be asked. An adapter never raises for a call: what went wrong is in the response."""

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        """Asks once, retries included."""
        ...

    async def close(self) -> None:
        """Releases connections. May be called more than once."""
        ...
