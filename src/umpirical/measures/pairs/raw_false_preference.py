"""Raw false preference: any preference at equal quality, whatever the reason."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import count_pairs, counted_share, different_grades, false_preference


def raw_false_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """How often one of two equally good answers is preferred.

    Formula: for a `compare` judge (stable + positional + one-sided / 2) / pairs, the mean over pairs of the share of
    the two orders that named a winner; for a `grade` judge the share of pairs with different grades. A mixture, not a
    mechanism: its parts are measures of their own. Level: canonical pair, scoring 0, one half or 1; for a `grade` judge
    0 or 1. Bounds: 0 to 1, higher is worse. Undefined without a pair answered in both orders, or graded on both sides.
    Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equations 2 and 7; for grades, ours.
    """
    counts = count_pairs(tallies, arm, (Family.DELTA0,), compared=false_preference, graded=different_grades)
    return [Measure(SPEC.name, counted_share(counts), arm)]


SPEC = MeasureSpec(
    name="raw-false-preference",
    title="Raw false preference",
    about="How often it names a winner between two equally good answers, or grades them differently.",
    worse="higher",
    compute=raw_false_preference,
    kinds=("compare", "grade"),
    symbol="RFP0",
)
