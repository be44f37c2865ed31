"""Natural pairs, of which nobody planted which answer is better: as a whole, and by group of the user's data."""

from collections.abc import Callable, Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.estimates.pairs import pair_share, slot_share

NATURAL = "natural"
"""The family of such pairs. The stratum of a tally of them is a group, `subset=math`; empty for all pairs."""

Score = Callable[[PairTally], float]


def natural_shares(name: str, tallies: Tallies, arm: str, score: Score) -> list[Measure]:
    """A share of the pairs, each asked in both orders; all of them first, then each group."""
    return by_group(name, tallies, arm, lambda chosen: pair_share(chosen, score))


def natural_slots(name: str, tallies: Tallies, arm: str, score: Score) -> list[Measure]:
    """A share of the calls, two to a pair; those on all pairs first, then those on each group."""
    return by_group(name, tallies, arm, lambda chosen: slot_share(chosen, score))


def by_group(name: str, tallies: Tallies, arm: str, result: Callable[[Sequence[PairTally]], Result]) -> list[Measure]:
    """One measure for all pairs, even if there is none, and one for each group there is."""
    own = [tally for tally in tallies.pairs if tally.arm == arm and tally.family == NATURAL]
    groups = sorted({"", *(tally.stratum for tally in own)})
    return [
        Measure(name, result([tally for tally in own if tally.stratum == group]), arm, group=group) for group in groups
    ]
