"""ScoringMethods: ways to read a verdict from the responses of a `compare` judge.

Each is a judge configuration of its own, made from the same answers. What is known about a log-probability is a `Span`:
a label outside the listed tokens has an upper bound but no value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import Literal

from umpirical.domain.digests import digest
from umpirical.domain.scales import Choice

TARGET = 0.10
"""The default rate of false preferences that is acceptable."""

ScoringMethodName = Literal["text", "logprob", "both-orders", "order-averaged"]

Content = Literal["a", "b", "tie"]


@dataclass(frozen=True, slots=True)
class ScoringMethod:
    """One way to read a verdict."""

    name: ScoringMethodName
    about: str
    """What is read, in one sentence."""
    pairwise: bool
    """Whether one verdict is read from both orders of a pair together, so that no position can be preferred."""
    needs_logprobs: bool


SCORING_METHODS = (
    ScoringMethod("text", "The verdict that the parser reads in the answer.", pairwise=False, needs_logprobs=False),
    ScoringMethod(
        "logprob",
        "The label with the highest log-probability where the answer is decided.",
        pairwise=False,
        needs_logprobs=True,
    ),
    ScoringMethod(
        "both-orders",
        "The answer named in both orders; otherwise a tie.",
        pairwise=True,
        needs_logprobs=False,
    ),
    ScoringMethod(
        "order-averaged",
        "The answer that the log-odds favor, averaged over both orders; a tie within a band around 0.",
        pairwise=True,
        needs_logprobs=True,
    ),
)
"""All scoring methods, simplest first."""


@dataclass(frozen=True, slots=True)
class Span:
    """What is known about a number: the ends between which it lies, inclusive."""

    low: float
    """-inf if only an upper bound is known."""
    high: float

    def minus(self, other: "Span") -> "Span":
        return Span(self.low - other.high, self.high - other.low)

    @property
    def largest(self) -> float:
        return max(abs(self.low), abs(self.high))


def most_likely(labels: Mapping[str, Span]) -> str | None:
    """Returns the label that is certainly more likely than every other; None if that cannot be known."""
    best = max(labels, key=lambda label: labels[label].low)
    least = labels[best].low
    rivals = [span for label, span in labels.items() if label != best and (span.high > least or span.low == least)]
    return None if least == -inf or rivals else best


def slot_odds(labels: Mapping[str, Span]) -> Span:
    """Returns the log-odds of position 1 against position 2."""
    return labels[Choice.POSITION_1].minus(labels[Choice.POSITION_2])


def content_odds(uv: Span, vu: Span) -> Span:
    """Returns the log-odds of content a against b: the mean over orders, each given as the log-odds of position 1."""
    return Span((uv.low - vu.high) / 2, (uv.high - vu.low) / 2)


def preferred(odds: Span, *, band: float) -> Content | None:
    """Returns the content whose log-odds lie beyond the band, or a tie; None if what is known does not settle it."""
    if odds.low > band:
        return "a"
    if odds.high < -band:
        return "b"
    return "tie" if -band <= odds.low and odds.high <= band else None


def tie_band(sizes: Sequence[float], *, target: float) -> float:
    """Returns the narrowest band that leaves at most the share `target` of these log-odds outside, by their sizes.

    It is one of the sizes: nothing is interpolated, so the share on these very pairs meets the target. Infinite if too
    many sizes are.
    """
    if not sizes:
        raise ValueError("a tie band needs at least one pair")
    outside = floor(target * len(sizes) + 1e-9)
    return sorted(sizes)[len(sizes) - 1 - outside] if outside < len(sizes) else 0.0


def calibration_tasks(tasks: Iterable[str]) -> frozenset[str]:
    """Returns the half of the tasks that sets bands and chooses a scoring method; the other half is for reporting.

    It is the first half in the order of their digests, so that neither names nor results decide it.
    """
    known = sorted(set(tasks), key=lambda task: digest("half", task))
    return frozenset(known[: len(known) // 2])
