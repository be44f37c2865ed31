"""Judgments: the reading of a response by the judge's parser."""

from dataclasses import dataclass
from typing import Literal

from umpirical.domain.responses import FailureKind
from umpirical.domain.scales import Choice

Grade = str | float
"""A label of a nominal, binary or ordinal scale, or a value of an interval scale."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge answered on its scale. Only this ever counts as a verdict in a rate."""

    value: Choice | Grade
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Abstained:
    """The judge used the way out that its instruction offers. It is no preference, but not a tie either."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The judge answered, but the answer is not on its scale."""

    raw: str
    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no answer to read."""

    kind: FailureKind
    detail: str


ReasoningFinding = Literal["agrees", "contradicts", "states-none"]
"""What the reasoning of an answer says of the verdict that was read from it."""

Outcome = Verdict | Abstained | Unparsed | Failed
