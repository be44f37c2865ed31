"""What a page shows of an item, ready to be written down."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.domain.reviews import REASONS, ReviewDecision
from umpirical.review.desk import Shown
from umpirical.review.web.choosing import start_of
from umpirical.review.web.editing import to_editor
from umpirical.review.web.forms import EMPTY, Form
from umpirical.review.web.transcripts import Card, pair_messages, parts_of, read_transcript, rest_of, whole
from umpirical.text.diffs import Piece, word_diff

__all__ = ["SAID", "Block", "ItemScreen", "LabelKey", "MessageCard", "Said", "item_screen", "said_words"]

KEYS = "123456789"

SAID: dict[str, str] = {"accept": "accepted", "edit": "accepted with an edit", "reject": "rejected", "skip": "skipped"}
"""What a browser without script is told of its last decision."""


@dataclass(frozen=True, slots=True)
class Block:
    """A text against the one it was made from."""

    title: str
    pieces: tuple[Piece, ...]
    is_diff: bool
    """There is a text to compare with."""
    is_code: bool = False
    field: str = ""
    """What its editor is called; empty if it cannot be edited here."""
    editor: str = ""
    """What stands in its editor."""

    @property
    def is_same(self) -> bool:
        return self.is_diff and all(piece.kind == "same" for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class MessageCard:
    """A message of a transcript."""

    card: Card
    blocks: tuple[Block, ...]
    is_typed: bool
    """Something was typed in its editor that is not saved."""

    @property
    def is_open(self) -> bool:
        return self.card.kind != "same"


@dataclass(frozen=True, slots=True)
class LabelKey:
    """A label to choose."""

    place: int
    text: str
    key: str
    """Empty where there are more labels than keys."""
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Said:
    """What someone decided, with the text where it is one of their own."""

    decision: ReviewDecision
    words: str
    blocks: tuple[Block, ...] = ()
    """Their own text against the generator's; empty for a transcript."""
    cards: tuple[MessageCard, ...] = ()
    """Of a transcript: the messages they changed."""


@dataclass(frozen=True, slots=True)
class ItemScreen:
    """An item and all that may be said of it."""

    shown: Shown
    blocks: tuple[Block, ...]
    """One, for a text."""
    cards: tuple[MessageCard, ...]
    """For a transcript."""
    labels: tuple[LabelKey, ...]
    said: tuple[Said, ...]
    """The person's own decision first, then those of others, where they may be seen."""
    is_editing: bool
    comment: str
    refused: str
    """Why the last form was not taken; empty if it was."""


def item_screen(shown: Shown, *, form: Form = EMPTY, refused: str = "") -> ItemScreen:
    """The screen of an item; after a refusal with all that the form held."""
    _, start = start_of(shown)
    blocks = () if read_transcript(start) else (_text_block(shown, start, form),)
    decisions = [each for each in (shown.own, *shown.others) if each is not None]
    return ItemScreen(
        shown=shown,
        blocks=blocks,
        cards=_cards(shown.item.before, start, form),
        labels=_labels(shown, form),
        said=tuple(_said(each, shown) for each in decisions),
        is_editing=form.get("kind") == "edit" or any(_is_typed(form, block) for block in blocks),
        comment=form.get("comment", "" if shown.own is None else shown.own.comment),
        refused=refused,
    )


def said_words(decision: ReviewDecision) -> str:
    """A decision in a few words."""
    if decision.kind == "reject":
        return f"{SAID['reject']}: {REASONS[decision.reason] if decision.reason else 'no reason'}"
    return f"{SAID[decision.kind]}{f', label {decision.label}' if decision.label else ''}"


def _compared(before: str, after: str, *, title: str = "", field: str = "", typed: str = "") -> Block:
    pieces = word_diff(before, after) if before else [Piece("same", after)]
    return Block(title, tuple(pieces), is_diff=bool(before), field=field, editor=typed)


def _text_block(shown: Shown, start: str, form: Form) -> Block:
    typed = form.get("text", to_editor(start))
    title = "With your edit" if start != shown.item.after else ""
    return _compared(shown.item.before, start, title=title, field="text", typed=typed)


def _is_typed(form: Form, block: Block) -> bool:
    """The editor holds something else than the text beside it."""
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


def _message_blocks(card: Card, form: Form) -> Sequence[Block]:
    old = {part.name: part for part in parts_of(card.before)} if card.before is not None else {}
    if card.after is None:
        return [
            Block(part.title, (Piece("removed", part.text),), is_diff=True, is_code=part.is_json)
            for part in old.values()
        ]
    blocks = []
    for part in parts_of(card.after):
        was = old.pop(part.name, None)
        field = f"m{card.number}.{part.name}"
        pieces = tuple(word_diff(was.text if was else "", part.text))
        typed = form.get(field, to_editor(part.text))
        blocks.append(Block(part.title, pieces, is_diff=True, is_code=part.is_json, field=field, editor=typed))
    blocks += [
        Block(f"{part.title} removed", (Piece("removed", part.text),), is_diff=True, is_code=part.is_json)
        for part in old.values()
    ]
    return [*blocks, *_rest(card, blocks)]


def _rest(card: Card, blocks: Sequence[Block]) -> Sequence[Block]:
    """What changed beside the words and the arguments: a role, the name of a tool, or how the arguments are spelled."""
    if card.before is None or card.after is None or card.kind == "same":
        return []
    one, two = rest_of(card.before), rest_of(card.after)
    if one == two and all(block.is_same for block in blocks):
        one, two = whole(card.before), whole(card.after)
    return [] if one == two else [Block("Also changed", tuple(word_diff(one, two)), is_diff=True, is_code=True)]


def _labels(shown: Shown, form: Form) -> tuple[LabelKey, ...]:
    labels = shown.item.labels
    # Labels that are digits are their own keys; 0 is one of them.
    are_digits = all(len(label) == 1 and label.isascii() and label.isdigit() for label in labels)
    chosen = form.get("label") if "kind" in form.fields else _chosen_before(shown)
    return tuple(
        LabelKey(place, label, label if are_digits else KEYS[place : place + 1], is_chosen=str(place) == chosen)
        for place, label in enumerate(labels)
    )


def _chosen_before(shown: Shown) -> str:
    given = shown.own.label if shown.own is not None else ""
    return str(shown.item.labels.index(given)) if given and given in shown.item.labels else ""


def _said(decision: ReviewDecision, shown: Shown) -> Said:
    revision = next((each for each in shown.revisions if each.number == decision.revision), None)
    if decision.kind != "edit" or revision is None:
        return Said(decision, said_words(decision))
    cards = _cards(shown.item.after, revision.text, EMPTY)
    blocks = () if cards else (_compared(shown.item.after, revision.text),)
    return Said(decision, said_words(decision), blocks, tuple(card for card in cards if card.is_open))
