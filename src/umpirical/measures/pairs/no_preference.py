"""No preference: what should happen at equal quality."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import share_by_transform


def no_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of equal quality with a winner in neither order: ties, abstentions or one of each.

    Formula: pairs without a winner in either order / pairs. Pooled, and by the transform that makes the two answers
    differ. Apart from these, for two controls: answers that meet as many requirements but not the same
    (`different-subset`), and answers of which one is longer (`longer`). Level: canonical pair of equal quality, asked
    in both orders. Bounds: 0 to 1. Undefined without a pair answered in both orders. Interval: cluster-Wilson over
    tasks. Reference: the Dark Current paper, table 7.
    """
    return share_by_transform(SPEC.name, tallies, arm, lambda tally: tally.no_preference)


SPEC = MeasureSpec(
    name="no-preference",
    title="No preference",
    about="How often it ties (or abstains) in both orders on answers of equal quality.",
    worse="depends",
    compute=no_preference,
    symbol="NP",
)
