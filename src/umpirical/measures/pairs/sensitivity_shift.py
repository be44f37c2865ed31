"""Sensitivity shift: how an instruction moves the rate of correct answers."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import NO_SHARED_PAIRS, Paired, difference_result, shifts_by_step


def sensitivity_shift(tallies: Tallies, arm: str) -> list[Measure]:
    """Target sensitivity of the arm minus that of the baseline, on each ladder step.

    Formula: correct calls / (2 · pairs) in the arm, less the same in the baseline. Level: canonical pair, scoring 0,
    one half or 1; the denominator is the arm's. Bounds: -1 to 1, lower is worse. Not given for the baseline itself.
    Undefined where fewer than two tasks have answered pairs in both arms.
    Interval: cluster-Wilson limits of both rates, joined over the tasks they share (Newcombe's square-and-add).
    Reference: the Dark Current paper, equations 8 and 11.
    """
    return shifts_by_step(
        SPEC.name,
        tallies,
        arm,
        families=(Family.LADDER,),
        score=lambda tally: tally.correct_calls / 2,
        result=_difference,
    )


def _difference(paired: Paired, missing: dict[str, int], _step: str) -> Result:
    return difference_result(paired, unit="pair", empty=NO_SHARED_PAIRS, left_out=missing)


SPEC = MeasureSpec(
    name="sensitivity-shift",
    title="Sensitivity shift",
    about="How much more often it names the better answer than under the baseline instruction.",
    worse="lower",
    compute=sensitivity_shift,
    scale="difference",
    between_arms=True,
)
