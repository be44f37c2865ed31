"""What people say about generated stimuli. Decisions are only ever added: an undone one stays, marked as undone."""

from dataclasses import dataclass
from typing import Literal

from umpirical.domain.digests import digest
from umpirical.domain.stimuli import CheckResult

DecisionKind = Literal["accept", "edit", "reject", "skip"]
"""An edit accepts the reviewer's own text; a skip leaves the item to someone else."""

ReviewRole = Literal["reviewer", "adjudicator", "owner"]
"""An adjudicator also settles what reviewers disagree on; an owner also invites and revokes."""

ReviewMode = Literal["blind", "assisted"]
"""Blind: what others, the validator and the generator's target say is hidden until a decision is made."""

Reason = Literal["meaning", "label", "unnatural", "artefact", "harmful", "other"]

REASONS: dict[Reason, str] = {
    "meaning": "wrong edit",
    "label": "label should change",
    "unnatural": "unnatural",
    "artefact": "model chatter or truncated",
    "harmful": "unsafe",
    "other": "other",
}
"""Why an item is rejected, in the order of the keys 1 to 6."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """One generated stimulus as a reviewer sees it. It never changes."""

    id: str
    """Id of the stimulus as the generator wrote it."""
    test: str
    question: str
    """What the reviewer answers by accepting: "Is the meaning unchanged?"."""
    task: str
    before: str
    """The text it was made from; empty for one written from scratch."""
    after: str
    """What the generator wrote."""
    generator: str
    """Name of the model that wrote it."""
    rubric: str = ""
    labels: tuple[str, ...] = ()
    """The labels that the reviewer chooses from; empty if the test needs none."""
    target: str = ""
    """The label it was meant to deserve; hidden from a blind reviewer until a decision is made."""
    checks: tuple[CheckResult, ...] = ()
    """The checks that a program made and the text passed."""
    opinions: tuple[str, ...] = ()
    """What the validators said; hidden like the target."""
    sensitive: bool = False
    """Shown blurred until the reviewer asks for it."""


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What one person said about one item, at one moment."""

    number: int
    """Counted over the whole review, in the order they were made."""
    item: str
    reviewer: str
    kind: DecisionKind
    revision: int
    """The text it is about: 0 is the generator's, others are edits. For an edit, the revision that it made."""
    at: str
    """UTC, ISO 8601."""
    milliseconds: int | None
    """From shown to decided, as the browser measured it; None if it did not say."""
    mode: ReviewMode
    guideline: int
    """Version of the guidelines that were in force; 0 for none."""
    label: str = ""
    """The label that the reviewer gave; empty if the item takes none."""
    reason: Reason | None = None
    """The reason for a rejection."""
    comment: str = ""
    adjudicates: bool = False
    """Whether it settles a disagreement, and overrides all other decisions on the item."""
    undone: bool = False

    @property
    def says(self) -> tuple[str, int, str]:
        """What the decision amounts to. Two decisions agree if they say the same: their reasons may differ."""
        if self.kind == "reject":
            return ("reject", 0, "")
        return ("keep" if self.kind in ("accept", "edit") else "skip", self.revision, self.label)


OutcomeState = Literal["undecided", "disputed", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """The combined result of all decisions on an item."""

    item: str
    state: OutcomeState
    text: str = ""
    """The text that counts for an accepted item, the generator's or a person's."""
    edited: bool = False
    label: str = ""
    """The label of an accepted item, if people gave one."""
    reviewers: tuple[str, ...] = ()
    """Who decided, in the order of their decisions; skips do not count."""
    adjudicator: str = ""

    @property
    def digest(self) -> str:
        return digest("outcome", [self.item, self.state, self.text, self.label])
