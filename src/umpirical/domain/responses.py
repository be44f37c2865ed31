"""Responses: what came back, raw and kept permanently."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

__all__ = ["FailureKind", "Response", "Usage"]

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

    def __post_init__(self) -> None:
        if (self.text is None) == (self.failure is None):
            raise ValueError("a response has either a text or a failure")


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)
