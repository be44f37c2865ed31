"""The layout of an answer: sentences of prose, or the members of a JSON object."""

import json
from typing import Any, Literal

from umpirical.text.sentences import sentences_at_every_stop

Layout = Literal["prose", "json"]

PROSE: Layout = "prose"
JSON_LAYOUT: Layout = "json"


def joined(parts: list[str], layout: Layout) -> str:
    """The text of an answer made of these statements."""
    return " ".join(parts) if layout == PROSE else "{\n  " + ",\n  ".join(parts) + "\n}"


def statements(text: str, layout: Layout) -> list[str]:
    """The parts of an answer, each of which can state a fact: sentences, or members, whatever blanks stand between."""
    if layout == PROSE or not text.strip():
        return list(sentences_at_every_stop(text))
    return [_member(name, value) for name, value in _pairs(text)]


def member(text: str) -> str:
    """A member of an object as `statements` gives it. Raises ValueError if it is not exactly one."""
    [(name, value)] = _pairs("{" + text + "}")
    return _member(name, value)


def _pairs(text: str) -> list[tuple[str, Any]]:
    """As pairs, since a name that comes twice must not hide a statement."""
    found: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    return found


def _member(name: str, value: object) -> str:
    return f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(value, ensure_ascii=False)}"
