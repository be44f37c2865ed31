"""Decisions as other tools keep them: one for each person and item, without revisions and without what was undone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from umpirical.domain.reviews import DecisionKind, Reason, ReviewDecision, ReviewItem
from umpirical.review.exchange.json_files import BadLine
from umpirical.review.people import LONGEST_NAME, is_name
from umpirical.review.records import Revision

__all__ = ["LONGEST_TEXT", "Foreign", "check_name", "checked", "current_decisions", "edited_text", "one_of"]

LONGEST_TEXT = 200_000
"""Characters of a text that a person wrote; the same as for a generator."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """What one person said of one item, somewhere else."""

    place: str
    """Where it stands in the file."""
    item: str
    person: str
    kind: DecisionKind
    label: str = ""
    reason: Reason | None = None
    comment: str = ""
    text: str = ""
    """Of an edit: the whole text."""
    at: str = ""
    """UTC, ISO 8601; empty where the file does not say."""
    milliseconds: int | None = None


def one_of(value: str, allowed: object, what: str, place: str) -> str:
    """The value, if it is one of a Literal's."""
    known = get_args(allowed)
    if value not in known:
        raise BadLine(place, f"{what} {value[:60]!r} is not known; expected one of {', '.join(known)}")
    return value


def checked(said: Foreign, items: Mapping[str, ReviewItem]) -> Foreign:
    """The decision, if it can be taken: the item is there, the label is one of its labels, an edit edits."""
    item = items.get(said.item)
    if item is None:
        raise BadLine(said.place, f"no item {said.item[:60]!r} is in this review")
    check_name(said.person, said.place)
    keeps = said.kind in ("accept", "edit")
    if said.label and said.label not in item.labels:
        known = f"expected one of {', '.join(item.labels)}" if item.labels else "this item has none to give"
        raise BadLine(said.place, f"label {said.label[:60]!r} is not known; {known}")
    if keeps and item.labels and not said.label:
        raise BadLine(said.place, f"no label is given; expected one of {', '.join(item.labels)}")
    if said.kind == "edit" and (not said.text.strip() or said.text == item.after):
        raise BadLine(said.place, "an edit without a text of its own")
    return said


def check_name(name: str, place: str) -> None:
    """Raises for what cannot be the name of a person."""
    if not is_name(name):
        expected = f"expected 1 to {LONGEST_NAME} printable characters, without a space at either end"
        raise BadLine(place, f"{name[:80]!r} is no name: {expected}")


def current_decisions(decisions: Iterable[ReviewDecision]) -> dict[str, list[ReviewDecision]]:
    """By item: what each person says now. Undone decisions, earlier ones and adjudications are left out."""
    newest: dict[tuple[str, str], ReviewDecision] = {}
    for decision in decisions:
        if not decision.undone and not decision.adjudicates:
            newest[decision.item, decision.reviewer] = decision
    found: dict[str, list[ReviewDecision]] = {}
    for decision in sorted(newest.values(), key=lambda one: one.number):
        found.setdefault(decision.item, []).append(decision)
    return found


def edited_text(decision: ReviewDecision, revisions: Mapping[tuple[str, int], Revision]) -> str:
    """The text that a decision is about, where a person wrote it; empty for the generator's."""
    return revisions[decision.item, decision.revision].text if decision.revision else ""
