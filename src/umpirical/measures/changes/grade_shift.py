"""Grade shift: which way a change that should not matter moves the grade, and how far."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import change_tallies, shift_result
from umpirical.measures.estimates.items import by_part


def grade_shift(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean of grade on the changed text less grade on the original, by test, in steps of the scale.

    Formula: sum of differences / pairs; on a binary scale 0 is the first label and 1 the second, and the shift is a
    difference of shares. Verdicts that change as often up as down come to 0: the change rate sees those. Only for tests
    that should leave the verdict as it is. Level: item with a verdict on both texts. Bounds: plus and minus the number
    of steps of the scale; 0 is best. Not given if the study has no such test. Undefined on a scale without order, or
    where no item has both verdicts. Interval: score limits of what rose and of what fell, joined over clusters of
    items; where nothing moved it is as wide as 0 moves in that many items allow.
    """
    return by_part(
        SPEC.name,
        change_tallies(tallies, arm, "same-verdict"),
        arm,
        lambda chosen: shift_result(
            chosen, tallies.scale, level=0.95, method="score limits of rises and falls, joined over clusters"
        ),
    )


SPEC = MeasureSpec(
    name="grade-shift",
    title="Grade shift",
    about="How many steps a change of the text that should not matter moves its grade, up or down, on average.",
    worse="depends",
    compute=grade_shift,
    scale="steps",
    kinds=("grade",),
    protocols=("stress",),
)
