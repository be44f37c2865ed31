"""The prompts, filled so that what is quoted in them cannot pass for a part of them."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from umpirical.domain.digests import digest
from umpirical.domain.transcripts import Message
from umpirical.text.templates import fill, shipped_template

_PACKAGE = "umpirical.stimuli.transcripts.rewriting"

_MARK = re.compile(r"^\[[a-z]+, ([0-9a-f]{8})\]$", re.MULTILINE)

_NAMES = ("edit", "plan", "summarise", "verify")

PROMPTS = digest("prompt templates", [shipped_template(_PACKAGE, name) for name in _NAMES])
"""Digest of all prompts."""


def question(name: str, values: Mapping[str, str]) -> str:
    """Returns a prompt with its values filled in, between marks that none of them could have foreseen."""
    # It depends on all that is shown, and on nothing else: it must not tell what is hoped for.
    return fill(shipped_template(_PACKAGE, name), {**values, "fence": digest("fence", dict(values))[:8]})


def mark_of(prompt: str) -> str:
    """Returns the mark of a prompt that was filled here. The first one in it is its own."""
    found = _MARK.search(prompt)
    if found is None:
        raise ValueError("a prompt without marks")
    return found[1]


def numbered(messages: Iterable[Message], *, first: int = 1) -> str:
    """Returns messages one to a line, each with its number."""
    return "\n".join(
        f"message {number}: {json.dumps(message.as_json(), ensure_ascii=False)}"
        for number, message in enumerate(messages, first)
    )


def spelled(schema: Mapping[str, Any]) -> str:
    """Returns a schema as text, its fields in their order: a model writes them in that order.

    A verdict that comes after its reasons can follow from them, and a change after the number of its message.
    """
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of an object that has exactly these fields."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
