"""Attempts: what came of asking a generator for a stimulus, the rejected ones included."""

from dataclasses import dataclass

from umpirical.domain.stimuli import Stimulus

__all__ = ["Attempt", "CheckResult"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    check: str
    passed: bool
    found: str
    allowed: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that has been settled."""

    commission: str
    """Id of the stimulus that was wanted."""
    test: str
    number: int
    """Counted from 0 in its commission."""
    temperature: float
    text: str
    """What the generator wrote; empty where it refused."""
    checks: tuple[CheckResult, ...]
    opinions: tuple[str, ...]
    """What each validator said that was asked: a grade, `same`, `different`, or why it could not be read."""
    rejected: str
    """Why it is no stimulus; empty if it is one."""
    stimulus: Stimulus | None
    """Set if and only if it was not rejected."""

    def __post_init__(self) -> None:
        if (self.stimulus is None) != bool(self.rejected):
            raise ValueError("an attempt is a stimulus, or it was rejected for a reason")
