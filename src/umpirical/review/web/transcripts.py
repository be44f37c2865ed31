"""Agent transcripts: texts that are JSON lists of messages, compared and edited message by message.

Messages stay the objects that the text holds. `umpirical.domain.transcripts` has one form for all of them, and here
every field, role and spelling has to come back as it was. What a message of the domain may hold is shown.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from umpirical.review.web.requests import from_editor

STYLES: tuple[dict[str, Any], ...] = tuple(
    {"ensure_ascii": ascii_only, "indent": indent, "separators": separators}
    for ascii_only in (False, True)
    for indent, separators in ((None, None), (None, (",", ":")), (2, None), (4, None), (1, None))
)
"""How a transcript may be formatted; an edited one is formatted like the one it was made from."""

DEEPEST = 100
"""How deep lists and objects may be nested: no message is deeper, and Python reads deeper JSON than it can write."""

SPOKEN = ("reasoning", "content", "error", "attachments")
"""Fields of a message that are shown, in this order. Calls come after them."""


class InvalidEdit(ValueError):
    """What was typed is not valid in the place where it was typed."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message: something that it says, or the arguments of one call."""

    name: str
    """Where it is in the message: `content`, `reasoning`, …, or `call0`, `call1`, …"""
    title: str
    """Name of the tool that is called, or of the field; empty for plain content."""
    text: str
    is_json: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A message of the changed transcript and the one it replaces; either may be missing."""

    number: int | None
    """Its position in the changed transcript, from 0; None for a message that was removed."""
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def kind(self) -> Literal["same", "changed", "added", "removed"]:
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        # Compared as JSON, because 1 and true are equal in Python.
        return "same" if _written(self.before) == _written(self.after) else "changed"

    @property
    def message(self) -> dict[str, Any]:
        return (self.before if self.after is None else self.after) or {}

    @property
    def title(self) -> str:
        """The role, with the name of the tool if it is a tool's answer."""
        name = self.message.get("name") or self.message.get("function")
        return f"{self.message['role']} {name}" if isinstance(name, str) else str(self.message["role"])


def read_transcript(text: str) -> list[dict[str, Any]] | None:
    """The messages of a transcript; None if the text is not one."""
    if not text.lstrip().startswith("["):
        return None
    try:
        found = _loads(text)
    except (ValueError, RecursionError):
        return None
    is_transcript = isinstance(found, list) and found and all(_is_message(each) for each in found)
    return found if is_transcript else None


def pair_messages(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[Card]:
    """Every message of both transcripts, in order. Between equal messages, removed and added ones are paired up."""
    from rapidfuzz.distance import Indel

    one, two = [_written(each) for each in before], [_written(each) for each in after]
    cards: list[Card] = []
    gone: list[dict[str, Any]] = []
    new: list[int] = []
    for step in Indel.opcodes(one, two):
        if step.tag != "equal":
            gone += before[step.src_start : step.src_end]
            new += range(step.dest_start, step.dest_end)
            continue
        cards += _paired(gone, new, after)
        gone, new = [], []
        pairs = zip(before[step.src_start : step.src_end], range(step.dest_start, step.dest_end), strict=True)
        cards += [Card(place, message, after[place]) for message, place in pairs]
    return [*cards, *_paired(gone, new, after)]


def parts_of(message: dict[str, Any]) -> Iterator[Part]:
    """The parts of a message: what it says, and the arguments of each of its calls."""
    for name in SPOKEN:
        value = message.get(name)
        if isinstance(value, str):
            yield Part(name, "" if name == "content" else name, value, is_json=False)
        elif value is not None:
            yield Part(name, name, _pretty(value), is_json=True)
    for place, call in enumerate(_calls(message)):
        holder = _holder(call)
        if "arguments" in holder:
            yield Part(f"call{place}", _called(call), _arguments(holder["arguments"]), is_json=True)


def whole(message: dict[str, Any]) -> str:
    """The whole message."""
    return _pretty(message)


def rest_of(message: dict[str, Any]) -> str:
    """The message without what its parts show, so that no change goes unnoticed."""
    copy = json.loads(json.dumps(message))
    for name in SPOKEN:
        copy.pop(name, None)
    for call in _calls(copy):
        _holder(call).pop("arguments", None)
    return _pretty(copy)


def edited(text: str, fields: Mapping[str, str]) -> str:
    """The transcript with the edits typed in `fields`, such as `m0.content`; the same text if nothing was changed.

    Raises InvalidEdit where JSON is required and something else was typed.
    """
    messages = read_transcript(text)
    if messages is None:
        raise InvalidEdit("the text is not a transcript")
    is_changed = False
    for number, message in enumerate(messages):
        for part in list(parts_of(message)):
            typed = fields.get(f"m{number}.{part.name}")
            if typed is None or from_editor(typed) == part.text:
                continue
            _put(message, part, from_editor(typed), where=f"Message {number + 1}")
            is_changed = True
    return json.dumps(messages, **_style(text)) if is_changed else text


def _put(message: dict[str, Any], part: Part, typed: str, *, where: str) -> None:
    if not part.is_json:
        message[part.name] = typed
        return
    try:
        value = _loads(typed)
    except RecursionError:
        raise InvalidEdit(f"{where}, {part.title}: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise InvalidEdit(f"{where}, {part.title}: this is not valid JSON ({error}).") from None
    if part.name in SPOKEN:
        message[part.name] = value
        return
    holder = _holder(_calls(message)[int(part.name.removeprefix("call"))])
    holder["arguments"] = typed if isinstance(holder["arguments"], str) else value


def _is_message(found: object) -> bool:
    return isinstance(found, dict) and isinstance(found.get("role"), str)


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _holder(call: dict[str, Any]) -> dict[str, Any]:
    """Where the arguments are: some servers nest them with the function's name, others do not."""
    nested = call.get("function")
    return nested if isinstance(nested, dict) else call


def _called(call: dict[str, Any]) -> str:
    holder = _holder(call)
    name = holder.get("name") or holder.get("function")
    return name if isinstance(name, str) else "a tool"


def _arguments(arguments: object) -> str:
    """The arguments as formatted JSON; a string that is not JSON stays as it is."""
    if not isinstance(arguments, str):
        return _pretty(arguments)
    try:
        return _pretty(_loads(arguments))
    except (ValueError, RecursionError):
        return arguments


def _paired(gone: list[dict[str, Any]], new: list[int], after: list[dict[str, Any]]) -> Iterator[Card]:
    for place in range(max(len(gone), len(new))):
        number = new[place] if place < len(new) else None
        before = gone[place] if place < len(gone) else None
        yield Card(number, before, None if number is None else after[number])


def _style(text: str) -> dict[str, Any]:
    found = json.loads(text)
    return next((style for style in STYLES if json.dumps(found, **style) == text.strip()), STYLES[0])


def _loads(text: str) -> Any:  # noqa: ANN401  # whatever the JSON holds
    """Raises ValueError for what is not JSON, and RecursionError for what could be read but not written again."""
    found = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return found
    raise RecursionError


def _inside(value: object) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise ValueError(f"{number[:20]} is too large a number")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _written(message: dict[str, Any]) -> str:
    return json.dumps(message, sort_keys=True)
