"""Measures by the size of the planted difference: one per step of the ladder."""

from collections.abc import Callable, Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import PairTally, Tallies

__all__ = ["by_step", "ladder_pairs"]


def ladder_pairs(tallies: Tallies, arm: str) -> list[PairTally]:
    return [tally for tally in tallies.pairs if tally.arm == arm and tally.family == "ladder"]


def by_step(
    name: str, chosen: Sequence[PairTally], arm: str, result: Callable[[Sequence[PairTally]], Result]
) -> list[Measure]:
    """`result` on the pairs of each step, whatever transforms they carry."""
    return [
        Measure(name, result([tally for tally in chosen if tally.delta == delta]), arm, f"{delta:g}")
        for delta in sorted({tally.delta for tally in chosen})
    ]
