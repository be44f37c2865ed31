"""Figure sensitivity: whether it sees which answer has more of the figures right."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import correct_pairs, share_by_step


def figure_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the answer with more right figures is preferred), one measure per step; a tie is not correct.

    Formula: as target sensitivity: correct calls / (2 · pairs), or for a `grade` judge the share of pairs whose better
    answer has the higher grade. A ladder of correctness: both answers state as much, and the givens decide which of
    their figures are right. Never pooled with the ladder of requests. Level: canonical pair, scoring 0, one half or 1;
    for a `grade` judge 0 or 1. Bounds: 0 to 1, lower is worse. Not given if the design has no ladder of figures.
    Undefined without a pair answered in both orders, or graded on both sides. Interval: cluster-Wilson over tasks.
    """
    return share_by_step(SPEC.name, correct_pairs(tallies, arm, Family.FIGURES), arm)


SPEC = MeasureSpec(
    name="figure-sensitivity",
    title="Figure sensitivity",
    about="How often it prefers the answer with more right figures, by the size of the difference.",
    worse="lower",
    compute=figure_sensitivity,
    kinds=("compare", "grade"),
)
