"""Trials: a stimulus, presented in one way, to one judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from umpirical.domain.layouts import Layout

__all__ = ["BASELINE", "FACTORS", "PAIR_FACTORS", "Order", "Presentation", "Presented", "Trial"]


BASELINE = "baseline"
"""The arm of the judge's own prompt. Any other arm is a probe."""


class Order(StrEnum):
    """Which content is in slot 1. A factor of the design, recorded and never drawn at random."""

    UV = "uv"
    VU = "vu"


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a stimulus is shown: a set of factors, each a field. A factor is a column wherever trials are stored.

    A new factor needs a field here, a value for it in a protocol's design, and a judge that uses it.
    """

    order: Order = Order.UV
    arm: str = BASELINE
    """The criterion arm: which instruction about ties the judge was given."""
    repeat: int = 0
    seed: int | None = None
    """Sent instead of the judge's own decoding seed; None leaves that unchanged."""
    layout: Layout | None = None
    """What the candidates are called and how the answers are listed; None leaves that as the prompt has it."""

    @property
    def question(self) -> "Presentation":
        """The presentation without its repeat: what decides the request, so that repeats of it are equal."""
        return replace(self, repeat=0) if self.repeat else self

    @property
    def pair(self) -> "Presentation":
        """The presentation without its order: what both orders of one pair have in common."""
        return replace(self, order=Order.UV)


FACTORS: tuple[str, ...] = tuple(factor.name for factor in fields(Presentation))
"""Every factor, in the order of the fields."""

PAIR_FACTORS: tuple[str, ...] = tuple(name for name in FACTORS if name != "order")
"""What distinguishes the pairs of one stimulus: every factor except the order. The only place that says so."""


@dataclass(frozen=True, slots=True)
class Presented:
    """Everything that a judge may see of a trial. It has no field for a winner, a level, a label or metadata.

    Whoever shows a stimulus fills in the columns that the judge itself names, and no protocol lets a judge name the
    column of the label.
    """

    task: str
    first: str
    """Slot 1; for a `grade` judge the only candidate."""
    second: str | None
    """Slot 2; None for a `grade` judge."""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Other columns of the user's data, such as a reference answer: only those that the judge names."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One question to one judge."""

    id: str
    """Digest of what will be sent, and of the repeat index. It does not depend on the parser."""
    prompt_id: str
    """Digest of what will be sent, without the repeat index: equal for repeats of one prompt."""
    stimulus_id: str
    presentation: Presentation
