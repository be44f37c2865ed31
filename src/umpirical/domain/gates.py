"""Gates: what a stimulus set must satisfy before it may measure anything."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of one gate."""

    name: str
    """For example `lengths-match` or `trivial-judges`."""
    passed: bool
    found: str
    """What was found, in words, with counts."""
    allowed: str
    """What would pass."""
    blocks: bool = True
    """If False, the result is only reported, and prevents nothing."""
