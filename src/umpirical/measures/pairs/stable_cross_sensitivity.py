"""Stable cross-sensitivity: a preference for surface form that survives the swap."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import share_by_transform


def stable_cross_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of equal quality in which the same content won in both orders.

    Formula: stable / pairs. Pooled, and by the transform that makes the two answers differ. Apart from these, for two
    controls: answers that meet as many requirements but not the same (`different-subset`), and answers of which one is
    longer (`longer`). Bad where the task does not ask for a form. Level: canonical pair of equal quality, asked in both
    orders. Bounds: 0 to 1. Undefined without a pair answered in both orders. Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equation 3.
    """
    return share_by_transform(SPEC.name, tallies, arm, lambda tally: tally.stable)


SPEC = MeasureSpec(
    name="stable-cross-sensitivity",
    title="Stable cross-sensitivity",
    about="How often it prefers the same wording in both orders, though both answers are equally good.",
    worse="depends",
    compute=stable_cross_sensitivity,
    symbol="SCS",
)
