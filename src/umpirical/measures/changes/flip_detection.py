"""Flip detection: a change that matters moves the verdict the right way."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import flipped_share


def flip_detection(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the verdict moves as the gold label does), on texts that were changed so that it should.

    Formula: moved / golden. On a scale with order the grade on the changed text has to lie on the side of the original
    grade on which the gold label of the changed text lies; without order, the verdict has to change to that label. A
    judge that is wrong on both texts may still move: read right on both beside it. Level: item with a verdict and a
    gold label on both texts. Bounds: 0 to 1, lower is worse. Not given if the study has no such test. Undefined where
    no item has all four. Interval: cluster-Wilson over clusters of items.
    """
    return flipped_share(SPEC.name, tallies, arm, lambda tally: tally.moved)


SPEC = MeasureSpec(
    name="flip-detection",
    title="Flip detection",
    about="How often its verdict moves the right way when the text is changed so that it should.",
    worse="lower",
    compute=flip_detection,
    kinds=("grade",),
    protocols=("stress",),
)
