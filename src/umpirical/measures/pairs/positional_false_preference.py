"""Positional false preference: a preference that follows the slot."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import share_by_transform


def positional_false_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of equal quality in which the same slot won in both orders, so that the content changed.

    Formula: positional / pairs. Pooled, and by the transform that makes the two answers differ. Apart from these, for
    two controls: answers that meet as many requirements but not the same (`different-subset`), and answers of which one
    is longer (`longer`). Level: canonical pair of equal quality, asked in both orders. Bounds: 0 to 1. Undefined
    without a pair answered in both orders. Interval: cluster-Wilson over tasks. Reference: the Dark Current paper,
    equation 4.
    """
    return share_by_transform(SPEC.name, tallies, arm, lambda tally: tally.positional)


SPEC = MeasureSpec(
    name="positional-false-preference",
    title="Positional false preference",
    about="How often it names the same slot in both orders, whatever is in it.",
    worse="higher",
    compute=positional_false_preference,
    symbol="PFP",
)
