"""Judgments: the reading of a response by the judge's parser."""

from dataclasses import dataclass

from umpirical.domain.responses import FailureKind
from umpirical.domain.scales import Choice

__all__ = ["Abstained", "Failed", "Grade", "Outcome", "Unparsed", "Verdict"]

Grade = str | float
"""A label of a nominal, binary or ordinal scale, or a value of an interval scale."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judge answered within its scale. Only this ever enters a rate as a verdict."""

    value: Choice | Grade
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Abstained:
    """The judge used the way out its instruction offers. No preference, but not a tie."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The judge answered, and the answer is not on its scale."""

    raw: str
    why: str


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no answer to read."""

    kind: FailureKind
    detail: str


Outcome = Verdict | Abstained | Unparsed | Failed
