"""The screen of one item, with its transcript if it is one, and the form for deciding on it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal, cast, get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import REASONS, DecisionKind, Reason, ReviewDecision
from umpirical.review.desk import ItemView
from umpirical.review.records import Refused, ReviewChoice
from umpirical.review.web.requests import from_editor, to_editor
from umpirical.text.diffs import Piece, word_diff
from umpirical.web.guard import EMPTY, Form

# Agent transcripts: texts that are JSON lists of messages, compared and edited message by message.
#
# Messages stay the objects that the text holds. `umpirical.domain.transcripts` has one form for all of them, and here
# every field, role and spelling has to come back as it was. What a message of the domain may hold is shown.

STYLES: tuple[dict[str, Any], ...] = tuple(
    {"ensure_ascii": ascii_only, "indent": indent, "separators": separators}
    for ascii_only in (False, True)
    for indent, separators in ((None, None), (None, (",", ":")), (2, None), (4, None), (1, None))
)
"""How a transcript may be formatted; an edited one is formatted like the one it was made from."""

DEEPEST = 100
"""How deep lists and objects may be nested: no message is deeper, and Python reads deeper JSON than it can write."""

SPOKEN = ("reasoning", "content", "error", "attachments")
"""Fields of a message that are shown, in this order. Calls come after them."""


class InvalidEdit(ValueError):
    """What was typed is not valid in the place where it was typed."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a message: something that it says, or the arguments of one call."""

    name: str
    """Where it is in the message: `content`, `reasoning`, …, or `call0`, `call1`, …"""
    title: str
    """Name of the tool that is called, or of the field; empty for plain content."""
    text: str
    is_json: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A message of the changed transcript and the one it replaces; either may be missing."""

    number: int | None
    """Its position in the changed transcript, from 0; None for a message that was removed."""
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def kind(self) -> Literal["same", "changed", "added", "removed"]:
        if self.before is None:
            return "added"
        if self.after is None:
            return "removed"
        # Compared as JSON, because 1 and true are equal in Python.
        return "same" if _written(self.before) == _written(self.after) else "changed"

    @property
    def message(self) -> dict[str, Any]:
        return (self.before if self.after is None else self.after) or {}

    @property
    def title(self) -> str:
        """The role, with the name of the tool if it is a tool's answer."""
        name = self.message.get("name") or self.message.get("function")
        return f"{self.message['role']} {name}" if isinstance(name, str) else str(self.message["role"])


def read_transcript(text: str) -> list[dict[str, Any]] | None:
    """The messages of a transcript; None if the text is not one."""
    if not text.lstrip().startswith("["):
        return None
    try:
        found = _loads(text)
    except (ValueError, RecursionError):
        return None
    is_transcript = (
        isinstance(found, list)
        and found
        and all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in found)
    )
    return found if is_transcript else None


def pair_messages(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[Card]:
    """Every message of both transcripts, in order. Between equal messages, removed and added ones are paired up."""
    from rapidfuzz.distance import Indel

    one, two = [_written(each) for each in before], [_written(each) for each in after]
    cards: list[Card] = []
    gone: list[dict[str, Any]] = []
    new: list[int] = []
    for step in Indel.opcodes(one, two):
        if step.tag != "equal":
            gone += before[step.src_start : step.src_end]
            new += range(step.dest_start, step.dest_end)
            continue
        cards += _paired(gone, new, after)
        gone, new = [], []
        pairs = zip(before[step.src_start : step.src_end], range(step.dest_start, step.dest_end), strict=True)
        cards += [Card(place, message, after[place]) for message, place in pairs]
    return [*cards, *_paired(gone, new, after)]


def parts_of(message: dict[str, Any]) -> Iterator[Part]:
    """The parts of a message: what it says, and the arguments of each of its calls."""
    for name in SPOKEN:
        value = message.get(name)
        if isinstance(value, str):
            yield Part(name, "" if name == "content" else name, value, is_json=False)
        elif value is not None:
            yield Part(name, name, _pretty(value), is_json=True)
    for place, call in enumerate(_calls(message)):
        holder = _holder(call)
        if "arguments" in holder:
            yield Part(f"call{place}", _called(call), _arguments(holder["arguments"]), is_json=True)


def whole(message: dict[str, Any]) -> str:
    return _pretty(message)


def rest_of(message: dict[str, Any]) -> str:
    """The message without what its parts show, so that no change goes unnoticed."""
    copy = json.loads(json.dumps(message))
    for name in SPOKEN:
        copy.pop(name, None)
    for call in _calls(copy):
        _holder(call).pop("arguments", None)
    return _pretty(copy)


def edited(text: str, fields: Mapping[str, str]) -> str:
    """The transcript with the edits typed in `fields`, such as `m0.content`; the same text if nothing was changed.

    Raises InvalidEdit where JSON is required and something else was typed.
    """
    messages = read_transcript(text)
    if messages is None:
        raise InvalidEdit("the text is not a transcript")
    is_changed = False
    for number, message in enumerate(messages):
        for part in list(parts_of(message)):
            typed = fields.get(f"m{number}.{part.name}")
            if typed is None or from_editor(typed) == part.text:
                continue
            _put(message, part, from_editor(typed), where=f"Message {number + 1}")
            is_changed = True
    return json.dumps(messages, **_style(text)) if is_changed else text


def _put(message: dict[str, Any], part: Part, typed: str, *, where: str) -> None:
    if not part.is_json:
        message[part.name] = typed
        return
    try:
        value = _loads(typed)
    except RecursionError:
        raise InvalidEdit(f"{where}, {part.title}: the JSON is nested too deeply.") from None
    except ValueError as error:
        raise InvalidEdit(f"{where}, {part.title}: this is not valid JSON ({error}).") from None
    if part.name in SPOKEN:
        message[part.name] = value
        return
    holder = _holder(_calls(message)[int(part.name.removeprefix("call"))])
    holder["arguments"] = typed if isinstance(holder["arguments"], str) else value


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _holder(call: dict[str, Any]) -> dict[str, Any]:
    """Where the arguments are: some servers nest them with the function's name, others do not."""
    nested = call.get("function")
    return nested if isinstance(nested, dict) else call


def _called(call: dict[str, Any]) -> str:
    holder = _holder(call)
    name = holder.get("name") or holder.get("function")
    return name if isinstance(name, str) else "a tool"


def _arguments(arguments: object) -> str:
    """The arguments as formatted JSON; a string that is not JSON stays as it is."""
    if not isinstance(arguments, str):
        return _pretty(arguments)
    try:
        return _pretty(_loads(arguments))
    except (ValueError, RecursionError):
        return arguments


def _paired(gone: list[dict[str, Any]], new: list[int], after: list[dict[str, Any]]) -> Iterator[Card]:
    for place in range(max(len(gone), len(new))):
        number = new[place] if place < len(new) else None
        before = gone[place] if place < len(gone) else None
        yield Card(number, before, None if number is None else after[number])


def _style(text: str) -> dict[str, Any]:
    found = json.loads(text)
    return next((style for style in STYLES if json.dumps(found, **style) == text.strip()), STYLES[0])


def _loads(text: str) -> Any:  # noqa: ANN401  # whatever the JSON holds
    """Raises ValueError for what is not JSON, and RecursionError for what could be read but not written again."""
    found = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return found
    raise RecursionError


def _inside(value: object) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise ValueError(f"{number[:20]} is too large a number")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _pretty(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _written(message: dict[str, Any]) -> str:
    return json.dumps(message, sort_keys=True)


# The screen, and the form.


LONGEST_COMMENT = 2_000


def start_of(shown: ItemView) -> tuple[int, str]:
    """Number and text of the revision that the editor starts with: the person's own edit, if there is one."""
    if shown.own is not None and shown.own.kind == "edit":
        mine = next((each for each in shown.revisions if each.number == shown.own.revision), None)
        if mine is not None:
            return mine.number, mine.text
    return 0, shown.item.after


def choice_of(form: Form, shown: ItemView) -> ReviewChoice:
    """What the form says about the item it was shown with. Raises Refused, with a sentence for the person."""
    kind, _, reason = form.get("kind").partition(":")
    if kind not in get_args(DecisionKind):
        raise Refused("Choose a decision: accept, edit, reject or skip.")
    number, start = start_of(shown)
    choice = ReviewChoice(
        kind=cast("DecisionKind", kind),
        label=_label(form, shown) if kind in ("accept", "edit") else "",
        reason=_reason(reason) if kind == "reject" else None,
        comment=form.get("comment").strip()[:LONGEST_COMMENT],
        text=_typed(form, start) if kind == "edit" else None,
        milliseconds=_milliseconds(form.get("milliseconds")),
        revision=number,
    )
    if kind == "accept" and _is_changed(form, start):
        raise Refused("You have changed the text. Save your edit or discard it.")
    if kind == "edit" and number and choice.text == shown.item.after:
        # Someone who reverts their whole edit accepts the generator's text.
        return replace(choice, kind="accept", text=None, revision=0)
    return choice


def refusal_words(refused: UsageError) -> str:
    """Why it was refused and what to do about it, as sentences."""
    parts = [part[:1].upper() + part[1:] for part in (str(refused), refused.fix) if part]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)


def _label(form: Form, shown: ItemView) -> str:
    """Forms send a label by its position, as its text may be anything."""
    if not shown.item.labels:
        return ""
    labels = {str(place): label for place, label in enumerate(shown.item.labels)}
    if form.get("label") not in labels:
        raise Refused("Choose a label first.")
    return labels[form.get("label")]


def _reason(reason: str) -> Reason:
    if reason not in get_args(Reason):
        raise Refused("Choose a reason for the rejection.")
    return cast("Reason", reason)


def _typed(form: Form, start: str) -> str:
    try:
        text = _text(form, start)
    except InvalidEdit as error:
        raise Refused(f"{error} Nothing was saved. Your text is still here.") from None
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise Refused("The text contains an invalid character (NUL, or half of a surrogate pair). Remove it.")
    return text


def _is_changed(form: Form, start: str) -> bool:
    try:
        return _text(form, start) != start
    except InvalidEdit:
        return True


def _text(form: Form, start: str) -> str:
    if read_transcript(start) is not None:
        return edited(start, form.fields)
    return from_editor(form.fields["text"]) if "text" in form.fields else start


def _milliseconds(given: str) -> int | None:
    """As the script measured it; without script the field is empty."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else None


# What a page shows of an item, ready for the template.


KEYS = "123456789"

DECISION_WORDS: dict[str, str] = {
    "accept": "accepted",
    "edit": "accepted with an edit",
    "reject": "rejected",
    "skip": "skipped",
}
"""How a decision is named on the pages, by its kind."""


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """A text compared with the one it was made from."""

    title: str
    pieces: tuple[Piece, ...]
    is_diff: bool
    """Whether there is a text to compare with."""
    is_code: bool = False
    field: str = ""
    """Name of its editor in the form; empty if it cannot be edited here."""
    editor: str = ""
    """The text in its editor."""

    @property
    def is_same(self) -> bool:
        return self.is_diff and all(piece.kind == "same" for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class MessageCard:
    """A message of a transcript."""

    card: Card
    blocks: tuple[DiffBlock, ...]
    is_typed: bool
    """Whether its editor has unsaved changes."""

    @property
    def is_open(self) -> bool:
        return self.card.kind != "same"


@dataclass(frozen=True, slots=True)
class LabelKey:
    """A label to choose."""

    place: int
    text: str
    key: str
    """The key that chooses it; empty where there are more labels than keys."""
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ShownDecision:
    """What someone decided, with their text if they edited it."""

    decision: ReviewDecision
    words: str
    blocks: tuple[DiffBlock, ...] = ()
    """Their text compared with the generator's; empty for a transcript."""
    cards: tuple[MessageCard, ...] = ()
    """The messages of a transcript that they changed."""


@dataclass(frozen=True, slots=True)
class ItemScreen:
    """An item, and everything on the page to decide it."""

    view: ItemView
    blocks: tuple[DiffBlock, ...]
    """One for a text; empty for a transcript."""
    cards: tuple[MessageCard, ...]
    """The messages of a transcript; empty for a text."""
    labels: tuple[LabelKey, ...]
    said: tuple[ShownDecision, ...]
    """The person's own decision first, then those of others if they may be seen."""
    is_editing: bool
    comment: str
    refused: str
    """Why the last form was refused; empty if it was not."""


def item_screen(shown: ItemView, *, form: Form = EMPTY, refused: str = "") -> ItemScreen:
    """The screen of an item; after a refusal with everything that was in the form."""
    _, start = start_of(shown)
    blocks = () if read_transcript(start) else (_text_block(shown, start, form),)
    decisions = [each for each in (shown.own, *shown.others) if each is not None]
    return ItemScreen(
        view=shown,
        blocks=blocks,
        cards=_cards(shown.item.before, start, form),
        labels=_labels(shown, form),
        said=tuple(_said(each, shown) for each in decisions),
        is_editing=form.get("kind") == "edit" or any(_is_typed(form, block) for block in blocks),
        comment=form.get("comment", "" if shown.own is None else shown.own.comment),
        refused=refused,
    )


def decision_words(decision: ReviewDecision) -> str:
    if decision.kind == "reject":
        return f"{DECISION_WORDS['reject']}: {REASONS[decision.reason] if decision.reason else 'no reason'}"
    return f"{DECISION_WORDS[decision.kind]}{f', label {decision.label}' if decision.label else ''}"


def _compared(before: str, after: str, *, title: str = "", field: str = "", typed: str = "") -> DiffBlock:
    pieces = word_diff(before, after) if before else [Piece("same", after)]
    return DiffBlock(title, tuple(pieces), is_diff=bool(before), field=field, editor=typed)


def _text_block(shown: ItemView, start: str, form: Form) -> DiffBlock:
    typed = form.get("text", to_editor(start))
    title = "With your edit" if start != shown.item.after else ""
    return _compared(shown.item.before, start, title=title, field="text", typed=typed)


def _is_typed(form: Form, block: DiffBlock) -> bool:
    """Whether the editor holds something other than the text beside it."""
    text = "".join(piece.text for piece in block.pieces if piece.kind != "removed")
    return block.field in form.fields and block.editor != to_editor(text)


def _cards(before: str, after: str, form: Form) -> tuple[MessageCard, ...]:
    messages = read_transcript(after)
    if messages is None:
        return ()
    pairs = pair_messages(read_transcript(before) or [], messages)
    return tuple(
        MessageCard(card, tuple(blocks), is_typed=any(_is_typed(form, block) for block in blocks))
        for card in pairs
        for blocks in [_message_blocks(card, form)]
    )


def _message_blocks(card: Card, form: Form) -> Sequence[DiffBlock]:
    old = {part.name: part for part in parts_of(card.before)} if card.before is not None else {}
    if card.after is None:
        return [
            DiffBlock(part.title, (Piece("removed", part.text),), is_diff=True, is_code=part.is_json)
            for part in old.values()
        ]
    blocks = []
    for part in parts_of(card.after):
        was = old.pop(part.name, None)
        field = f"m{card.number}.{part.name}"
        pieces = tuple(word_diff(was.text if was else "", part.text))
        typed = form.get(field, to_editor(part.text))
        blocks.append(DiffBlock(part.title, pieces, is_diff=True, is_code=part.is_json, field=field, editor=typed))
    blocks += [
        DiffBlock(f"{part.title} removed", (Piece("removed", part.text),), is_diff=True, is_code=part.is_json)
        for part in old.values()
    ]
    return [*blocks, *_rest(card, blocks)]


def _rest(card: Card, blocks: Sequence[DiffBlock]) -> Sequence[DiffBlock]:
    """What changed besides content and arguments: a role, the name of a tool, or how the arguments are formatted."""
    if card.before is None or card.after is None or card.kind == "same":
        return []
    one, two = rest_of(card.before), rest_of(card.after)
    if one == two and all(block.is_same for block in blocks):
        one, two = whole(card.before), whole(card.after)
    return [] if one == two else [DiffBlock("Also changed", tuple(word_diff(one, two)), is_diff=True, is_code=True)]


def _labels(shown: ItemView, form: Form) -> tuple[LabelKey, ...]:
    labels = shown.item.labels
    # Labels that are single digits are their own keys, 0 included.
    are_digits = all(len(label) == 1 and label.isascii() and label.isdigit() for label in labels)
    chosen = form.get("label") if "kind" in form.fields else _chosen_before(shown)
    return tuple(
        LabelKey(place, label, label if are_digits else KEYS[place : place + 1], is_chosen=str(place) == chosen)
        for place, label in enumerate(labels)
    )


def _chosen_before(shown: ItemView) -> str:
    given = shown.own.label if shown.own is not None else ""
    return str(shown.item.labels.index(given)) if given and given in shown.item.labels else ""


def _said(decision: ReviewDecision, shown: ItemView) -> ShownDecision:
    revision = next((each for each in shown.revisions if each.number == decision.revision), None)
    if decision.kind != "edit" or revision is None:
        return ShownDecision(decision, decision_words(decision))
    cards = _cards(shown.item.after, revision.text, EMPTY)
    blocks = () if cards else (_compared(shown.item.after, revision.text),)
    return ShownDecision(decision, decision_words(decision), blocks, tuple(card for card in cards if card.is_open))
