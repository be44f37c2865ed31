"""Traces by OpenTelemetry's GenAI conventions, as OTLP JSON: what a model was told and said is on its spans."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from umpirical.datasets.transcripts.chat import ROLES, chat_messages, written
from umpirical.datasets.transcripts.sources import (
    NamedValues,
    TranscriptSource,
    described,
    described_data,
    documents,
    parsed_text,
    with_call_ids,
)
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Message, ToolCall, Transcript

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
        raise ValueError("the messages are not a list")  # noqa: TRY004  # of a file, like the others
    return [message for each in found for message in _messages(each)]


def _messages(found: object) -> Iterator[Message]:
    """Yields a message; the answers of tools that it holds are messages of their own."""
    role = found.get("role") if isinstance(found, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(role, str) or role not in ROLES:
        raise ValueError(f"unknown role {role!r:.40}; choose one of: {', '.join(ROLES)}")
    empty = message = Message(ROLES[role])
    parts = found.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, Mapping):
            raise ValueError("a part of a message is not an object")  # noqa: TRY004
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


# Spans as transcripts.

_CHATS = ("chat", "text_completion", "generate_content")
_FIX = "export the traces as OTLP JSON, with message contents included"


@dataclass(frozen=True, slots=True)
class _Turn:
    """One call of a model."""

    start: int
    told: tuple[Message, ...]
    said: tuple[Message, ...]
    choices: int
    is_chat: bool
    known: Mapping[str, object]
    """Attributes of the span, and of what it belongs to."""


@dataclass(slots=True)
class _Trace:
    name: str
    turns: list[_Turn] = field(default_factory=list)


def read_spans(source: TranscriptSource, note: Callable[[str], None]) -> Iterator[Transcript]:
    """A trace is a transcript: what its last call of a model was told, and what the model said then.

    Strata and columns are attributes of that span or of its resource.
    """
    traces: dict[str, _Trace] = {}
    silent = 0
    for place, found in documents(source):
        for known, span in _spans(found, place):
            turn = _turn(span, known, source, place)
            if turn is None:
                silent += 1
                continue
            name = str(span.get("traceId") or place)
            traces.setdefault(name, _Trace(name)).turns.append(turn)
    values = NamedValues(source)
    for trace in traces.values():
        turns = _chosen(trace.turns)
        strata, columns = values.of(turns[-1].known, f"{source.name}: {trace.name[:100]}")
        yield Transcript(_conversation(turns, trace.name, note), trace.name, strata, columns)
    if traces:
        values.check()
    elif silent:
        message = f"none of its {silent:,} spans contains messages"
        raise ConfigError(message, where=source.name, fix=_FIX)


def _spans(found: object, place: str) -> Iterator[tuple[dict[str, object], Mapping[str, Any]]]:
    """Yields each span with the attributes of its resource."""
    for resource in _objects(found, "resourceSpans", place):
        about = resource.get("resource")
        known = plain_values(about.get("attributes")) if isinstance(about, Mapping) else {}
        for scope in _objects(resource, "scopeSpans", place):
            for span in _objects(scope, "spans", place):
                yield known, span


def _objects(found: object, name: str, place: str) -> Sequence[Mapping[str, Any]]:
    inner = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(inner, list) or not all(isinstance(each, Mapping) for each in inner):
        raise ConfigError(f"{name} is not a list of objects", where=place, fix=_FIX)
    return inner


def _turn(span: Mapping[str, Any], known: Mapping[str, object], source: TranscriptSource, place: str) -> _Turn | None:
    attributes = plain_values(span.get("attributes"))
    events = [each for each in span.get("events") or () if isinstance(each, Mapping)]
    # The contents are on the span, or on an event of it.
    holders = [attributes, *(plain_values(each.get("attributes")) for each in events)]

    def read(name: str) -> Any:  # noqa: ANN401  # foreign JSON
        value = next((holder[name] for holder in holders if name in holder), None)
        return parsed_text(value, source, place) if isinstance(value, str) else value

    try:
        system = part_messages([{"role": "system", "parts": read("gen_ai.system_instructions")}])
        told, output = part_messages(read("gen_ai.input.messages")), read("gen_ai.output.messages")
        choices = len(output) if isinstance(output, list) else 1
        said = part_messages(output[:1] if isinstance(output, list) else output)
        if not told and not said:
            told, said = event_messages(events)
    except ValueError as error:
        raise ConfigError(f"span {str(span.get('spanId'))[:40]}: {error}", where=place, fix=_FIX) from None
    if not told and not said:
        return None
    return _Turn(
        _time(span.get("startTimeUnixNano")),
        (*system, *told),
        tuple(said),
        choices,
        attributes.get("gen_ai.operation.name") in _CHATS,
        {**known, **attributes},
    )


def _time(value: object) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isascii() and str(value).isdigit() else 0


def _chosen(turns: Sequence[_Turn]) -> list[_Turn]:
    """Returns the calls of a model in their order. A span around them tells the same once more."""
    chats = [turn for turn in turns if turn.is_chat]
    return sorted(chats or turns, key=lambda turn: turn.start)


def _conversation(turns: Sequence[_Turn], name: str, note: Callable[[str], None]) -> tuple[Message, ...]:
    """Returns what the last call was told and said, with the thoughts that only earlier ones have."""
    *earlier, last = turns
    messages = [*last.told, *last.said]
    apart = 0
    for turn in earlier:
        begins = [*turn.told, *turn.said]
        if list(map(_spoken, begins)) != list(map(_spoken, messages[: len(begins)])):
            apart += 1
            continue
        # Most programs do not send a model its own thoughts again.
        for place, message in enumerate(begins):
            if message.reasoning and not messages[place].reasoning:
                messages[place] = replace(messages[place], reasoning=message.reasoning)
    if last.choices > 1:
        note(f"{name}: the last call has {last.choices:,} choices; only the first is used")
    if apart:
        note(
            f"{name}: {apart:,} of {len(turns):,} model calls are excluded: they are not part of the last conversation "
            "(another agent, or before the history was shortened)"
        )
    return with_call_ids(messages)


def _spoken(message: Message) -> tuple[object, ...]:
    """Returns what tells one message from another, however it was sent."""
    calls = tuple((call.tool, call.arguments) for call in message.calls)
    return message.role, message.text.strip(), calls, message.attachments
