"""Decisions as other tools keep them: one per person and item, without revisions and without undone decisions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args

from umpirical.domain.reviews import DecisionKind, Reason, ReviewDecision, ReviewItem
from umpirical.review.exchange.json_files import BadLine
from umpirical.review.people import LONGEST_NAME, is_name
from umpirical.review.records import Revision


@dataclass(frozen=True, slots=True)
class ForeignDecision:
    """What one person decided on one item, in another tool."""

    place: str
    """Where it stands in the file."""
    item: str
    person: str
    kind: DecisionKind
    label: str = ""
    reason: Reason | None = None
    comment: str = ""
    text: str = ""
    """The whole text as an edit leaves it."""
    at: str = ""
    """UTC, ISO 8601; empty if the file does not say."""
    milliseconds: int | None = None


def one_of(value: str, allowed: object, what: str, place: str) -> str:
    """The value, if the Literal `allowed` has it. Raises BadLine otherwise."""
    known = get_args(allowed)
    if value not in known:
        raise BadLine(place, f"{what} {value[:60]!r} is not known; expected one of {', '.join(known)}")
    return value


def checked(said: ForeignDecision, items: Mapping[str, ReviewItem]) -> ForeignDecision:
    """The decision, if it fits: its item is in the review, the item has its label, and an edit changes the text."""
    item = items.get(said.item)
    if item is None:
        raise BadLine(said.place, f"item {said.item[:60]!r} is not in this review")
    check_name(said.person, said.place)
    keeps = said.kind in ("accept", "edit")
    if said.label and said.label not in item.labels:
        known = f"expected one of {', '.join(item.labels)}" if item.labels else "this item has no labels"
        raise BadLine(said.place, f"label {said.label[:60]!r} is not known; {known}")
    if keeps and item.labels and not said.label:
        raise BadLine(said.place, f"no label is given; expected one of {', '.join(item.labels)}")
    if said.kind == "edit" and (not said.text.strip() or said.text == item.after):
        raise BadLine(said.place, "an edit needs a text of its own")
    return said


def check_name(name: str, place: str) -> None:
    """Raises BadLine for a text that cannot be the name of a person."""
    if not is_name(name):
        expected = f"expected 1 to {LONGEST_NAME} printable characters, without a space at either end"
        raise BadLine(place, f"{name[:80]!r} cannot be a name: {expected}")


def current_decisions(decisions: Iterable[ReviewDecision]) -> dict[str, list[ReviewDecision]]:
    """What each person says now, by item. Undone decisions, earlier ones and adjudications are left out."""
    newest: dict[tuple[str, str], ReviewDecision] = {}
    for decision in decisions:
        if not decision.undone and not decision.adjudicates:
            newest[decision.item, decision.reviewer] = decision
    found: dict[str, list[ReviewDecision]] = {}
    for decision in sorted(newest.values(), key=lambda one: one.number):
        found.setdefault(decision.item, []).append(decision)
    return found


def edited_text(decision: ReviewDecision, revisions: Mapping[tuple[str, int], Revision]) -> str:
    """The text that a decision is about if a person wrote it; empty for the generator's."""
    return revisions[decision.item, decision.revision].text if decision.revision else ""
