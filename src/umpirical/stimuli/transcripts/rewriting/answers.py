"""What models answer: the text if it is whole, the JSON object in it, or what is wrong with it."""

import json
from collections.abc import Mapping
from typing import Any

from umpirical.domain.responses import Ending, Response
from umpirical.stimuli.generation.giveaways import chat_around
from umpirical.text.json_texts import unfenced, without_doubles

LONGEST = 400_000
"""The most characters of an answer; anything longer is a model that did not stop."""

_UNFINISHED: Mapping[Ending, str] = {
    "cut": "cut off at max_tokens",
    "refused": "stopped by a content filter",
    "broken": "given up by its server",
    "unread": "given up by its server",
    "unknown": "not said to be whole",
}


class Unusable(ValueError):
    """An answer that cannot be used, and why. The message begins with words that are the same for the same cause."""


def written(response: Response) -> str:
    """Returns the text of an answer. Raises Unusable if there is none, or it did not end by itself."""
    if response.text is None:
        raise Unusable("refused" if response.failure == "refused" else f"failed: {response.failure_detail[:200]}")
    if response.ending != "whole":
        raise Unusable(_UNFINISHED[response.ending])
    if not response.text.strip():
        raise Unusable("empty")
    if chat_around(response.text).startswith("a refusal"):
        raise Unusable(f"refused: {response.text.strip()[:60]!r}")
    if len(response.text) > LONGEST:
        raise Unusable(f"too long: {len(response.text):,} characters")
    return response.text


def json_object(text: str) -> dict[str, Any]:
    """Returns the JSON object that an answer is, perhaps in a code block. Raises Unusable if it is none."""
    try:
        found = json.loads(unfenced(text.strip()), object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):
        raise Unusable(f"no JSON: {text.strip()[:60]!r}") from None
    if not isinstance(found, dict):
        raise Unusable(f"no JSON object: {text.strip()[:60]!r}")
    return found


def word(found: Mapping[str, Any], name: str) -> str:
    """Returns a field that must be a text. Raises Unusable if it is none, or holds half a character."""
    value = found.get(name)
    if not isinstance(value, str):
        raise Unusable(f"no text as {name}")
    try:
        # JSON can spell half a character, which no file can hold.
        value.encode()
    except UnicodeEncodeError:
        raise Unusable(f"half a character in {name}") from None
    return value
