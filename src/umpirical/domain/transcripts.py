"""Transcripts: what an agent was told, said, called and was answered, message by message."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, cast, get_args

from umpirical.domain.digests import Json, digest

Role = Literal["system", "user", "assistant", "tool"]

ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the agent made."""

    id: str
    tool: str
    arguments: str
    """JSON, in one form whatever its source; as the agent wrote it where that is not a JSON object."""

    def __post_init__(self) -> None:
        if self.named is not None:
            object.__setattr__(self, "arguments", json.dumps(self.named, ensure_ascii=False))

    @property
    def named(self) -> dict[str, Any] | None:
        """The arguments by name; None if the agent wrote no JSON object."""
        try:
            found = json.loads(self.arguments, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a transcript."""

    role: Role
    text: str = ""
    reasoning: str = ""
    """What the agent thought before it spoke or called, if that was recorded."""
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    """Id of the call that a tool's message answers."""
    tool: str = ""
    """The tool whose message it is."""
    error: str = ""
    """What a tool reported in place of a result."""
    attachments: tuple[str, ...] = ()
    """What is not text, described: kind, size and digest."""

    def as_json(self) -> dict[str, Json]:
        """Returns the message as judges and reviewers are shown it, without its empty fields."""
        written: dict[str, Json] = {
            "role": self.role,
            "name": self.tool,
            "tool_call_id": self.answers,
            "reasoning": self.reasoning,
            "content": self.text,
            "error": self.error,
            "attachments": list(self.attachments),
            "tool_calls": [
                {
                    "id": call.id,
                    "function": call.tool,
                    "arguments": call.arguments if call.named is None else call.named,
                }
                for call in self.calls
            ],
        }
        return {name: value for name, value in written.items() if value or name == "role"}


@dataclass(frozen=True)
class Transcript:
    """The messages of one run of an agent, and what is known about it."""

    messages: tuple[Message, ...]
    name: str = ""
    """The user's name for it: a sample's id, or else the file and the row."""
    strata: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The values by which the user wants results to be split."""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What else is known and may be shown, such as a rubric of its own."""

    @cached_property
    def id(self) -> str:
        return digest("transcript", {"text": self.text, "name": self.name, "strata": dict(self.strata)})

    @cached_property
    def text(self) -> str:
        """The transcript as a judge reads it: a JSON list, one message to a line."""
        return "[\n" + ",\n".join(map(_line, self.messages)) + "\n]"

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """The tools that were called, in the order of their first calls."""
        return tuple(dict.fromkeys(call.tool for message in self.messages for call in message.calls))

    def problems(self) -> Iterator[str]:
        """Yields what makes it no transcript that an agent can have had.

        A call at the very end may be without an answer: a transcript may be cut off.
        """
        waiting: dict[str, str] = {}
        seen: set[str] = set()
        if not self.messages:
            yield "it has no messages"
        for number, message in enumerate(self.messages, 1):
            if message.role == "tool":
                if waiting.pop(message.answers, None) is None:
                    yield f"message {number} answers a tool call that does not exist or was answered before"
                continue
            if waiting:
                yield f"message {number} comes before the answer to {', '.join(waiting.values())}"
                waiting = {}
            if message.calls and message.role != "assistant":
                yield f"message {number} calls a tool, but its role is {message.role}"
            for call in message.calls:
                if call.id in seen:
                    yield f"message {number} repeats the call id {call.id!r}"
                if call.named is None:
                    yield f"message {number} calls {call.tool} with arguments that are not a JSON object"
                seen.add(call.id)
                waiting[call.id] = call.tool


def transcript_from_text(text: str) -> Transcript:
    """Returns the transcript whose text this is. Raises ValueError if it is none."""
    try:
        found = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("the messages are nested too deeply") from None
    if not isinstance(found, list) or not all(isinstance(message, dict) for message in found):
        raise ValueError("a transcript is a list of messages")
    return Transcript(tuple(_message(message) for message in found))


# The versions of a transcript share nearly all of their messages.
@lru_cache(maxsize=4096)
def _line(message: Message) -> str:
    return json.dumps(message.as_json(), ensure_ascii=False)


def _message(found: Mapping[str, Any]) -> Message:
    role = found.get("role")
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}")
    return Message(
        cast("Role", role),
        text=_word(found, "content"),
        reasoning=_word(found, "reasoning"),
        calls=tuple(_call(call) for call in found.get("tool_calls", ())),
        answers=_word(found, "tool_call_id"),
        tool=_word(found, "name"),
        error=_word(found, "error"),
        attachments=tuple(str(each) for each in found.get("attachments", ())),
    )


def _call(found: Mapping[str, Any]) -> ToolCall:
    arguments = found.get("arguments", "")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(_word(found, "id"), _word(found, "function"), written)


def _word(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")  # noqa: TRY004  # of a file, like the others
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")
