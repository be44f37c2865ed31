"""Inspect's messages as messages of a transcript."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from umpirical.datasets.transcripts.attachments import described, described_data
from umpirical.domain.transcripts import Message, ToolCall

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Content


def messages_of(found: "ChatMessage") -> Iterator[Message]:
    """Yields a message. A tool that the model's provider ran in the middle of it is a call and an answer of its own."""
    empty = message = Message(found.role)
    parts = [] if isinstance(found.content, str) else found.content
    for part in parts:
        if part.type == "tool_use":
            yield replace(message, calls=(ToolCall(part.id, part.name, part.arguments),))
            yield Message("tool", part.result, answers=part.id, tool=part.name, error=part.error or "")
            message = empty
        else:
            message = _with(message, part)
    if isinstance(found.content, str):
        message = replace(message, text=found.content)
    message = _completed(message, found)
    # After a tool of the provider's there may be nothing left to say.
    if message != empty or not any(part.type == "tool_use" for part in parts):
        yield message


def _completed(message: Message, found: "ChatMessage") -> Message:
    if found.role == "assistant":
        calls = (ToolCall(call.id, call.function, _json(call.arguments)) for call in found.tool_calls or ())
        return replace(message, calls=tuple(calls))
    if found.role == "tool":
        error = "" if found.error is None else f"{found.error.type}: {found.error.message}"
        return replace(message, answers=found.tool_call_id or "", tool=found.function or "", error=error)
    return message


def _with(message: Message, part: "Content") -> Message:
    if part.type == "text":
        return replace(message, text=_joined(message.text, part.text))
    if part.type == "reasoning" and (thought := part.summary if part.redacted else part.reasoning):
        return replace(message, reasoning=_joined(message.reasoning, thought))
    return replace(message, attachments=(*message.attachments, _description(part)))


def _description(part: "Content") -> str:
    match part.type:
        case "image":
            return described("image", part.image)
        case "audio":
            return described("audio", part.audio)
        case "video":
            return described("video", part.video)
        case "document":
            return described("document", part.document)
        case "reasoning":
            # What a provider has redacted is encrypted, and only a summary could be read.
            return described_data("redacted reasoning", part.reasoning)
        case _:
            return described_data(part.type, part.model_dump(exclude={"internal"}))


def _joined(before: str, after: str) -> str:
    return f"{before}\n{after}" if before and after else before or after


def _json(value: Any) -> str:  # noqa: ANN401  # a call's arguments
    return json.dumps(value, ensure_ascii=False)
