"""Attempts: the results of asking a generator for a stimulus, including rejected ones."""

from dataclasses import dataclass

from umpirical.domain.stimuli import Stimulus


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    check: str
    passed: bool
    found: str
    allowed: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A settled attempt."""

    commission: str
    """Id of the stimulus that was wanted."""
    test: str
    number: int
    """Counted from 0 in its commission."""
    temperature: float
    text: str
    """What the generator wrote; empty if it refused."""
    checks: tuple[CheckResult, ...]
    opinions: tuple[str, ...]
    """What each validator said: a grade, `same`, `different`, or why its answer could not be read."""
    rejected: str
    """Why it did not become a stimulus; empty if it did."""
    stimulus: Stimulus | None
    """Set exactly if it was not rejected."""

    def __post_init__(self) -> None:
        if (self.stimulus is None) != bool(self.rejected):
            raise ValueError("an attempt is a stimulus, or it was rejected for a reason")
