"""What a workplace is: a desk with tools that work on its data, and the cases that an agent is given there.

The agent's side of a case is a generator. It yields what the agent says and calls, and is sent what came back: the
tools' results, or the user's reply. So what it does next depends on what the tools have really returned.
"""

import json
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from inspect_ai.tool import ToolDef


@dataclass(frozen=True)
class Call:
    """A call of a tool."""

    tool: str
    arguments: dict[str, Any]


Turn = str | Call | tuple[str | Call, ...]
"""What the agent says, what it calls, or words and then calls. Words alone are for the user."""

Script = Generator[Turn, Any, None]
"""Is sent the result of a call, the list of results if there were several, or the user's reply."""


@dataclass(frozen=True)
class Case:
    """What one user wants, and how the agent goes about it."""

    name: str
    request: str
    script: Callable[[], Script]
    replies: tuple[str, ...] = ()
    """What the user says, each time that the agent asks."""


@dataclass(frozen=True)
class Workplace:
    """A category of cases with the same tools."""

    name: str
    system: str
    desk: Callable[[], object]
    """Returns the data as they are in the morning; the public methods are the tools."""
    cases: tuple[Case, ...]

    def tools(self) -> list[ToolDef]:
        desk = self.desk()
        return [ToolDef(_function(getattr(desk, name))) for name in vars(type(desk)) if not name.startswith("_")]


def call(tool: str, **arguments: Any) -> Call:  # noqa: ANN401  # as the tool takes them
    return Call(tool, arguments)


def result(**fields: object) -> str:
    """Returns a tool's result."""
    return json.dumps(fields, ensure_ascii=False)


def next_turn(case: Case, messages: Sequence[dict[str, Any]]) -> tuple[str, list[Call]]:
    """Returns what the agent says and calls next in a conversation, given in the form of the chat protocol."""
    script = case.script()
    turn = next(script)
    for heard in _heard(messages):
        turn = script.send(heard)
    parts = turn if isinstance(turn, tuple) else (turn,)
    said = " ".join(part for part in parts if isinstance(part, str))
    return said, [part for part in parts if isinstance(part, Call)]


def _function(method: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[str]]:
    """Returns a function that does what the method does: Inspect marks its tools, and a method cannot be marked."""

    @wraps(method)
    async def tool(*arguments: object, **named: object) -> str:
        return await method(*arguments, **named)

    return tool


def _heard(messages: Sequence[dict[str, Any]]) -> Iterator[Any]:
    """Yields what came back after each of the agent's messages."""
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            after = [_read(each["content"]) for each in messages[place + 1 : place + 1 + _answers(message)]]
            yield after[0] if len(after) == 1 else after


def _answers(message: dict[str, Any]) -> int:
    return len(message.get("tool_calls") or ()) or 1


def _read(content: str) -> Any:  # noqa: ANN401  # JSON
    try:
        return json.loads(content)
    except ValueError:
        return content
