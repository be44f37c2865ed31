"""Messages in the form of OpenAI's chat API, as most programs write them, and in our own."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from umpirical.datasets.transcripts.sources import (
    NamedValues,
    TranscriptSource,
    described,
    described_data,
    documents,
    with_call_ids,
)
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Message, Role, ToolCall, Transcript

ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""What programs call the roles."""

_READ = {
    "role", "content", "refusal", "reasoning", "reasoning_content", "tool_calls", "function_call", "tool_call_id",
    "name", "error", "attachments",
}  # fmt: skip

_OTHER_API = ("tool_use", "tool_result", "function_call", "function_call_output")


def chat_messages(found: object) -> tuple[tuple[Message, ...], set[str]]:
    """Returns the messages, and which of their fields were not read. Raises ValueError for what is no such message."""
    if not isinstance(found, list):
        raise ValueError("expected a list of messages")  # noqa: TRY004  # of a file, like the others
    messages, unread = [], set[str]()
    for number, message in enumerate(found, 1):
        if not isinstance(message, Mapping):
            raise ValueError(f"message {number} is not an object")  # noqa: TRY004
        try:
            messages.append(_message(message))
        except ValueError as error:
            raise ValueError(f"message {number}: {error}") from None
        unread |= {name for name, value in message.items() if name not in _READ and value not in (None, "", [], {})}
    return with_call_ids(messages), unread


def _message(found: Mapping[str, Any]) -> Message:
    role = found.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise ValueError(f"unknown role {role!r:.40}; choose one of: {', '.join(ROLES)}")
    text, attachments, thought = _content(found.get("content"))
    reasoning = [_text(found, name) for name in ("reasoning", "reasoning_content")]
    is_tool = ROLES[role] == "tool"
    return Message(
        ROLES[role],
        # A refusal stands where the content would.
        text=text or _text(found, "refusal"),
        # Some servers write the same thoughts under both names.
        reasoning="\n".join(dict.fromkeys(each for each in (*reasoning, thought) if each)),
        calls=tuple(_calls(found)),
        answers=_text(found, "tool_call_id") if is_tool else "",
        tool=_text(found, "name") if is_tool else "",
        error=_text(found, "error"),
        attachments=(*attachments, *_attachments(found)),
    )


def _content(content: object) -> tuple[str, list[str], str]:
    if content is None or isinstance(content, str):
        return content or "", [], ""
    if not isinstance(content, list):
        return written(content), [], ""
    texts: list[str] = []
    attachments: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
            continue
        if not isinstance(part, Mapping):
            raise ValueError("a part of the content is neither text nor an object")  # noqa: TRY004
        kind = part.get("type")
        if kind in _OTHER_API:
            raise ValueError(f"a part of type {kind!r} belongs to another API: write calls as tool_calls")
        if kind in ("text", "input_text", "output_text", "refusal"):
            texts.append(_text(part, "refusal" if kind == "refusal" else "text"))
        elif kind in ("reasoning", "thinking"):
            thoughts.append(_text(part, "reasoning") or _text(part, "thinking") or _text(part, "text"))
        else:
            attachments.append(_attachment(part, str(kind)))
    return "\n".join(texts), attachments, "\n".join(thoughts)


def _attachment(part: Mapping[str, Any], kind: str) -> str:
    """Describes a part that is no text: by where it is, by its data, or as a whole."""
    inner = part.get(kind)
    address = inner.get("url") if isinstance(inner, Mapping) else inner
    word = kind.removeprefix("input_").removesuffix("_url")[:40]
    if isinstance(address, str):
        return described(word, address)
    if isinstance(inner, Mapping) and isinstance(data := inner.get("data") or inner.get("file_data"), str):
        return described(word, data) if data.startswith("data:") else described_data(word, data, is_base64=True)
    return described_data(word, dict(part))


def _attachments(found: Mapping[str, Any]) -> Iterator[str]:
    """Yields what our own form says of attachments."""
    given = found.get("attachments")
    for each in given if isinstance(given, list) else ():
        yield each if isinstance(each, str) else described_data("attachment", each)


def _calls(found: Mapping[str, Any]) -> Iterator[ToolCall]:
    calls = found.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise ValueError("tool_calls must be a list")
    for call in calls or ():
        if not isinstance(call, Mapping):
            raise ValueError("a tool call must be an object")  # noqa: TRY004
        yield _call(call)
    if isinstance(old := found.get("function_call"), Mapping):
        yield _call({"function": old})


def _call(call: Mapping[str, Any]) -> ToolCall:
    """Name and arguments are in an object of their own (`function`, `custom`), or beside the id."""
    inner = next((call[name] for name in ("function", "custom") if isinstance(call.get(name), Mapping)), call)
    name = next((inner[key] for key in ("name", "function") if isinstance(inner.get(key), str)), "")
    if not name:
        raise ValueError("a tool call has no tool name")
    arguments = inner.get("arguments", inner.get("input"))
    return ToolCall(_text(call, "id"), name, "{}" if arguments in (None, "") else written(arguments))


def written(value: object) -> str:
    """Returns a value as text: as JSON if it is no text yet."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return "" if value is None else written(value)


# JSON Lines of chat messages: each line a list of messages, or an object that has them.

SHOWN = 12
"""Fields that a note lists."""


def read_messages(source: TranscriptSource, note: Callable[[str], None]) -> Iterator[Transcript]:
    """Strata and columns are keys of the object, or of its `metadata`. A `.json` file is one transcript."""
    values, unread, count = NamedValues(source), Counter[str](), 0
    for place, found in documents(source):
        count += 1
        record: Mapping[str, Any] = found if isinstance(found, Mapping) else {"messages": found}
        if "messages" not in record:
            fix = "write one list of messages per line, or an object with `messages`"
            raise ConfigError("`messages` is missing", where=place, fix=fix)
        try:
            messages, fields = chat_messages(record["messages"])
        except ValueError as error:
            fix = "write messages in the OpenAI chat format"
            raise ConfigError(str(error), where=place, fix=fix) from None
        unread.update(fields)
        strata, columns = values.of(_known(record), place)
        name = record.get("id")
        if messages:
            yield Transcript(messages, place if name in (None, "") else written(name), strata, columns)
        else:
            note(f"{place}: no messages; excluded")
    if count:
        values.check()
    if unread:
        listed = ", ".join(f"{name[:60]} ({number:,})" for name, number in unread.most_common(SHOWN))
        note(f"unused message fields, with the number of transcripts that have them: {listed}")


def _known(record: Mapping[str, Any]) -> dict[str, Any]:
    metadata = record.get("metadata")
    return {**(metadata if isinstance(metadata, Mapping) else {}), **record}
