"""Cases: a transcript that keeps a policy, and the same transcript edited so that it breaks one rule of it.

Each is also shown under the policy with the opposite of that rule, where truth is the other way round. So a judge that
does not read the policy is right about half of the texts, and so is one that does not read the transcript.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Literal

from umpirical.domain.digests import digest
from umpirical.domain.measures import AS_RECORD
from umpirical.domain.policies import Closing, Figures, Forbid, Policy, Require, Rule, figures_in
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.text.quoted import Quoted

# Edits of a transcript by program: each changes what it says and nothing else, and the transcript stays sound.

Place = Literal["early", "middle", "late"]
"""Where in the transcript an edit is: in which third of its messages, or at which end."""

PLACES: tuple[Place, ...] = ("early", "middle", "late")

MOST_COPIES = 200
"""How often `lengthen` repeats a call at most."""


@dataclass(frozen=True, slots=True)
class ExampleCall:
    """A call of a tool with its result, as an agent might have made it."""

    tool: str
    arguments: str
    result: str


def insert_calls(transcript: Transcript, example: ExampleCall, place: Place, *, times: int = 1) -> Transcript | None:
    """Inserts a call and its result `times` times in one place; None if there is no such place."""
    gaps = [gap for gap, message in _gaps(transcript.messages) if message.role == "assistant"]
    if len(gaps) < len(PLACES):
        return None
    gap = {"early": gaps[0], "middle": gaps[len(gaps) // 2], "late": gaps[-1]}[place]
    added = [message for number in range(times) for message in _called(transcript, example, f"{place}/{number}")]
    return replace(transcript, messages=(*transcript.messages[:gap], *added, *transcript.messages[gap:]))


def drop_calls(transcript: Transcript, tool: str) -> tuple[Transcript, int] | None:
    """Drops every call of a tool, with its result and the message that said nothing else.

    Returns the transcript and the number of the first message that was changed; None if the tool was not called.
    """
    dropped = {call.id for message in transcript.messages for call in message.calls if call.tool == tool}
    kept: list[Message] = []
    first = None
    for number, message in enumerate(transcript.messages):
        calls = tuple(call for call in message.calls if call.id not in dropped)
        gone = message.answers in dropped if message.role == "tool" else len(calls) < len(message.calls)
        if gone and first is None:
            first = number
        if gone and (message.role == "tool" or not (calls or message.text.strip())):
            continue
        kept.append(replace(message, calls=calls) if gone else message)
    return None if first is None else (replace(transcript, messages=tuple(kept)), first)


def swap_figures(transcript: Transcript, *, most: int | None = None) -> tuple[Transcript, int, int] | None:
    """Replaces numbers in tools' results that the closing message repeats, so that no result has them any more.

    Returns the transcript, the number of the first message that was changed, and how many numbers were swapped; None if
    there is none to swap. Numbers that the user or the system named are left alone.
    """
    *before, closing = transcript.messages
    named = {
        found.group() for message in before if message.role in ("user", "system") for found in figures_in(message.text)
    }
    returned = {found.group() for message in before if message.role == "tool" for found in figures_in(message.text)}
    said = dict.fromkeys(found.group() for found in figures_in(closing.text))
    chosen = [figure for figure in said if figure in returned and figure not in named][:most]
    if not chosen:
        return None
    taken = {found.group() for message in transcript.messages for found in figures_in(message.text)}
    other: dict[str, str] = {}
    for figure in chosen:
        other[figure] = next(new for new in _other_figures(figure) if new not in taken)
        taken.add(other[figure])
    changed = [message if message.role != "tool" else _swapped(message, other) for message in before]
    first = next(number for number, message in enumerate(before) if message != changed[number])
    return replace(transcript, messages=(*changed, closing)), first, len(chosen)


def cut_ending(transcript: Transcript) -> tuple[Transcript, int] | None:
    """Cuts off what the agent said after its last tool's result, and how many messages that were; None if nothing."""
    last = max((number for number, message in enumerate(transcript.messages) if message.role == "tool"), default=None)
    if last is None or last + 1 == len(transcript.messages):
        return None
    return replace(transcript, messages=transcript.messages[: last + 1]), len(transcript.messages) - last - 1


def lengthen(transcript: Transcript, factor: float, *, but: Sequence[str] = ()) -> Transcript | None:
    """Repeats a call of the agent's own, with its result, until the transcript is `factor` times as long.

    None if there is no call to repeat, or it is too short. Tools named in `but` are left alone.
    """
    own = next(_repeatable(transcript.messages, but), None)
    if own is None:
        return None
    number, call = own
    result = transcript.messages[number + 1]
    example = ExampleCall(call.tool, call.arguments, result.text)
    # Without the brackets of the list.
    block = len(Transcript(_called(transcript, example, "0")).text) - 2
    copies = int((factor - 1) * len(transcript.text) // block) + 1
    if copies > MOST_COPIES:
        return None
    added = [message for copy in range(copies) for message in _called(transcript, example, f"again/{copy}")]
    gap = number + 2
    return replace(transcript, messages=(*transcript.messages[:gap], *added, *transcript.messages[gap:]))


def place_of(number: int, transcript: Transcript) -> Place:
    return PLACES[min(2, 3 * number // max(1, len(transcript.messages)))]


def _gaps(messages: Sequence[Message]) -> Iterator[tuple[int, Message]]:
    """Yields the places at which no call is waiting for its result, with the message that follows."""
    waiting: set[str] = set()
    for number, message in enumerate(messages):
        waiting.discard(message.answers)
        if not waiting and message.role != "tool" and number:
            yield number, message
        waiting |= {call.id for call in message.calls}


def _called(transcript: Transcript, example: ExampleCall, number: str) -> tuple[Message, Message]:
    # An id like those of others: it must not give the inserted call away, nor be one that is there.
    name = f"call_{digest('inserted call', [transcript.id, example.tool, number])[:12]}"
    call = ToolCall(name, example.tool, example.arguments)
    return Message("assistant", calls=(call,)), Message("tool", example.result, answers=name, tool=example.tool)


def _repeatable(messages: Sequence[Message], but: Sequence[str]) -> Iterator[tuple[int, ToolCall]]:
    for number, message in enumerate(messages[:-1]):
        if len(message.calls) == 1 and message.calls[0].tool not in but and messages[number + 1].role == "tool":
            yield number, message.calls[0]


def _swapped(message: Message, other: Mapping[str, str]) -> Message:
    pieces, end = [], 0
    for found in figures_in(message.text):
        pieces += [message.text[end : found.start()], other.get(found.group(), found.group())]
        end = found.end()
    return replace(message, text="".join([*pieces, message.text[end:]])) if pieces else message


def _other_figures(figure: str) -> Iterator[str]:
    """Yields other numbers of the same form: with as many digits, and the same marks between them."""
    digits = re.sub(r"\D", "", figure)
    for step in range(1, 10 ** min(len(digits), 6)):
        new = str((int(digits) + 7 * step) % 10 ** len(digits)).zfill(len(digits))
        if new[0] != "0" or digits[0] == "0":
            fresh = iter(new)
            yield re.sub(r"\d", lambda _, fresh=fresh: next(fresh), figure)  # type: ignore[misc]
    yield from (f"{figure}{digit}" for digit in range(1, 10))


# Cases.


MOST_OTHERS = 3
"""Rules of a policy besides the one that is tested."""

LONGER = 4.0
"""How many times as long a lengthened transcript is, at least."""

EDITS: Mapping[type[Rule], str] = {
    Forbid: "forbidden-call",
    Require: "missing-call",
    Figures: "wrong-figure",
    Closing: "cut-ending",
}
"""What an edit is called, by the rule that it breaks."""

ABOUT: Mapping[str, str] = {
    "forbidden-call": "A call that the policy forbids is inserted, with its result.",
    "missing-call": "Every call of a tool that the policy requires is removed, with its result.",
    "wrong-figure": "A number in a tool result is replaced, so that the closing message reports a different number.",
    "cut-ending": "Everything the agent says after its last tool call is removed.",
}

Length = Literal["as-is", "lengthened"]


@dataclass(frozen=True, slots=True)
class GivenRule:
    """A rule of the user's, with what an edit needs to break it."""

    rule: Rule
    example: ExampleCall | None = None
    """A call of the forbidden tool."""
    only: Mapping[str, str] | None = None
    """Strata of the transcripts that it is for, or `transcript` with the name of one; None for all."""

    def is_for(self, transcript: Transcript) -> bool:
        known = {"transcript": transcript.name, **transcript.strata}
        return all(known.get(name) == value for name, value in (self.only or {}).items())


@dataclass(frozen=True, slots=True)
class Case:
    """Two versions of a transcript under a policy that the first keeps and the second breaks."""

    edit: str
    tested: Rule
    policy: Policy
    original: Transcript
    edited: Transcript
    place: Place
    size: int
    """Calls inserted or dropped, numbers swapped, messages cut off."""
    length: Length = "as-is"

    @property
    def opposite(self) -> Policy:
        return self.policy.turned(self.tested)

    @property
    def crossed(self) -> bool:
        """Whether truth is the other way round under the opposite policy, for both versions."""
        return not self.opposite.holds(self.original) and self.opposite.holds(self.edited)


def cases_of(
    transcript: Transcript, rules: Sequence[GivenRule], *, edits: Sequence[str], skipped: Counter[str]
) -> Iterator[Case]:
    """Yields the cases that can be made from a transcript. `skipped` counts the rules that gave none, by reason."""
    own = [given for given in rules if given.is_for(transcript)]
    for given in own:
        tested = given.rule if given.rule.holds(transcript) else given.rule.opposite
        if type(tested) not in EDITS or edit_of(tested) not in edits:
            continue
        versions = list(_versions(transcript, tested, given.example))
        if not versions:
            skipped[f"{edit_of(tested)}: {_why_none(tested, given)}"] += 1
            continue
        policy = _policy(tested, [each.rule for each in own], versions)
        made = [Case(edit_of(tested), tested, policy, *version) for version in versions]
        sound = [case for case in made if _is_sound(case)]
        skipped[f"{edit_of(tested)}: the edit had no effect"] += len(made) - len(sound)
        yield from sound


def edit_of(rule: Rule) -> str:
    return EDITS[type(rule)]


def derived_rules(transcript: Transcript, others: Sequence[Transcript]) -> list[GivenRule]:
    """Returns rules for a transcript that came with none: two on tools, and those that need no tool.

    One tool is the last that it called for the first time. The other, which it did not call, is one that another
    transcript did, of the same agent if it can be.
    """
    own = transcript.tools
    useful = [other for other in others if not set(other.tools) <= set(own)]
    kin = (other for other in useful if not set(own).isdisjoint(other.tools))
    calls = (call for other in chain(kin, useful) for call in _answered(other) if call.tool not in own)
    found = [GivenRule(Require(own[-1]))] if own else []
    if (call := next(calls, None)) is not None:
        found.append(GivenRule(Forbid(call.tool), call))
    return [*found, GivenRule(Figures()), GivenRule(Closing())]


def _answered(transcript: Transcript) -> Iterator[ExampleCall]:
    """Yields the calls that were answered without an error."""
    results = {message.answers: message for message in transcript.messages if message.role == "tool"}
    for message in transcript.messages:
        for call in message.calls:
            if call.named is not None and call.id in results and not results[call.id].error:
                yield ExampleCall(call.tool, call.arguments, results[call.id].text)


_Version = tuple[Transcript, Transcript, Place, int, Length]


def _versions(transcript: Transcript, tested: Rule, example: ExampleCall | None) -> Iterator[_Version]:
    match tested:
        case Forbid() if example is not None:
            yield from _with_calls(transcript, example)
        case Require(tool=tool):
            if (dropped := drop_calls(transcript, tool)) is not None:
                size = sum(call.tool == tool for message in transcript.messages for call in message.calls)
                yield transcript, dropped[0], place_of(dropped[1], transcript), size, "as-is"
        case Figures():
            yield from _with_other_figures(transcript)
        case Closing():
            if (cut := cut_ending(transcript)) is not None:
                yield transcript, cut[0], "late", cut[1], "as-is"
        case _:
            return


def _with_calls(transcript: Transcript, example: ExampleCall) -> Iterator[_Version]:
    for place in PLACES:
        if (edited := insert_calls(transcript, example, place)) is not None:
            yield transcript, edited, place, 1, "as-is"
    if (edited := insert_calls(transcript, example, "middle", times=3)) is not None:
        yield transcript, edited, "middle", 3, "as-is"
    longer = lengthen(transcript, LONGER, but=[example.tool])
    if longer is not None and (edited := insert_calls(longer, example, "middle")) is not None:
        yield longer, edited, "middle", 1, "lengthened"


def _with_other_figures(transcript: Transcript) -> Iterator[_Version]:
    one, every = swap_figures(transcript, most=1), swap_figures(transcript)
    for swapped in dict.fromkeys(filter(None, (one, every))):
        edited, first, size = swapped
        yield transcript, edited, place_of(first, transcript), size, "as-is"


def _policy(tested: Rule, rules: Sequence[Rule], versions: Sequence[_Version]) -> Policy:
    """Returns the tested rule among others that every version keeps, so that only the tested one can be broken."""
    texts = [text for version in versions for text in version[:2]]
    others = [
        rule for rule in rules if rule not in (tested, tested.opposite) and all(rule.holds(text) for text in texts)
    ][:MOST_OTHERS]
    place = int(digest("place of the tested rule", [texts[0].id, tested.words])[:8], 16) % (len(others) + 1)
    return Policy((*others[:place], tested, *others[place:]))


def _is_sound(case: Case) -> bool:
    """Whether a case is what it says, by program: the rule kept and broken, and a transcript that can have been."""
    sound = not list(case.edited.problems()) or bool(list(case.original.problems()))
    return sound and case.policy.holds(case.original) and not case.policy.holds(case.edited)


def _why_none(tested: Rule, given: GivenRule) -> str:
    if isinstance(tested, Forbid) and given.example is None:
        return "the transcript has no example of a call to the forbidden tool"
    return "nothing to edit"


# Two transcripts compared message by message.


@dataclass(frozen=True, slots=True)
class MessageChange:
    """A message that an edit changed. All of its text is from outside."""

    number: int | None
    """In the edited transcript, from 1; None if it was taken out."""
    kind: Literal["changed", "added", "removed"]
    before: Quoted
    after: Quoted
    __pydantic_config__ = AS_RECORD


def message_changes(before: Transcript, after: Transcript) -> Iterator[MessageChange]:
    """Yields what differs, in order. Messages in one place are taken for versions of each other."""
    one, two = (
        [json.dumps(message.as_json(), ensure_ascii=False) for message in each.messages] for each in (before, after)
    )
    for kind, start, end, first, last in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, new = one[start:end], two[first:last]
        shared = min(len(gone), len(new))
        yield from (MessageChange(first + place + 1, "changed", gone[place], new[place]) for place in range(shared))
        yield from (MessageChange(None, "removed", text, "") for text in gone[shared:])
        yield from (MessageChange(first + place + 1, "added", "", new[place]) for place in range(shared, len(new)))
