"""Whether an instruction moves the tie rate at all, by permutation."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import NO_SHARED_PAIRS, Paired, shifts_by_step, sign_flip_result
from umpirical.stats.seeds import generator


def criterion_shift_test(tallies: Tallies, arm: str) -> list[Measure]:
    """P-value of the criterion shift, if arm and baseline could be exchanged within each task.

    Formula: two-sided sign-flip permutation of the differences of tie rates, task by task; all sign patterns for up to
    14 tasks that differ, otherwise 20,000 drawn from a fixed seed. Level: task; counts are those of the criterion
    shift. Bounds: 0 to 1; small values speak against an equal operating point. Not given for the baseline itself.
    Undefined where fewer than two tasks have answered pairs in both arms. Interval: none, since it is a test and not an
    estimate.
    """

    def test(paired: Paired, missing: dict[str, int], step: str) -> Result:
        rng = generator(0, SPEC.name, arm, step)
        return sign_flip_result(paired, unit="pair", empty=NO_SHARED_PAIRS, left_out=missing, rng=rng)

    return shifts_by_step(
        SPEC.name,
        tallies,
        arm,
        families=(Family.DELTA0, Family.LADDER),
        score=lambda tally: tally.tie_calls / 2,
        result=test,
    )


SPEC = MeasureSpec(
    name="criterion-shift-test",
    title="Criterion shift, permutation p",
    about="How surprising the criterion shift would be if the instruction moved nothing.",
    worse="depends",
    compute=criterion_shift_test,
    scale="p-value",
    between_arms=True,
)
