"""Criterion shift: how an instruction moves the tie rate."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import NO_SHARED_PAIRS, Paired, difference_result, shifts_by_step


def criterion_shift(tallies: Tallies, arm: str) -> list[Measure]:
    """Tie rate of the arm minus that of the baseline, at equal quality (step 0) and on each ladder step.

    Formula: tie calls / (2 · pairs) in the arm, less the same in the baseline. At step 0 a rise is caution; above step
    0 it is signal lost to ties (the change of the miss-by-tie rate). Level: canonical pair, scoring 0, one half or 1;
    the denominator is the arm's. Bounds: -1 to 1. Not given for the baseline itself. Undefined where fewer than two
    tasks have answered pairs in both arms. Interval: cluster-Wilson limits of both rates, joined over the tasks they
    share (Newcombe's square-and-add).
    Reference: the Dark Current paper, equations 11 and 12.
    """
    return shifts_by_step(
        SPEC.name,
        tallies,
        arm,
        families=(Family.DELTA0, Family.LADDER),
        score=lambda tally: tally.tie_calls / 2,
        result=_difference,
    )


def _difference(paired: Paired, missing: dict[str, int], _step: str) -> Result:
    return difference_result(paired, unit="pair", empty=NO_SHARED_PAIRS, left_out=missing)


SPEC = MeasureSpec(
    name="criterion-shift",
    title="Criterion shift",
    about="How much more often it ties than under the baseline instruction, by the size of the difference.",
    worse="depends",
    compute=criterion_shift,
    scale="difference",
    between_arms=True,
    symbol="ΔC",
)
