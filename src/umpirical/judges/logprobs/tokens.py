"""The tokens of an answer with their log-probabilities, from the JSON that providers send."""

import json
from dataclasses import dataclass
from math import exp, isfinite, log
from typing import Any

LEAST_REST = 1e-6
"""Providers round: a remaining probability below this cannot be distinguished from 0."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of the answer, and the alternatives listed with it."""

    text: str
    logprob: float
    others: tuple[tuple[str, float], ...]
    """Other tokens listed at this place, each with its log-probability."""
    listed: int
    """How many tokens the server listed by rank; the token itself need not be among them."""
    least: float
    """The lowest log-probability in that list; meaningless if the list is empty."""

    @property
    def unlisted(self) -> float:
        """The highest log-probability that a token not listed here can have."""
        rest = 1.0 - exp(self.logprob) - sum(exp(logprob) for _, logprob in self.others)
        bound = log(max(rest, LEAST_REST))
        return min(bound, self.least) if self.listed else bound


def read_tokens(logprobs: str) -> tuple[Token, ...] | None:
    """Returns the tokens in order; None if the JSON is not in the form of the chat API."""
    try:
        content = json.loads(logprobs)["content"]
        return tuple(_token(entry) for entry in content) or None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _token(entry: Any) -> Token:  # noqa: ANN401  # foreign JSON
    text, logprob = _pair(entry)
    # A log-probability that is not a number says nothing about its token.
    pairs = [_pair(top) for top in entry.get("top_logprobs") or () if _is_finite(top["logprob"])]
    others = dict(pairs)
    others.pop(text, None)
    least = min((value for _, value in pairs), default=0.0)
    return Token(text, logprob, tuple(others.items()), len(pairs), least)


def _pair(entry: Any) -> tuple[str, float]:  # noqa: ANN401  # foreign JSON
    text, logprob = entry["token"], entry["logprob"]
    if not (isinstance(text, str) and _is_finite(logprob)):
        raise ValueError("a token needs a text and a log-probability")
    # For a certain token, some servers round the log-probability to slightly above 0.
    return text, min(0.0, float(logprob))


def _is_finite(value: Any) -> bool:  # noqa: ANN401  # foreign JSON
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
