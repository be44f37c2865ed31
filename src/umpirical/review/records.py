"""What the desk is set to, and what it hands out besides items: texts, progress, and refusals."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewMode

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
            raise UsageError(f"an overlap of {self.overlap}: each item needs at least one reviewer", fix="overlap: 1")


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
