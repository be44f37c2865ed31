"""Edits: one message at a time, as an editor returns it; and how far the result is from its original."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz.distance import Indel

from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.stimuli.transcripts.rewriting.answers import Unusable, json_object, word
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting
from umpirical.stimuli.transcripts.rewriting.plan import Step
from umpirical.stimuli.transcripts.rewriting.questions import numbered, object_schema, question, spelled
from umpirical.text.diffs import Piece, word_diff


@dataclass(frozen=True, slots=True)
class Edit:
    """A message before and after."""

    number: int
    """Counted from 1."""
    before: Message
    after: Message

    @property
    def diff(self) -> list[Piece]:
        """The two, compared word by word, as a judge reads them."""
        return word_diff(_line(self.before), _line(self.after))


def editor_prompt(commission: Rewriting, draft: Transcript, step: Step, *, before: str) -> str:
    """Shows one message, what comes before it in full or in short, the message after it, and the change."""
    message, after = draft.messages[step.message - 1], draft.messages[step.message : step.message + 1]
    return question(
        "edit",
        {
            "before": before,
            "message": numbered([message], first=step.message),
            "after": numbered(after, first=step.message + 1) or "(The transcript ends here.)",
            "item": commission.item.shown,
            "change": step.change,
            "target": json.dumps(commission.target, ensure_ascii=False),
            "scale": commission.item.labels,
            "form": json.dumps(_form(message, step.message), ensure_ascii=False),
        },
    )


def edit_schema(message: Message, number: int) -> str:
    """JSON Schema of an edited message: the fields that it had, and the calls by their ids."""
    fields: dict[str, Any] = {"message": {"type": "integer", "enum": [number]}}
    fields |= {name: {"type": "string"} for name in _texts(message)}
    if message.calls:
        ids = {"type": "string", "enum": [call.id for call in message.calls]}
        call = object_schema({"id": ids, "function": {"type": "string"}, "arguments": {"type": "string"}})
        count = len(message.calls)
        fields["tool_calls"] = {"type": "array", "items": call, "minItems": count, "maxItems": count}
    return spelled(object_schema(fields))


def read_edit(text: str, draft: Transcript, number: int) -> Message:
    """Returns the edited message. Raises Unusable if it is none, is another message, or is as it was."""
    message, found = draft.messages[number - 1], json_object(text)
    expected = {"message", *_texts(message)} | ({"tool_calls"} if message.calls else set())
    if found.keys() != expected:
        raise Unusable(f"other fields than asked for: {', '.join(sorted(found))}"[:200])
    if found["message"] != number or isinstance(found["message"], bool):
        raise Unusable(f"another message: {found['message']!r} in place of {number}"[:200])
    texts = {name: word(found, name) for name in _texts(message)}
    edited = replace(
        message,
        text=texts["content"],
        reasoning=texts.get("reasoning", ""),
        error=texts.get("error", ""),
        calls=_calls(found.get("tool_calls", []), message.calls),
    )
    if message.role == "tool":
        edited = replace(edited, tool=_tool_of(draft, number))
    if edited == message:
        raise Unusable("a message as it was")
    if message.text.strip() and not edited.text.strip() and not edited.calls:
        raise Unusable("a message without its text")
    return edited


def replaced(draft: Transcript, number: int, message: Message) -> Transcript:
    """Returns a transcript with one message in place of another."""
    messages = (*draft.messages[: number - 1], message, *draft.messages[number:])
    return Transcript(messages, draft.name, draft.strata, draft.columns)


def edits_between(original: Transcript, changed: Transcript) -> tuple[Edit, ...]:
    """Returns every message that differs. Raises ValueError if messages were added or removed."""
    pairs = zip(original.messages, changed.messages, strict=True)
    return tuple(Edit(number, one, two) for number, (one, two) in enumerate(pairs, 1) if one != two)


def share_changed(original: Transcript, changed: Transcript) -> float:
    """Returns the share of characters that were changed: 0 if none was, 1 if nothing is left.

    Characters removed and added, message by message, over the characters of both transcripts.
    """
    far = sum(Indel.distance(_line(edit.before), _line(edit.after)) for edit in edits_between(original, changed))
    return far / sum(len(_line(message)) for each in (original, changed) for message in each.messages)


def _line(message: Message) -> str:
    return json.dumps(message.as_json(), ensure_ascii=False)


def _texts(message: Message) -> tuple[str, ...]:
    """Returns the names of the texts that an editor writes: what a message did not have, it does not get."""
    had = {"reasoning": message.reasoning, "error": message.error}
    return "content", *(name for name, text in had.items() if text)


def _form(message: Message, number: int) -> dict[str, Any]:
    form: dict[str, Any] = {"message": number} | dict.fromkeys(_texts(message), "...")
    if message.calls:
        calls = message.calls
        form["tool_calls"] = [{"id": call.id, "function": call.tool, "arguments": call.arguments} for call in calls]
    return form


def _calls(found: Any, before: Sequence[ToolCall]) -> tuple[ToolCall, ...]:  # noqa: ANN401  # an editor may write anything
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Unusable("no list of tool calls")
    calls = tuple(_read_calls(found))
    if [call.id for call in calls] != [call.id for call in before]:
        raise Unusable("other tool calls: none may be added, removed or renamed")
    if broken := next((call for call in calls if call.named is None), None):
        raise Unusable(f"arguments that are no JSON object: {broken.arguments[:60]!r}")
    return calls


def _read_calls(found: Sequence[Mapping[str, Any]]) -> Iterator[ToolCall]:
    for each in found:
        arguments = each.get("arguments")
        if isinstance(arguments, dict):
            each = {**each, "arguments": json.dumps(arguments, ensure_ascii=False)}  # noqa: PLW2901  # as it was asked for
        yield ToolCall(word(each, "id"), word(each, "function"), word(each, "arguments"))


def _tool_of(draft: Transcript, number: int) -> str:
    """Returns the tool that was called, as it now stands, for a message that answers the call."""
    message = draft.messages[number - 1]
    called = [call.tool for each in draft.messages[: number - 1] for call in each.calls if call.id == message.answers]
    return called[-1] if called and message.tool else message.tool
