"""What a person chose to do with an item, checked before it becomes a decision."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import get_args

from umpirical.domain.reviews import REASONS, DecisionKind, Reason, ReviewDecision, ReviewItem
from umpirical.review.records import LONGEST_MILLISECONDS, LONGEST_TEXT, Refused


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """What a person chose to do with an item they are shown."""

    kind: DecisionKind
    label: str = ""
    reason: Reason | None = None
    """Why they reject it; required for a rejection."""
    comment: str = ""
    text: str | None = None
    """The whole text as an edit leaves it."""
    milliseconds: int | None = None
    """From when it was shown until they chose; None if nobody measured it."""
    revision: int = 0
    """The text they were looking at, which an edit changes."""


def checked(choice: ReviewChoice, item: ReviewItem, texts: Mapping[int, str]) -> ReviewChoice:
    """The choice without fields that do not belong to its kind. Raises Refused if it cannot be recorded.

    `texts` are the ones the person is shown, by revision number.
    """
    if choice.kind not in get_args(DecisionKind):
        raise Refused(f"{choice.kind!r} is not a decision", fix="accept, edit, reject or skip")
    if choice.revision not in texts:
        raise Refused(f"you were not shown revision {choice.revision} of this item", fix="load the item again")
    _check_label(choice, item)
    rejects = choice.kind == "reject"
    if rejects and choice.reason not in REASONS:
        raise Refused("a rejection needs a reason", fix=f"choose one of: {', '.join(REASONS)}")
    return replace(
        choice,
        reason=choice.reason if rejects else None,
        label="" if choice.kind == "skip" else choice.label,
        text=choice.text if choice.kind == "edit" else None,
        milliseconds=_measured(choice.milliseconds),
    )


def new_text(choice: ReviewChoice, texts: Mapping[int, str]) -> str:
    """The new text of an edit. Raises Refused if there is none."""
    if choice.text is None or not choice.text.strip():
        raise Refused("an edit needs a text", fix="write the text as it should be, or reject the item")
    if len(choice.text) > LONGEST_TEXT:
        found = f"a text of {len(choice.text):,} characters, allowed: {LONGEST_TEXT:,}"
        raise Refused(found, fix="shorten it, or reject the item")
    if choice.text in (texts[choice.revision], texts[0]):
        raise Refused("the text is unchanged", fix="accept it, or change it")
    return choice.text


def repeats(choice: ReviewChoice, decision: ReviewDecision, texts: Mapping[int, str]) -> bool:
    """Whether the choice is the same as the decision, as when a key is pressed twice."""
    same = (choice.kind, choice.label, choice.reason, choice.comment)
    if same != (decision.kind, decision.label, decision.reason, decision.comment):
        return False
    if choice.kind == "edit":
        return choice.text == texts.get(decision.revision)
    return choice.kind in ("reject", "skip") or choice.revision == decision.revision


def _measured(milliseconds: int | None) -> int | None:
    return milliseconds if milliseconds is not None and 0 <= milliseconds <= LONGEST_MILLISECONDS else None


def _check_label(choice: ReviewChoice, item: ReviewItem) -> None:
    if choice.label and choice.label not in item.labels:
        fix = f"choose one of: {', '.join(item.labels)}" if item.labels else "leave it out: this item has no labels"
        raise Refused(f"{choice.label!r} is not a label of this item", fix=fix)
    if item.labels and not choice.label and choice.kind in ("accept", "edit"):
        raise Refused("the label is missing", fix=f"choose one of: {', '.join(item.labels)}")
