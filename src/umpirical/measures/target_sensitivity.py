"""Target sensitivity: does it see a planted quality difference."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.pairs import pair_share
from umpirical.measures.spec import MeasureSpec

__all__ = ["SPEC", "target_sensitivity"]


def target_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the better answer is named), one measure per ladder step; a tie is not correct.

    Formula: correct calls / (2 · pairs), both orders of a pair together. Level: canonical pair, scoring 0, one half
    or 1. Bounds: 0 to 1, lower is worse. Undefined without a pair answered in both orders.
    Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equation 8.
    """
    ladder = [tally for tally in tallies.pairs if tally.arm == arm and tally.family == "ladder"]
    return [
        Measure(
            SPEC.name,
            pair_share((t for t in ladder if t.delta == delta), lambda tally: tally.correct_calls / 2),
            arm,
            f"{delta:g}",
        )
        for delta in sorted({tally.delta for tally in ladder})
    ]


SPEC = MeasureSpec(
    name="target-sensitivity",
    title="Target sensitivity",
    about="How often it names the answer that meets more requirements, by the size of the difference.",
    worse="lower",
    compute=target_sensitivity,
)
