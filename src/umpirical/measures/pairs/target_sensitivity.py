"""Target sensitivity: whether it sees a planted quality difference."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import correct_pairs, share_by_step


def target_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the better answer is preferred), one measure per ladder step; a tie is not correct.

    Formula: for a `compare` judge correct calls / (2 · pairs), both orders of a pair together; for a `grade` judge the
    share of pairs whose better answer has the higher grade. Level: canonical pair, scoring 0, one half or 1; for a
    `grade` judge 0 or 1. Bounds: 0 to 1, lower is worse. Undefined without a pair answered in both orders, or graded
    on both sides. Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equation 8; for grades, ours.
    """
    return share_by_step(SPEC.name, correct_pairs(tallies, arm), arm)


SPEC = MeasureSpec(
    name="target-sensitivity",
    title="Target sensitivity",
    about="How often it prefers the answer that meets more requirements, by the size of the difference.",
    worse="lower",
    compute=target_sensitivity,
    kinds=("compare", "grade"),
    symbol="Pcorr",
)
