"""Pairs made of carriers, which are real answers of the user's: tier 2, apart from all that templates made."""

from dataclasses import replace

from umpirical.domain.tallies import GradePairTally, PairTally, Tallies

__all__ = ["carrier_strata", "only_stratum"]


def carrier_strata(tallies: Tallies, arm: str, family: str) -> list[str]:
    """The parts of a family of carrier pairs, whichever kind of judge was asked."""
    asked: list[PairTally | GradePairTally] = [*tallies.pairs, *tallies.grade_pairs]
    return sorted({tally.stratum for tally in asked if tally.arm == arm and tally.family == family})


def only_stratum(tallies: Tallies, stratum: str) -> Tallies:
    """The pairs of one part, which counting by family would put together."""
    return replace(
        tallies,
        pairs=tuple(tally for tally in tallies.pairs if tally.stratum == stratum),
        grade_pairs=tuple(tally for tally in tallies.grade_pairs if tally.stratum == stratum),
    )
