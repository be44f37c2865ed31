"""Trials: a stimulus, presented in one way, to one judge."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Order", "Presentation", "Presented", "Trial"]


class Order(StrEnum):
    """Which content sits in slot 1. A factor of the design, recorded and never drawn at random."""

    UV = "uv"
    VU = "vu"


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a stimulus is shown."""

    order: Order = Order.UV
    arm: str = "baseline"
    """The criterion arm: which instruction about ties the judge was given."""
    repeat: int = 0
    seed: int | None = None
    """Sent in place of the judge's own decoding seed; None leaves that as it is."""


@dataclass(frozen=True, slots=True)
class Presented:
    """All that a judge may see of a trial. It has no room for a winner, a level, a label or a pair's metadata."""

    task: str
    first: str
    """Slot 1; for a `grade` judge the only candidate."""
    second: str | None
    """Slot 2; None for a `grade` judge."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One question to one judge."""

    id: str
    """Digest of what will be sent, and of the repeat index. The parser is not in it."""
    prompt_id: str
    """Digest of what will be sent, without the repeat index: equal for repeats of one prompt."""
    stimulus_id: str
    presentation: Presentation
