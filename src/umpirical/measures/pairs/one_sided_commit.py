"""One-sided commit: a preference in one order only."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import share_by_transform


def one_sided_commit(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of equal quality with a winner in exactly one order.

    Formula: one-sided / pairs. Pooled, and by the transform that makes the two answers differ. Apart from these, for
    two controls: answers that meet as many requirements but not the same (`different-subset`), and answers of which one
    is longer (`longer`). Level: canonical pair of equal quality, asked in both orders. Bounds: 0 to 1. Undefined
    without a pair answered in both orders. Interval: cluster-Wilson over tasks. Reference: the Dark Current paper,
    equation 5.
    """
    return share_by_transform(SPEC.name, tallies, arm, lambda tally: tally.one_sided)


SPEC = MeasureSpec(
    name="one-sided-commit",
    title="One-sided commit",
    about="How often it names a winner in one order and none in the other.",
    worse="depends",
    compute=one_sided_commit,
    symbol="OSC",
)
