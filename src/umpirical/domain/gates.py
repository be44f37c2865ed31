"""Gates: what a stimulus set has to show before it may measure anything."""

from dataclasses import dataclass

__all__ = ["GateResult"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate, tried."""

    name: str
    """`lengths-match`, `trivial-judges`."""
    passed: bool
    found: str
    """What was found, in words, with counts."""
    allowed: str
    """What would pass."""
    blocks: bool = True
    """False: it is printed, and stops nothing."""
