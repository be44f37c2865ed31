"""Messages as OpenTelemetry's conventions have them: as lists of parts, or in older programs as events."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from umpirical.datasets.transcripts.attachments import described, described_data
from umpirical.datasets.transcripts.chat_messages import ROLES, chat_messages, written
from umpirical.domain.transcripts import Message, ToolCall

_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


def plain_values(found: object) -> dict[str, object]:
    """Returns attributes, which OTLP writes as a list of keys with typed values."""
    pairs = found if isinstance(found, list) else []
    return {str(pair.get("key")): _plain(pair.get("value")) for pair in pairs if isinstance(pair, Mapping)}


def _plain(value: object) -> object:
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    [(kind, inner)] = value.items()
    match kind, inner:
        case "arrayValue", Mapping():
            return [_plain(each) for each in inner.get("values") or ()]
        case "kvlistValue", Mapping():
            return plain_values(inner.get("values"))
        case "intValue", str() if len(inner) < 30 and inner.lstrip("-").isdecimal():
            return int(inner)
        case _:
            return inner


def part_messages(found: object) -> list[Message]:
    """Returns messages that are lists of parts. Raises ValueError for what is none."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise ValueError("its messages are no list")  # noqa: TRY004  # of a file, like the others
    return [message for each in found for message in _messages(each)]


def _messages(found: object) -> Iterator[Message]:
    """Yields a message; the answers of tools that it holds are messages of their own."""
    role = found.get("role") if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(role, str) or role not in ROLES:
        raise ValueError(f"the role {role!r:.40} is not known; there are: {', '.join(ROLES)}")
    empty = message = Message(ROLES[role])
    parts = found.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, Mapping):
            raise ValueError("a part of a message is no object")  # noqa: TRY004
        if part.get("type") == "tool_call_response":
            if message != empty:
                yield message
                message = empty
            response = part.get("response", part.get("result"))
            text = "" if response is None else written(response)
            yield Message("tool", text, answers=_word(part, "id"), tool=_word(part, "name"))
        else:
            message = _with(message, part)
    if message != empty:
        yield message


def _with(message: Message, part: Mapping[str, Any]) -> Message:
    match part.get("type"):
        case "text":
            return replace(message, text=_joined(message.text, _word(part, "content")))
        case "reasoning":
            return replace(message, reasoning=_joined(message.reasoning, _word(part, "content")))
        case "tool_call":
            arguments = part.get("arguments")
            text = "{}" if arguments in (None, "") else written(arguments)
            call = ToolCall(_word(part, "id"), _word(part, "name"), text)
            return replace(message, calls=(*message.calls, call))
        case kind:
            return replace(message, attachments=(*message.attachments, _description(part, str(kind)[:40])))


def _description(part: Mapping[str, Any], kind: str) -> str:
    sort = _word(part, "mime_type") or _word(part, "modality") or kind
    if kind == "blob":
        return described_data(sort[:100], part.get("content"), is_base64=True)
    address = part.get("uri") or part.get("file_id")
    return described(sort[:100], address) if isinstance(address, str) else described_data(kind, dict(part))


def event_messages(events: Sequence[Mapping[str, Any]]) -> tuple[list[Message], list[Message]]:
    """Returns what older programs wrote as events of a span: what the model was told, and its first choice."""
    told: list[object] = []
    said: list[object] = []
    for event in events:
        body = plain_values(event.get("attributes"))
        name = event.get("name")
        if name == "gen_ai.choice" and not said:
            inner = body.get("message")
            said.append({"role": "assistant", **_fields(inner if isinstance(inner, Mapping) else body)})
        elif name in _EVENTS:
            told.append({"role": _EVENTS[str(name)], **_fields(body), "tool_call_id": body.get("id")})
    return list(chat_messages(told)[0]), list(chat_messages(said)[0])


def _fields(body: Mapping[str, object]) -> dict[str, object]:
    return {name: body[name] for name in ("content", "tool_calls", "name") if name in body}


def _joined(before: str, after: str) -> str:
    return f"{before}\n{after}" if before and after else before or after


def _word(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return "" if value is None else written(value)
