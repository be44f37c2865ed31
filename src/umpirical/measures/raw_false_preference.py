"""Raw false preference: any winner at equal quality, whatever the reason."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.pairs import delta0_share
from umpirical.measures.spec import MeasureSpec

__all__ = ["SPEC", "false_preference", "raw_false_preference"]


def raw_false_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean over pairs of equal quality of the share of its two orders that named a winner.

    Formula: (stable + positional + one-sided / 2) / pairs. A mixture, not a mechanism: its parts are measures of
    their own. Level: canonical pair, scoring 0, one half or 1. Bounds: 0 to 1, higher is worse.
    Undefined without a pair answered in both orders. Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equations 2 and 7.
    """
    return delta0_share(SPEC.name, tallies, arm, false_preference)


def false_preference(tally: PairTally) -> float:
    """Pairs' worth of named winners: a one-sided commit is one call of two."""
    return tally.stable + tally.positional + tally.one_sided / 2


SPEC = MeasureSpec(
    name="raw-false-preference",
    title="Raw false preference",
    about="How often it names a winner between two equally good answers.",
    worse="higher",
    compute=raw_false_preference,
)
