"""Responses: what came back, raw and kept permanently."""

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

FailureKind = Literal[
    "rate-limited",
    "server-error",
    "rejected",
    "timeout",
    "connection",
    "malformed",
    "refused",
    "judge-error",
]
"""Why there is no answer. `rejected`: the server refused the request as sent. `refused`: the model declined.
`malformed`: the server's reply did not follow its protocol. `judge-error`: the user's own judge raised."""

Ending = Literal["whole", "cut", "refused", "broken", "unread", "unknown"]
"""How an answer ended. `whole`: the model ended it. `cut`: a limit did. `refused`: a filter did. `broken`: the server
gave it up. `unread`: the user's own judge could not read what its model answered, and the text says why. `unknown`: for
any other reason. Only a whole answer is one; a cut one may show that nothing is missing."""

UNREADABLE = "unreadable"
"""The finish reason of an answer that the user's own judge could not read."""

WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "endoftext", "complete", "completed"})
"""Words for a clean stop, in lower case: OpenAI, vLLM, SGLang, llama.cpp, Mistral and Gemini say `stop`, Anthropic and
Bedrock `end_turn` or `stop_sequence`, TGI and Together `eos_token` or `eos`, AI21 `endoftext`, Cohere `COMPLETE`. Any
word that is not listed in one of these sets is no clean stop: a new one has to be added here."""

CUT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_new_tokens", "max_length", "model_length", "error_limit"}
    | {"model_context_window_exceeded", "context_length_exceeded", "incomplete"}
)

REFUSED = frozenset(
    {"content_filter", "content_filtered", "safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii"}
    | {"guardrail_intervened", "image_safety", "error_toxic", "language"}
)

BROKEN = frozenset(
    {"error", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error", "insufficient_system_resource"}
)

LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict")
"""What the limit of an answer is called among the parameters that are sent."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them, over all attempts; None if it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """Input tokens that were read from the provider's cache."""

    def plus(self, other: "Usage") -> "Usage":
        """Adds two usages; what neither counted stays unknown."""
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
        )


@dataclass(frozen=True, slots=True)
class Response:
    """The paid record of one trial. Exactly one of `text` and `failure` is set."""

    trial_id: str
    text: str | None
    failure: FailureKind | None = None
    failure_detail: str = ""
    """What the server or the exception said, shortened."""
    finish_reason: str = ""
    usage: Usage = Usage()
    logprobs: str = ""
    """Token log-probabilities as the provider sent them, as JSON; empty if there are none."""
    sent: str = ""
    """Decoding parameters as sent, as JSON."""
    served_by: str = ""
    """What the server said about itself: model and system fingerprint."""
    latency_ms: float = 0.0
    attempts: int = 1
    """Requests made for this trial, including retries."""
    rate_limited: int = 0
    """How many of them the server answered with "too many requests"."""
    cost: Decimal | None = None
    """US dollars billed for all attempts; None if the provider did not count the tokens."""
    price_table: str = ""
    """Where the price comes from, with version."""
    asked_at: str = ""
    """UTC, ISO 8601."""

    @property
    def reused(self) -> bool:
        """Whether the answer was taken over from another run, which paid for it: nothing was sent for this trial."""
        return not self.attempts

    def __post_init__(self) -> None:
        if (self.text is None) == (self.failure is None):
            raise ValueError("a response has either a text or a failure")

    @property
    def ending(self) -> Ending:
        """How the answer ended, by the reason that the server gave.

        Some servers give none, and the user's own judges have none to give: such an answer is whole, unless as many
        tokens were counted as it could have had.
        """
        reason = self.finish_reason.lower()
        if not reason:
            limit, used = _limit(self.sent), self.usage.output_tokens
            return "cut" if limit is not None and used is not None and used >= limit else "whole"
        for words, ending in _ENDINGS:
            if reason in words:
                return ending
        return "unknown"


_ENDINGS: tuple[tuple[frozenset[str], Ending], ...] = (
    (WHOLE, "whole"),
    (CUT, "cut"),
    (REFUSED, "refused"),
    (BROKEN, "broken"),
    (frozenset({UNREADABLE}), "unread"),
)


@lru_cache(maxsize=64)
def _limit(sent: str) -> int | None:
    """Returns the most tokens that an answer could have, by the parameters that were sent with the question."""
    try:
        parameters = json.loads(sent)
    except ValueError:
        return None
    found = [parameters.get(name) for name in LIMITS] if isinstance(parameters, dict) else []
    return next((limit for limit in found if type(limit) is int), None)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
