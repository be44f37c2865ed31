"""What can be said of an item: a choice is checked before it becomes a decision."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from umpirical.domain.reviews import REASONS, DecisionKind, ReviewDecision, ReviewItem
from umpirical.review.records import Choice, Refused

__all__ = ["check_edit", "checked", "repeats"]

LONGEST = 24 * 60 * 60 * 1000
"""Milliseconds; a browser that says more, or less than nothing, has not said how long it took."""


def checked(choice: Choice, item: ReviewItem, texts: Mapping[int, str]) -> Choice:
    """The choice without what does not belong to its kind; refused if it cannot be taken.

    `texts` are those that the person is shown, by number of revision.
    """
    if choice.kind not in get_args(DecisionKind):
        raise Refused(f"{choice.kind!r} is no decision", fix="accept, edit, reject or skip")
    if choice.revision not in texts:
        raise Refused(f"revision {choice.revision} of this item is none that you were shown", fix="load the item again")
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


def check_edit(choice: Choice, texts: Mapping[int, str]) -> str:
    """The new text of an edit; refused if it is none."""
    if choice.text is None or not choice.text.strip():
        raise Refused("an edit without a text", fix="write the text as it should be, or reject the item")
    if choice.text in (texts[choice.revision], texts[0]):
        raise Refused("the text is as it was", fix="accept it, or change it")
    return choice.text


def repeats(choice: Choice, decision: ReviewDecision, texts: Mapping[int, str]) -> bool:
    """Whether the choice is the decision again, as from a key pressed twice."""
    same = (choice.kind, choice.label, choice.reason, choice.comment)
    if same != (decision.kind, decision.label, decision.reason, decision.comment):
        return False
    if choice.kind == "edit":
        return choice.text == texts.get(decision.revision)
    return choice.kind in ("reject", "skip") or choice.revision == decision.revision


def _measured(milliseconds: int | None) -> int | None:
    return milliseconds if milliseconds is not None and 0 <= milliseconds <= LONGEST else None


def _check_label(choice: Choice, item: ReviewItem) -> None:
    if choice.label and choice.label not in item.labels:
        fix = f"choose one of: {', '.join(item.labels)}" if item.labels else "leave it out: this item has no labels"
        raise Refused(f"{choice.label!r} is no label of this item", fix=fix)
    if item.labels and not choice.label and choice.kind in ("accept", "edit"):
        raise Refused("the label is missing", fix=f"choose one of: {', '.join(item.labels)}")
