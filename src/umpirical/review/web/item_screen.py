"""The screen of one item, and the form for deciding on it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast, get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import REASONS, DecisionKind, Reason, ReviewDecision
from umpirical.review.desk import ItemView
from umpirical.review.records import Refused, ReviewChoice
from umpirical.review.web.requests import from_editor, to_editor
from umpirical.review.web.transcripts import (
    Card,
    InvalidEdit,
    edited,
    pair_messages,
    parts_of,
    read_transcript,
    rest_of,
    whole,
)
from umpirical.text.diffs import Piece, word_diff
from umpirical.web.guard import EMPTY, Form

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
        raise Refused("Choose what to do: accept, edit, reject or skip.")
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
        raise Refused("You have changed the text. Save it as your edit, or discard what you typed.")
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
        raise Refused(f"{error} Nothing was saved; what you typed is still here.") from None
    if not _can_be_stored(text):
        raise Refused("The text has a character that cannot be stored (NUL, or half of a surrogate pair). Remove it.")
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


def _can_be_stored(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


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
    """A decision in a few words."""
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
