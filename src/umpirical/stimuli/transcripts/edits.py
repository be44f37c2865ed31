"""Edits of a transcript by program: each changes what it says and nothing else, and the transcript stays sound."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from umpirical.domain.digests import digest
from umpirical.domain.policies import figures_in
from umpirical.domain.transcripts import Message, ToolCall, Transcript

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
    """Returns the third of a transcript that a message is in."""
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
