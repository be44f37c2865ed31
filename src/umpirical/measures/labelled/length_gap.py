"""Length gap: right where the longer answer is right, and wrong where it is wrong."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import difference_result, paired_by_task
from umpirical.measures.estimates.natural import NATURAL
from umpirical.measures.estimates.pairs import UNANSWERED
from umpirical.measures.estimates.rates import Counted

LONGER_CHOSEN, LONGER_REJECTED = "longer=chosen", "longer=rejected"
"""Groups of labelled pairs, by the answer that has more characters."""


def length_gap(tallies: Tallies, arm: str) -> list[Measure]:
    """Accuracy with both orders where the longer answer is the chosen one, less that where it is the rejected one.

    Formula: both correct / pairs of the one group, less that of the other. A judge that takes the longer answer has 1,
    whatever its accuracy. It is no proof of a taste for length: the pairs of the two groups differ in more than that.
    Level: labelled pair whose answers differ in length. Bounds: -1 to 1; 0 is no gap. Not given without labelled pairs.
    Undefined without two clusters of pairs answered in both orders in each group. Interval: cluster-Wilson limits of
    both shares, joined over tasks (Newcombe's square-and-add).
    """
    own = [tally for tally in tallies.pairs if tally.arm == arm and tally.family == NATURAL]
    longer, shorter = ([t for t in own if t.stratum == group] for group in (LONGER_CHOSEN, LONGER_REJECTED))
    if not longer and not shorter:
        return []
    found = difference_result(
        paired_by_task(_counted(longer), _counted(shorter), shared=False),
        unit="pair",
        empty="no pair in one of the groups has an answer in both orders",
        left_out={UNANSWERED: sum(tally.incomplete for tally in (*longer, *shorter))},
    )
    return [Measure(SPEC.name, found, arm)]


def _counted(chosen: list[PairTally]) -> list[Counted]:
    return [Counted(tally.cluster, tally.both_correct, tally.pairs) for tally in chosen]


SPEC = MeasureSpec(
    name="length-gap",
    title="Length gap",
    about="How much more often it is right in both orders where the longer answer is the chosen one.",
    worse="depends",
    compute=length_gap,
    scale="difference",
    protocols=("pairs",),
)
