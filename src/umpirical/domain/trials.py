"""Trials: a stimulus, presented in one way, to one judge."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache

from umpirical.domain.scales import GradeScale

BASELINE = "baseline"
"""The variant of the judge's own prompt. Any other variant is a probe."""

LABEL_SETS: tuple[str, ...] = ("1/2", "A/B", "X/Y", "first/second")
"""What two candidates are called: a first label and a second one."""

TIE_PLACES = 3
"""How many places the tie has among the options: before both candidates, between them, after them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The labels of the two positions, and the order of the options in the question.

    A judge that favours position 1 may favour the position, the label that the position carries, or the option that is
    named first. If these three always go together, nothing tells them apart, so a plan varies them independently of
    each other.
    """

    labels: str = LABEL_SETS[0]
    """The first label and the second, with a stroke between them."""
    labels_swapped: bool = False
    """Slot 1 carries the second label."""
    options_swapped: bool = False
    """The option of position 1 is named after that of position 2."""
    tie_place: int = TIE_PLACES - 1
    """How many candidates are named before the tie: 0, 1 or 2."""

    @property
    def slot_labels(self) -> tuple[str, str]:
        """The labels of position 1 and of position 2."""
        first, second = self.labels.split("/")
        return (second, first) if self.labels_swapped else (first, second)


PLAIN = Layout()
"""How a prompt is laid out if nothing is varied."""


class Order(StrEnum):
    """Which content is in position 1. A factor of the design, recorded and never drawn at random."""

    AB = "ab"
    BA = "ba"


def position_of(candidate: int, order: Order) -> int:
    """Returns the position, 1 or 2, in which the first candidate, 0, or the second, 1, is shown."""
    return 1 if (candidate == 0) == (order is Order.AB) else 2


@dataclass(frozen=True, slots=True)
class Presentation:
    """How a stimulus is shown: a set of factors, each a field. A factor is a column wherever trials are stored.

    A new factor needs a field here, a value for it in a protocol's design, and a judge that uses it.
    """

    order: Order = Order.AB
    variant: str = BASELINE
    """The criterion variant: which instruction about ties the judge was given."""
    repeat: int = 0
    seed: int | None = None
    """Sent instead of the judge's own decoding seed; None leaves that unchanged."""
    layout: Layout | None = None
    """What the candidates are called and how the answers are listed; None leaves that as the prompt has it."""
    sampling: str = ""
    """Parameters of sampling that are sent instead of the judge's own, as JSON: `{"temperature":1.0}`. Empty: none."""
    levels: str = ""
    """The levels of an ordinal scale to grade on instead of the judge's own, worst first, as JSON. Empty: none."""
    prompt: str = ""
    """The name of the prompt that is used instead of the variant's, in the judge's `test_prompts`. Empty: none."""

    @property
    def question(self) -> "Presentation":
        """The presentation without its repeat: what decides the request, so that repeats of it are equal."""
        return replace(self, repeat=0) if self.repeat else self

    @property
    def pair(self) -> "Presentation":
        """The presentation without its order: what both orders of one pair have in common."""
        return replace(self, order=Order.AB)

    def scale(self, own: GradeScale | None) -> GradeScale | None:
        """Returns the scale that an answer is on: the levels that were offered, or else the judge's own."""
        return _ordinal(self.levels) if self.levels else own


# A study has few rubrics, and many trials under each.
@lru_cache(maxsize=64)
def _ordinal(levels: str) -> GradeScale:
    return GradeScale("ordinal", tuple(json.loads(levels)))


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
