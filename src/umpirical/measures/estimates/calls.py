"""Shares of calls by outcome, over the whole of an arm in tier 1. The audit table has those of tier 2 as well."""

from collections.abc import Callable

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import TIER_2
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.measures.estimates.rates import Counted, clustered_rate

__all__ = ["call_share"]


def call_share(name: str, tallies: Tallies, arm: str, count: Callable[[CallTally], int]) -> list[Measure]:
    """A share of the calls that were made; planned calls not made yet are left out."""
    chosen = [tally for tally in tallies.calls if tally.arm == arm and tally.family not in TIER_2]
    result = clustered_rate(
        [Counted(tally.task_id, count(tally), tally.planned - tally.unasked) for tally in chosen],
        unit="call",
        empty="no call was made",
        left_out={"not asked yet": sum(tally.unasked for tally in chosen)},
    )
    return [Measure(name, result, arm)]
