"""How an answer is read: what the user writes about it, and the shapes in which it stands in a text.

Patterns come with studies and runs, so no pattern may take long to match. They are matched by RE2, in time proportional
to the text. A limit in seconds would read an answer differently on a busy machine.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.text.json_texts import unfenced, without_doubles

Occurrence = Literal["only", "first", "last"]
"""Which of several answers in one text counts."""

GROUP = "answer"

LONGEST_PATTERN = 1_000
"""Characters of a pattern."""

LONGEST_TEXT = 200_000
"""Characters of an answer that a pattern is matched against; in a longer one, nothing is found."""

SIZE = 1 << 16
"""Bytes of a compiled pattern. What one character takes is at most proportional to this."""


class AnswerPattern:
    """A compiled pattern with a group named answer. Raises ValueError for what RE2 does not know."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > LONGEST_PATTERN:
            raise ValueError(f"the pattern has {len(pattern):,} characters; the limit is {LONGEST_PATTERN:,}")
        self._compiled = _compiled(pattern)
        if GROUP not in self._compiled.groupindex:
            raise ValueError("the pattern needs a group named answer: (?P<answer>1|2|tie)")

    def found(self, text: str) -> Iterator[tuple[str | None, int]]:
        """Yields the answers that are found, and where each match begins.

        None is a match in which the group takes no part.
        """
        # As in Python, $ also matches before a line end at the very end.
        text = text.removesuffix("\n")
        # A text is encoded to be matched, and half of a surrogate pair cannot be.
        text = text.encode("utf-8", "replace").decode("utf-8")
        return ((match[GROUP], match.start()) for match in self._compiled.finditer(text))


def _compiled(pattern: str) -> Any:  # noqa: ANN401  # the package has no types
    import re2

    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a valid regular expression: {error}") from None
    try:
        if not hasattr(re2, "Options"):
            # Python 3.15 has another package for the same engine. What the engine refuses, it would leave to `re`, and
            # its \d and \w would be those of Unicode.
            re2.set_fallback_notification(re2.FALLBACK_EXCEPTION)
            return re2.compile(pattern, re2.ASCII, max_mem=SIZE)
        options = re2.Options()
        options.max_mem, options.log_errors = SIZE, False
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise ValueError(
            "not a valid RE2 regular expression (lookarounds, backreferences and large counts are not supported): "
            f"{why}"
        ) from None


class AnswerSpec(BaseModel):
    """How an answer is read. The default is JSON of the schema, or a bare label; at most one shape replaces it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    labels: dict[str, str] = Field(
        default={},
        description="Map the judge's own words to labels of the scale: {A: '1', B: '2', C: tie, N/A: abstain}. If you "
        "map only abstain, the labels of the scale stay unchanged.",
    )
    pattern: str | None = Field(
        default=None, description="Find the answer with a regular expression (RE2) with a group named answer."
    )
    field: str | None = Field(
        default=None,
        pattern=r"^[^.\s]+(\.[^.\s]+)*$",
        description="Find the answer in this field of a JSON object, such as winner or result.score; other fields are "
        "ignored.",
    )
    tag: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][\w.-]*$",
        description="Find the answer in <verdict>...</verdict>, for tag: verdict.",
    )
    brackets: bool = Field(default=False, description="Find the answer in double brackets, such as [[A]].")
    last_line: bool = Field(default=False, description="Find the answer in the last line that is not blank.")
    occurrence: Occurrence = Field(
        default="only",
        description="Which match counts if there are several. only: all matches must agree.",
    )
    reasoning: bool | str = Field(
        default=False,
        description="true, or a name: the JSON field with the reasoning. It comes first in the schema.",
    )
    constrained: bool | None = Field(
        default=None,
        description="Send the JSON Schema so that the server enforces it. Default: only if the answer has no other "
        "format. Apart from the default format, only field can be enforced.",
    )

    @field_validator("labels", mode="before")
    @classmethod
    def _spelled(cls, labels: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        """A judge that answers true or false is written so in a study file, where they are no text."""
        if not isinstance(labels, dict):
            return labels
        return {str(word).lower() if isinstance(word, bool) else word: label for word, label in labels.items()}

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            AnswerPattern(pattern)
        return pattern

    @model_validator(mode="after")
    def _one_shape(self) -> "AnswerSpec":
        shapes = self._shapes()
        if len(shapes) > 1:
            raise ValueError(f"choose one answer format: remove {' or '.join(shapes)}")
        if self.occurrence != "only" and shapes in ([], ["last_line"]):
            raise ValueError("occurrence requires pattern, field, tag or brackets")
        if isinstance(self.reasoning, str):
            if not self.reasoning.strip() or "." in self.reasoning:
                raise ValueError("reasoning must be true or the name of a JSON field")
            if self.reasoning == self.field:
                raise ValueError("the reasoning and the answer are in the same field")
        if self.reasoning and shapes not in ([], ["field"]):
            raise ValueError(f"reasoning names a JSON field, but the answer is read by {shapes[0]}: remove one of them")
        return self

    def _shapes(self) -> list[str]:
        return [name for name in ("pattern", "field", "tag", "brackets", "last_line") if getattr(self, name)]

    @property
    def shape(self) -> str:
        """The name of the shape that is set; empty for the default one."""
        return next(iter(self._shapes()), "")

    @property
    def sends_schema(self) -> bool:
        """Whether the schema is sent: free text cannot be held to one, and a prompt's own JSON has fields besides."""
        if self.shape == "field":
            return self.constrained is True
        return not self.shape and self.constrained is not False

    @property
    def reasoning_field(self) -> str:
        """The field of the JSON that holds the reasoning; empty if none is asked for."""
        return self.reasoning if isinstance(self.reasoning, str) else "reasoning" if self.reasoning else ""


# The shapes that an answer has in a text: where it stands, and what stands before it.

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
