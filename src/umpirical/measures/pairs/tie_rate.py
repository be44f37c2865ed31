"""Tie rate: the operating point. On a ladder step it is the miss-by-tie rate."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import count_pairs, share_by_step


def tie_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """How often neither answer is preferred, at equal quality (step 0) and on each ladder step.

    Formula: for a `compare` judge tie calls / (2 · pairs), where an abstention is an answer and no tie; for a `grade`
    judge the share of pairs with the same grade on both sides, as happens to small differences on a coarse scale.
    Level: canonical pair, scoring 0, one half or 1; for a `grade` judge 0 or 1. Bounds: 0 to 1; right at step 0, a miss
    above it. Undefined without a pair answered in both orders, or graded on both sides.
    Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equations 11 and 12; for grades, ours.
    """
    counts = count_pairs(
        tallies,
        arm,
        (Family.DELTA0, Family.LADDER),
        compared=lambda tally: tally.tie_calls / 2,
        graded=lambda tally: tally.equal,
    )
    return share_by_step(SPEC.name, counts, arm)


SPEC = MeasureSpec(
    name="tie-rate",
    title="Tie rate",
    about="How often it calls a tie, or gives both the same grade, by the size of the quality difference.",
    worse="depends",
    compute=tie_rate,
    kinds=("compare", "grade"),
    symbol="C",
    symbol_above_0="MBT",
)
