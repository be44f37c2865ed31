"""Edits of a transcript: the plan, the messages written by it, and whether they still fit together."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rapidfuzz.distance import Indel

from umpirical.domain.policies import figures_in
from umpirical.domain.stimuli import CheckResult
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.stimuli.transcripts.rewriting.commissions import (
    Objective,
    Rewriting,
    Unusable,
    json_object,
    numbered,
    question,
    spelled,
    word,
)
from umpirical.text.diffs import Piece, word_diff
from umpirical.text.json_texts import object_schema

# Plans: which messages are to change and how, as a planner names them, within bounds.


EDITABLE = ("assistant", "tool")
"""The roles whose messages may change. What the user and the system said is the task."""

LONGEST_CHANGE = 2_000
"""The most characters of what is to change in a message."""

_AIMS: Mapping[Objective, str] = {
    "violate": "So the agent has to do worse in what this item asks for, and in nothing else.",
    "satisfy": "So the agent has to do better in what this item asks for, and in nothing else.",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One message that is to change."""

    message: int
    """Its number, counted from 1."""
    change: str
    """What is to change in it."""
    repair: bool = False
    """Whether a program asked for it, because the message depended on what another step changed."""


def editable(transcript: Transcript) -> tuple[int, ...]:
    """Returns the numbers of the messages that may be changed."""
    return tuple(number for number, message in enumerate(transcript.messages, 1) if message.role in EDITABLE)


def planner_prompt(commission: Rewriting) -> str:
    return question(
        "plan",
        {
            "rubric": commission.rubric.words,
            "transcript": numbered(commission.transcript.messages),
            "item": commission.item.shown,
            "target": json.dumps(commission.target, ensure_ascii=False),
            "scale": commission.item.labels,
            "aim": _AIMS[commission.objective],
            "most": str(commission.terms.most_steps),
            "numbers": ", ".join(map(str, editable(commission.transcript))),
        },
    )


def plan_schema(transcript: Transcript, *, most: int) -> str:
    step = object_schema(
        {"message": {"type": "integer", "enum": list(editable(transcript))}, "change": {"type": "string"}}
    )
    steps = {"type": "array", "items": step, "minItems": 1, "maxItems": most}
    return spelled(object_schema({"steps": steps}))


def read_plan(text: str, transcript: Transcript, *, most: int) -> tuple[Step, ...]:
    """Returns the steps, in the order of the messages. Raises Unusable for a plan that breaks a bound.

    No plan is cut to fit: one that names too much is no plan for a small change.
    """
    found = json_object(text).get("steps")
    if not isinstance(found, list):
        raise Unusable("not a list of steps")
    if not 1 <= len(found) <= most:
        raise Unusable(f"too many steps: {len(found)}; the limit is {most}" if found else "no steps")
    steps = sorted((_step(each, transcript) for each in found), key=lambda step: step.message)
    if len({step.message for step in steps}) < len(steps):
        raise Unusable("the same message twice")
    return tuple(steps)


def _step(found: Any, transcript: Transcript) -> Step:  # noqa: ANN401  # a planner may write anything
    if not isinstance(found, dict):
        raise Unusable("a step that is not an object")
    number, change = found.get("message"), word(found, "change").strip()
    if type(number) is not int or not 1 <= number <= len(transcript.messages):
        raise Unusable(f"a message that does not exist: {number!r} of {len(transcript.messages)}"[:200])
    if (role := transcript.messages[number - 1].role) not in EDITABLE:
        raise Unusable(f"a message that must not change: {number}, role {role}")
    if not 1 <= len(change) <= LONGEST_CHANGE:
        raise Unusable(
            f"a change that is too long: {len(change):,} characters" if change else "a step without a change"
        )
    return Step(number, change)


def repair(number: int, outdated: Sequence[str]) -> Step:
    """Returns the step that brings a message up to date with what was changed before it."""
    values = json.dumps(list(outdated), ensure_ascii=False)
    change = (
        "Earlier messages were changed. This one still has what they no longer say: "
        f"{values}. Change it so that it fits what now comes before it, and has none of that any more."
    )
    return Step(number, change, repair=True)


# Edits: one message at a time, as an editor returns it; and how far the result is from its original.


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
        raise Unusable(f"unexpected fields: {', '.join(sorted(found))}"[:200])
    if found["message"] != number or isinstance(found["message"], bool):
        raise Unusable(f"the wrong message: {found['message']!r} instead of {number}"[:200])
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
        raise Unusable("an unchanged message")
    if message.text.strip() and not edited.text.strip() and not edited.calls:
        raise Unusable("a message without its text")
    return edited


def replaced(draft: Transcript, number: int, message: Message) -> Transcript:
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
        raise Unusable("tool calls that are not a list")
    calls = tuple(_read_calls(found))
    if [call.id for call in calls] != [call.id for call in before]:
        raise Unusable("different tool calls: none may be added, removed or renamed")
    if broken := next((call for call in calls if call.named is None), None):
        raise Unusable(f"arguments that are not a JSON object: {broken.arguments[:60]!r}")
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


# Coherence: what a program can see of whether a rewritten transcript still hangs together.
#
# A value is a number, an id or a quoted phrase. If an edit takes a value out of the message that introduced it,
# whatever later message still has it depended on the edit.

_TOKEN = re.compile(r"[\w@.:/+-]+")
_QUOTED = re.compile(r'"([^"\n]*)"(\s*:)?|“([^”\n]*)”')

PHRASE = range(3, 101)
"""The characters of a quoted phrase that stands for something. Longer ones are passages."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a text."""

    exact: frozenset[str]
    """Numbers and ids, each a token of its own: 12 does not occur in 120."""
    phrases: frozenset[str]
    text: str = ""
    """In small letters, to look for phrases of another text, quoted or not."""

    def shared(self, other: "Values") -> frozenset[str]:
        """Returns the values that occur in another text, too."""
        return (self.exact & other.exact) | frozenset(filter(other.says, self.phrases))

    def lost(self, other: "Values") -> "Values":
        """Returns the values that do not occur in another text."""
        return Values(self.exact - other.exact, frozenset(phrase for phrase in self.phrases if not other.says(phrase)))

    def says(self, phrase: str) -> bool:
        folded = phrase.casefold()
        # Looked for twice, since nearly always it is not there, and a pattern is slow.
        return folded in self.text and re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", self.text) is not None

    def __bool__(self) -> bool:
        return bool(self.exact or self.phrases)


# A transcript's messages are compared with each other again and again.
@lru_cache(maxsize=256)
def values_in(text: str) -> Values:
    """Returns the numbers, ids and quoted phrases of a text. The names of JSON fields are no phrases."""
    exact = {found.group() for found in figures_in(text)} | set(_ids(text))
    phrases = {one or two for one, field, two in _QUOTED.findall(text) if not field}
    kept = frozenset(phrase for phrase in phrases if len(phrase) in PHRASE and phrase not in exact)
    return Values(frozenset(exact), kept, text.casefold())


def checks(original: Transcript, changed: Transcript, planned: Collection[int]) -> tuple[CheckResult, ...]:
    """Returns what was checked, in this order: which messages changed, whether the transcript is sound and fits."""
    if len(original.messages) != len(changed.messages):
        count = f"{len(changed.messages)} messages for {len(original.messages)}"
        return (_check("only planned messages", count, "the same messages", passed=False),)
    edits = edits_between(original, changed)
    others = sorted({edit.number for edit in edits} ^ set(planned))
    problems = list(changed.problems())
    contrary = [problem for edit in edits for problem in contradictions(edit)]
    left = dependents(original, changed)
    outdated = "; ".join(f"message {number} still has {', '.join(values)}" for number, values in left.items())
    return (
        _check("only planned messages", _numbers(others), "no other", passed=not others),
        _check("sound transcript", "; ".join(problems) or "no problem", "no problem", passed=not problems),
        _check("words fit calls", "; ".join(contrary) or "they fit", "they fit", passed=not contrary),
        _check("nothing outdated", outdated or "nothing", "nothing", passed=not left),
    )


def contradictions(edit: Edit) -> Iterator[str]:
    """Yields where a message now says one thing and calls another, although they had the value in common."""
    said = values_in(f"{edit.before.text}\n{edit.before.reasoning}")
    says = values_in(f"{edit.after.text}\n{edit.after.reasoning}")
    gained = says.lost(said)
    for before, after in _call_pairs(edit):
        common, has = values_in(before.arguments).shared(said), values_in(after.arguments)
        for value in sorted(common):
            called, still = _is_in(value, has), _is_in(value, says)
            if still and not called:
                yield f"message {edit.number} still says {value} and calls {after.tool} without it"
            elif called and not still and gained.lost(has):
                yield f"message {edit.number} calls {after.tool} with {value} and says something else"


def dependents(original: Transcript, changed: Transcript) -> dict[int, tuple[str, ...]]:
    """Returns the messages that still have what an earlier message no longer says, each with those values.

    A value counts if the edited message had introduced it. If it was an argument of a call, it also counts in the
    answer to that call, whoever introduced it; and so does the name of a tool that is no longer called.
    """
    found: dict[int, set[str]] = defaultdict(set)
    for edit in edits_between(original, changed):
        lost = _lost(original, edit)
        for number, message in enumerate(changed.messages[edit.number :], edit.number + 1):
            if outdated := {*lost.shared(_values(message)), *_outdated_answer(edit, message)}:
                found[number] |= outdated
    return {number: tuple(sorted(values)) for number, values in sorted(found.items())}


def _lost(original: Transcript, edit: Edit) -> Values:
    """Returns the values that a message introduced and no longer has."""
    lost = _values(edit.before).lost(_values(edit.after))
    for message in original.messages[: edit.number - 1]:
        lost = lost.lost(_values(message)) if lost else lost
    return lost


def _outdated_answer(edit: Edit, message: Message) -> Iterator[str]:
    if message.role != "tool":
        return
    for before, after in _call_pairs(edit):
        if message.answers != after.id:
            continue
        if message.tool and message.tool != after.tool:
            yield before.tool
        yield from values_in(before.arguments).lost(values_in(after.arguments)).shared(_values(message))


def _call_pairs(edit: Edit) -> Iterator[tuple[ToolCall, ToolCall]]:
    """Yields the calls that a message made before and after, as far as it made as many."""
    yield from zip(edit.before.calls, edit.after.calls, strict=False)


def _is_in(value: str, values: Values) -> bool:
    return value in values.exact or values.says(value)


def _values(message: Message) -> Values:
    parts = (message.text, message.reasoning, message.error, *(call.arguments for call in message.calls))
    return values_in("\n".join(parts))


def _ids(text: str) -> Iterator[str]:
    """Yields what names one thing: a word with digits in it, an address."""
    for token in _TOKEN.findall(text):
        bare = token.strip(".:/+-")
        if _is_id(bare):
            yield bare


def _is_id(token: str) -> bool:
    mixed = any(map(str.isdigit, token)) and not all(sign.isdigit() or sign == "." for sign in token)
    return mixed or "@" in token.strip("@") or "://" in token


def _check(name: str, found: str, allowed: str, *, passed: bool) -> CheckResult:
    return CheckResult(name, passed, found[:500], allowed)


def _numbers(numbers: Collection[int]) -> str:
    return f"planned or changed, but not both: {', '.join(map(str, numbers))}" if numbers else "no other"
