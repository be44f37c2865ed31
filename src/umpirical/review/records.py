"""The values of a review: items, decisions, what they come to, and the choices a reviewer has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import (
    REASONS,
    DecisionKind,
    OutcomeState,
    Reason,
    ReviewDecision,
    ReviewItem,
    ReviewMode,
    ReviewOutcome,
)

LONGEST_TEXT = 200_000
"""Characters that a person's text may have; the limit for generators is the same."""

LONGEST_MILLISECONDS = 24 * 60 * 60 * 1000
"""A longer time, or a negative one, is not a time that a browser measured."""


class NotAssigned(UsageError):
    """The person was not given this item, and cannot decide on it."""


class Refused(UsageError):
    """A decision that cannot be recorded as it is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a review is run."""

    overlap: int = 1
    """How many people decide on each item."""
    mode: ReviewMode = "blind"

    def __post_init__(self) -> None:
        if self.overlap < 1:
            raise UsageError(f"invalid overlap {self.overlap}: each item needs at least one reviewer", fix="overlap: 1")


@dataclass(frozen=True, slots=True)
class Revision:
    """One text of an item."""

    number: int
    """Counted per item; 0 is the generator's text."""
    item: str
    parent: int
    """Number of the text it was made from; the generator's text is its own parent."""
    author: str
    """Name of the person, or of the model that generated it."""
    text: str
    at: str
    """UTC, ISO 8601."""


@dataclass(slots=True)
class Additions:
    """Records that a review does not have yet, in the order in which to add them: all of them, or none."""

    items: list[ReviewItem] = field(default_factory=list)
    guidelines: list[tuple[int, str]] = field(default_factory=list)
    """Version in the file, and text."""
    in_force: str = ""
    """Text of the guideline in force in the file."""
    revisions: list[Revision] = field(default_factory=list)
    decisions: list[ReviewDecision] = field(default_factory=list)
    """Their numbers only give the order; their guidelines are the versions of `guidelines`."""
    known: int = 0
    """How many decisions of the file the review has already."""
    places: dict[int, str] = field(default_factory=dict)
    """Where in the file each decision is, by its number."""
    source: str = ""
    """What is recorded as the origin of each decision."""


@dataclass(frozen=True, slots=True)
class ReviewProgress:
    """How far the review is, as it concerns one person."""

    left: int
    """Items that they have open, or can still be given."""
    done: int
    """Items that they decided on; a skip is no decision."""
    total: int
    """Items in the review."""
    disputed: int
    """Items that wait for an adjudicator."""


def utc_now() -> datetime:
    """The clock of a review that is given no other."""
    return datetime.now(UTC)


# The outcome of an item: a pure function of the decisions on it, which alone are the record.


def outcome_of(
    item: ReviewItem, revisions: Iterable[Revision], decisions: Iterable[ReviewDecision], *, overlap: int
) -> ReviewOutcome:
    """The outcome of an item from all decisions on it.

    The newest adjudication that is not undone settles it. Without one, each reviewer's newest decision that is not
    undone counts, unless it is a skip: with fewer than `overlap` of them the item is undecided; if they all say the
    same it is accepted or rejected; otherwise it is disputed.
    """
    said = sorted(decisions, key=lambda decision: decision.number)
    standing, settled = current(said), adjudication(said)
    state = state_of(said, overlap=overlap)
    reviewers = tuple(decision.reviewer for decision in standing)
    adjudicator = settled.reviewer if settled else ""
    if state != "accepted":
        return ReviewOutcome(item.id, state, reviewers=reviewers, adjudicator=adjudicator)
    by = settled or standing[0]
    texts = {revision.number: revision.text for revision in revisions} | {0: item.after}
    return ReviewOutcome(
        item.id,
        state,
        text=texts[by.revision],
        edited=by.revision != 0,
        label=by.label,
        reviewers=reviewers,
        adjudicator=adjudicator,
    )


def outcomes_of(
    items: Iterable[ReviewItem], revisions: Iterable[Revision], decisions: Iterable[ReviewDecision], *, overlap: int
) -> Iterator[ReviewOutcome]:
    """The outcome of every item, in the order of the items."""
    texts: dict[str, list[Revision]] = {}
    for revision in revisions:
        texts.setdefault(revision.item, []).append(revision)
    said: dict[str, list[ReviewDecision]] = {}
    for decision in decisions:
        said.setdefault(decision.item, []).append(decision)
    for item in items:
        yield outcome_of(item, texts.get(item.id, ()), said.get(item.id, ()), overlap=overlap)


def state_of(decisions: Iterable[ReviewDecision], *, overlap: int) -> OutcomeState:
    said = sorted(decisions, key=lambda decision: decision.number)
    settled = adjudication(said)
    deciding = [settled] if settled else current(said)
    if not settled and len(deciding) < overlap:
        return "undecided"
    if len({decision.says for decision in deciding}) > 1:
        return "disputed"
    return "rejected" if deciding[0].kind == "reject" else "accepted"


def current(decisions: Sequence[ReviewDecision]) -> list[ReviewDecision]:
    """Each reviewer's newest decision on one item that is not undone, unless it is a skip; in the order of making."""
    newest: dict[str, ReviewDecision] = {}
    for decision in decisions:
        if not decision.undone and not decision.adjudicates:
            newest.pop(decision.reviewer, None)
            newest[decision.reviewer] = decision
    return [decision for decision in newest.values() if decision.kind != "skip"]


def adjudication(decisions: Sequence[ReviewDecision]) -> ReviewDecision | None:
    """The decision that settles an item, if there is one."""
    settling = [decision for decision in decisions if decision.adjudicates and not decision.undone]
    return settling[-1] if settling else None


# What a person chose to do with an item, checked before it becomes a decision.


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
        raise Refused(f"unknown decision {choice.kind!r}", fix="choose accept, edit, reject or skip")
    if choice.revision not in texts:
        raise Refused(f"you have not seen revision {choice.revision} of this item", fix="reload the item")
    _check_label(choice, item)
    rejects = choice.kind == "reject"
    if rejects and choice.reason not in REASONS:
        raise Refused("a rejection needs a reason", fix=f"choose one of: {', '.join(REASONS)}")
    took = choice.milliseconds
    return replace(
        choice,
        reason=choice.reason if rejects else None,
        label="" if choice.kind == "skip" else choice.label,
        text=choice.text if choice.kind == "edit" else None,
        milliseconds=took if took is not None and 0 <= took <= LONGEST_MILLISECONDS else None,
    )


def new_text(choice: ReviewChoice, texts: Mapping[int, str]) -> str:
    """The new text of an edit. Raises Refused if there is none."""
    if choice.text is None or not choice.text.strip():
        raise Refused("an edit needs a text", fix="write the corrected text, or reject the item")
    if len(choice.text) > LONGEST_TEXT:
        found = f"the text has {len(choice.text):,} characters; the limit is {LONGEST_TEXT:,}"
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


def _check_label(choice: ReviewChoice, item: ReviewItem) -> None:
    if choice.label and choice.label not in item.labels:
        fix = f"choose one of: {', '.join(item.labels)}" if item.labels else "omit the label: this item has none"
        raise Refused(f"{choice.label!r} is not a label of this item", fix=fix)
    if item.labels and not choice.label and choice.kind in ("accept", "edit"):
        raise Refused("the label is missing", fix=f"choose one of: {', '.join(item.labels)}")
