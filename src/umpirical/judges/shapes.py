"""The shapes that an answer has in a text: where it stands, and what stands before it.

Every shape is found in time proportional to the text. Texts come from a model, and some from whoever writes to it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from umpirical.judges.patterns import LONGEST_TEXT, AnswerPattern
from umpirical.judges.spec import AnswerSpec, Occurrence
from umpirical.text.json_texts import unfenced, without_doubles

EMPHASIS = "*_`\"' \t"
"""What models put around a word on a line of its own."""

NOTHING = object()
"""In place of an answer, where its shape is there without one."""

_BRACKETS = re.compile(r"\[\[([^\[\]\n]*)\]\]")


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An answer in its place. It is text, or whatever a field of JSON holds."""

    answer: Any
    start: int
    """Where its shape begins in the text."""
    fields: Mapping[str, Any] | None = None
    """The JSON object that it is a field of."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Finds answers, each with its own end mark or without one."""

    name: str
    """What it looks like, in words."""
    find: Callable[[str], Iterator[FoundAnswer]]
    occurrence: Occurrence = "only"
    closed: bool = True
    """Whether it shows where it ends, so that nothing that follows can belong to it."""
    field: str = ""
    """The field of the JSON that holds the answer; empty for any other shape."""
    longest: int | None = None
    """Characters of the longest text that it is looked for in; None for any."""


def shape_of(spec: AnswerSpec) -> Shape | None:
    """Returns the shape that answers are looked for in; None for the default one, in which a text is the answer."""
    occurrence = spec.occurrence
    if spec.pattern is not None:
        found = AnswerPattern(spec.pattern).found
        name = "the answer pattern"
        # What a pattern finds is never known to be all that it would have found.
        return Shape(name, lambda text: _matched(found, text), occurrence, closed=False, longest=LONGEST_TEXT)
    if spec.field is not None:
        path = spec.field.split(".")
        name = f"JSON with the field {spec.field!r}"
        return Shape(name, lambda text: _fields(text, path), occurrence, field=spec.field)
    if spec.tag is not None:
        tag = spec.tag
        return Shape(f"<{tag}>...</{tag}>", lambda text: _tagged(text, tag), occurrence)
    if spec.brackets:
        return Shape("[[...]]", _bracketed, occurrence)
    if spec.last_line:
        return Shape("a last line", _last_line, closed=False)
    return None


def object_in(stripped: str) -> Mapping[str, Any] | None:
    """Returns the JSON object that a text is, perhaps in a code block; None if it is anything else."""
    try:
        found = json.loads(unfenced(stripped), object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def json_objects(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yields the JSON objects in a text that are inside no other braces, and where each begins. In one pass."""
    depth, start, quoted = 0, 0, False
    for match in re.finditer(r'\\.|["{}]', text, re.DOTALL):
        mark = match[0]
        if mark == '"':
            # Outside of braces, a quotation mark is one of the prose.
            quoted = not quoted and depth > 0
        elif mark == "{" and not quoted:
            start = match.start() if depth == 0 else start
            depth += 1
        elif mark == "}" and not quoted and depth > 0:
            depth -= 1
            if depth == 0 and (found := object_in(text[start : match.end()])) is not None:
                yield start, found


def _matched(found: Callable[[str], Iterator[tuple[str | None, int]]], text: str) -> Iterator[FoundAnswer]:
    return (FoundAnswer(NOTHING if answer is None else answer, start) for answer, start in found(text))


def _fields(text: str, path: list[str]) -> Iterator[FoundAnswer]:
    whole = object_in(text.strip())
    objects = json_objects(text) if whole is None else iter([(0, whole)])
    for start, found in objects:
        answer: Any = found
        for name in path:
            answer = answer.get(name, NOTHING) if isinstance(answer, dict) else NOTHING
        if answer is not NOTHING:
            yield FoundAnswer(answer, start, found)


def _tagged(text: str, tag: str) -> Iterator[FoundAnswer]:
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start)
        if end < 0:
            return
        yield FoundAnswer(text[start + len(opening) : end].strip(), start)
        start = text.find(opening, end)


def _bracketed(text: str) -> Iterator[FoundAnswer]:
    return (FoundAnswer(match[1].strip(), match.start()) for match in _BRACKETS.finditer(text))


def _last_line(text: str) -> Iterator[FoundAnswer]:
    end = text.rstrip()
    start = end.rfind("\n") + 1
    if end:
        yield FoundAnswer(end[start:].strip(EMPHASIS).removesuffix(".").strip(EMPHASIS), start)
