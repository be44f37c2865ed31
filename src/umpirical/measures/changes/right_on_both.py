"""Right on both: the original and its flipped version are both judged as they should be."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import flipped_share


def right_on_both(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the verdict is the gold label on the original and on the text that was changed to deserve another).

    Formula: right on both / golden. A judge that gives every text one label is right on at most one of the two, where
    its accuracy on either alone may be high. Level: item with a verdict and a gold label on both texts. Bounds: 0 to 1,
    lower is worse. Not given if the study has no such test. Undefined where no item has all four. Interval:
    cluster-Wilson over clusters of items.
    """
    return flipped_share(SPEC.name, tallies, arm, lambda tally: tally.right_on_both)


SPEC = MeasureSpec(
    name="right-on-both",
    title="Right on both",
    about="How often it is right both on a text and on its version changed to deserve another verdict.",
    worse="lower",
    compute=right_on_both,
    kinds=("grade",),
    protocols=("stress",),
)
