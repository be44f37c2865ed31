"""Coherence: what a program can see of whether a rewritten transcript still hangs together.

A value is a number, an id or a quoted phrase. If an edit takes a value out of the message that introduced it, whatever
later message still has it depended on the edit.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from umpirical.domain.policies import figures_in
from umpirical.domain.stimuli import CheckResult
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.stimuli.transcripts.rewriting.edits import Edit, edits_between

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
    return (
        _check("only planned messages", _numbers(others), "no other", passed=not others),
        _check("sound transcript", "; ".join(problems) or "no problem", "no problem", passed=not problems),
        _check("words fit calls", "; ".join(contrary) or "they fit", "they fit", passed=not contrary),
        _check("nothing outdated", _left(left), "nothing", passed=not left),
    )


def contradictions(edit: Edit) -> Iterator[str]:
    """Yields where a message now says one thing and calls another, although they had the value in common."""
    said = values_in(f"{edit.before.text}\n{edit.before.reasoning}")
    says = values_in(f"{edit.after.text}\n{edit.after.reasoning}")
    gained = says.lost(said)
    for before, after in _calls(edit):
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
    for before, after in _calls(edit):
        if message.answers != after.id:
            continue
        if message.tool and message.tool != after.tool:
            yield before.tool
        yield from values_in(before.arguments).lost(values_in(after.arguments)).shared(_values(message))


def _calls(edit: Edit) -> Iterator[tuple[ToolCall, ToolCall]]:
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


def _left(left: Mapping[int, tuple[str, ...]]) -> str:
    return "; ".join(f"message {number} still has {', '.join(values)}" for number, values in left.items()) or "nothing"
