"""Tie rate: the operating point. On a ladder step it is the miss-by-tie rate."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.pairs import pair_share
from umpirical.measures.spec import MeasureSpec

__all__ = ["SPEC", "tie_rate"]


def tie_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls without a named winner, at equal quality (step 0) and on each ladder step.

    Formula: (tie or abstained) calls / (2 · pairs). Level: canonical pair, scoring 0, one half or 1. Bounds: 0 to 1;
    right at step 0, a miss above it. Undefined without a pair answered in both orders.
    Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equations 11 and 12.
    """
    steps = [tally for tally in tallies.pairs if tally.arm == arm and tally.family in ("delta0", "ladder")]
    return [
        Measure(
            SPEC.name,
            pair_share((t for t in steps if t.delta == delta), lambda tally: tally.tie_calls / 2),
            arm,
            f"{delta:g}",
        )
        for delta in sorted({tally.delta for tally in steps})
    ]


SPEC = MeasureSpec(
    name="tie-rate",
    title="Tie rate",
    about="How often it names no winner, by the size of the quality difference.",
    worse="depends",
    compute=tie_rate,
)
