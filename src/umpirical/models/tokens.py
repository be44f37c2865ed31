"""Tokens by our own count: the most and the fewest that a text can be, and whether a server's count can be true.

No tokenizer is the provider's, so these are bounds. A call is reserved at the upper one. A server's count is held
against the lower one: a count below it is not believed.
"""

import re

from umpirical.domain.responses import Usage
from umpirical.models.requests import ChatRequest

MESSAGE_OVERHEAD = 32
"""Tokens that a chat template may put around one message, including a default system prompt."""

SCHEMA_OVERHEAD = 512
"""Tokens that a provider may put around an answer schema: Anthropic's instructions for tools take 346."""

WORDS_PER_TOKEN = 2
"""Most tokenizers never join two words; those that do save a third of the tokens."""

LETTERS_PER_TOKEN = 16
"""For what is not divided by spaces, such as Chinese, where a token is one or two letters."""

LETTERS_ENOUGH = 8
"""A count of one token for so many letters can be true of any text: it is twice what tokenizers make of prose."""

LONG_WORDS = 12
"""Mean length of words from which a text is not taken to be divided by spaces."""

_RUNS = re.compile(r"(.)\1+", re.DOTALL)
"""A long line of dashes or spaces may be a single token."""


def most_tokens(text: str) -> int:
    """Returns an upper bound: a byte-level tokenizer never makes more tokens than bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def most_input_tokens(request: ChatRequest) -> int:
    """Returns an upper bound on a request's tokens."""
    texts = [*(message.content for message in request.messages), request.answer_schema]
    overhead = MESSAGE_OVERHEAD * len(request.messages) + (SCHEMA_OVERHEAD if request.answer_schema else 0)
    return sum(map(most_tokens, texts)) + overhead


def fewest_tokens(text: str) -> int:
    """Returns a lower bound that an honest count does not fall below."""
    words = len(text.split())
    if len(text) <= LONG_WORDS * words:
        return -(-words // WORDS_PER_TOKEN)
    return max(-(-words // WORDS_PER_TOKEN), len(_RUNS.sub(r"\1", text)) // LETTERS_PER_TOKEN)


def fewest_input_tokens(request: ChatRequest) -> int:
    """Returns a lower bound on a request's tokens."""
    return sum(fewest_tokens(message.content) for message in request.messages)


def can_be_read_as(request: ChatRequest, tokens: int) -> bool:
    """Whether a request can be so few tokens. Most counts are seen to be so without dividing the text into words."""
    letters = sum(len(message.content) for message in request.messages)
    return tokens * LETTERS_ENOUGH >= letters or tokens >= fewest_input_tokens(request)


def counted_usage(
    read: object,
    written: object,
    *,
    cached: object = None,
    total: object = None,
    reasoning: object = None,
) -> Usage:
    """Returns a server's counts; what is no count is unknown, and so is everything if they contradict each other.

    Reasoning that is in the total alone, or in the details alone, was billed as output, and is counted as such.
    """
    sent, received, reused, whole, thought = map(_count, (read, written, cached, total, reasoning))
    if sent is None or received is None:
        return Usage(sent, received, reused)
    if (reused or 0) > sent or (whole and whole < sent + received):
        return Usage()
    if (thought or 0) > received:
        received += thought or 0
    return Usage(sent, max(received, (whole or 0) - sent), reused)


def _count(number: object) -> int | None:
    """Returns a count; None for anything else. True is no count, and neither is what no file format can hold."""
    return number if type(number) is int and 0 <= number < 2**63 else None
