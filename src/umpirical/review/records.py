"""What a reviewer is shown, and what a reviewer says."""

from dataclasses import dataclass

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import DecisionKind, Reason, ReviewDecision, ReviewItem, ReviewMode

__all__ = ["Choice", "NotAssigned", "Progress", "Refused", "Revision", "Settings", "Shown"]


class NotAssigned(UsageError):
    """The person was not given this item, and has nothing to say of it."""


class Refused(UsageError):
    """A decision that cannot be taken as it is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a review is run."""

    overlap: int = 1
    """How many people decide each item."""
    mode: ReviewMode = "blind"

    def __post_init__(self) -> None:
        if self.overlap < 1:
            raise UsageError(f"an overlap of {self.overlap}: each item needs one reviewer at least", fix="overlap: 1")


@dataclass(frozen=True, slots=True)
class Revision:
    """One text of an item."""

    number: int
    """Counted in its item: 0 is the generator's."""
    item: str
    parent: int
    """Number of the text it was made from; of the generator's its own."""
    author: str
    """Name of the person, or of the model that generated it."""
    text: str
    at: str
    """UTC, ISO 8601."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one person may see of an item now. What is hidden from them is not in it."""

    item: ReviewItem
    """Without target and opinions for a blind reviewer who has not decided."""
    revisions: tuple[Revision, ...]
    """In order; for a blind reviewer who has not decided the generator's and their own."""
    own: ReviewDecision | None
    """Their newest decision on it that is not undone."""
    others: tuple[ReviewDecision, ...]
    """What each of the others says now; empty for a blind reviewer who has not decided."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the review is, seen by one person."""

    left: int
    """Items that they have open, or can still be given."""
    done: int
    """Items that they have decided; a skip is no decision."""
    total: int
    """Items in the review."""
    disputed: int
    """Items that wait for an adjudicator."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person says of an item they are shown."""

    kind: DecisionKind
    label: str = ""
    reason: Reason | None = None
    """Of a rejection, which needs one."""
    comment: str = ""
    text: str | None = None
    """Of an edit: the whole text as it should be."""
    milliseconds: int | None = None
    """From shown to decided; None where nobody measured it."""
    revision: int = 0
    """The text they were looking at, which an edit changes."""
