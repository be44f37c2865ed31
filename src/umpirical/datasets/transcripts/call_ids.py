"""Calls and their answers, put together where a log has left out the ids."""

from collections.abc import Iterable
from dataclasses import replace

from umpirical.domain.transcripts import Message, ToolCall


def with_call_ids(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Returns the messages with an id for every call, and for every answer the call that it answers, if one waits.

    A call without an id is named by its number. An answer without one answers the first call that waits for that tool,
    or for any tool if it names none. An answer that does not name its tool gets the name from its call.
    """
    found: list[Message] = []
    waiting: list[ToolCall] = []
    count = 0
    for message in messages:
        if message.role == "tool":
            call = _answered(message, waiting)
            if call is not None:
                waiting.remove(call)
                message = replace(message, answers=call.id, tool=message.tool or call.tool)  # noqa: PLW2901
        calls: list[ToolCall] = []
        for call in message.calls:
            count += 1
            calls.append(call if call.id else replace(call, id=f"call-{count}"))
        waiting += calls
        found.append(replace(message, calls=tuple(calls)) if calls else message)
    return tuple(found)


def _answered(message: Message, waiting: list[ToolCall]) -> ToolCall | None:
    if message.answers:
        return next((call for call in waiting if call.id == message.answers), None)
    return next((call for call in waiting if message.tool in ("", call.tool)), None)
