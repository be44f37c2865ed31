"""What a page shows of an item, ready for the template."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.domain.reviews import REASONS, ReviewDecision
from umpirical.review.views import ItemView
from umpirical.review.web.decision_forms import start_of
from umpirical.review.web.editor_text import to_editor
from umpirical.review.web.transcripts import Card, pair_messages, parts_of, read_transcript, rest_of, whole
from umpirical.text.diffs import Piece, word_diff
from umpirical.web.forms import EMPTY, Form

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
