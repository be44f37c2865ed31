"""Shift equivalence: the interval that decides a claim of invariance."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import change_tallies, shift_result
from umpirical.measures.estimates.items import by_part

LEVEL = 0.90
"""Two one-sided tests at 5 % reject together if and only if this interval lies inside the margin."""


def shift_equivalence(tallies: Tallies, arm: str) -> list[Measure]:
    """The grade shift with its 90 % interval: two one-sided tests (TOST) at 5 %, by test, in steps of the scale.

    Formula: as the grade shift. The judge is shown to be invariant to a change, within a margin, if the whole interval
    lies inside plus and minus the margin; finding no shift shows nothing. It is about the net shift: invariance also
    requires a small excess change. Level: item with a verdict on both texts. Bounds: plus and minus the
    number of steps of the scale; 0 is best. Not given if the study has no such test. Undefined on a scale without
    order, or where no item has both verdicts. Interval: as for the grade shift, at 90 %.
    Reference: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
    """
    method = "TOST at 5 %: score limits of rises and falls, joined over clusters"
    return by_part(
        SPEC.name,
        change_tallies(tallies, arm, "same-verdict"),
        arm,
        lambda chosen: shift_result(chosen, tallies.scale, level=LEVEL, method=method),
    )


SPEC = MeasureSpec(
    name="shift-equivalence",
    title="Shift equivalence",
    about="The grade shift with the interval that has to lie inside a margin before it may be called invariant.",
    worse="depends",
    compute=shift_equivalence,
    scale="steps",
    kinds=("grade",),
    protocols=("stress",),
)
