"""The isotonic threshold on the crossed ladder: true values below, just above and far above one requirement.

What is recovered is where the true curve, known at the ladder's steps and joined by straight lines, reaches .75: the
same thing that the measure reports. As many tasks as the size `standard` has, with three crossed pairs of two pairs
each.
"""

import numpy as np
import pytest

from tests.recovery.sampling import pair_tally, sample_choices
from tests.recovery.test_signal_recovery import judge_with
from umpirical.domain.measures import Estimate
from umpirical.domain.tallies import Tallies
from umpirical.measures.sensitivity import detection_threshold
from umpirical.stats.isotonic import threshold
from umpirical.stats.simulation.judge import correct_rate
from umpirical.stimuli.controlled.datasheet_set import RECIPES

SIZE = RECIPES["standard"]
STEPS = sorted(set(SIZE.steps))
QUADS = int(SIZE.quads)


def sample_run(judge, rng, *, spread: float) -> Tallies:
    pairs = []
    for task in range(SIZE.tasks):
        k = judge.resolution * np.exp(spread * rng.standard_normal())
        for place in range(QUADS):
            step = SIZE.steps[(task * QUADS + place) % len(SIZE.steps)]
            choices = sample_choices(judge, np.full(2, step), rng, resolution=k)
            pairs.append(pair_tally(f"t{task}", step, *choices))
    return Tallies(pairs=tuple(pairs))


def covers(estimate: Estimate, true: float) -> bool:
    limits = estimate.interval
    return limits is None or (
        (limits.low is None or limits.low <= true) and (limits.high is None or true <= limits.high)
    )


@pytest.mark.parametrize("runs", [60, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("spread", [0.0, 0.25], ids=["alike", "varied"])
@pytest.mark.parametrize("true_value", [0.4, 1.2, 3.5])
def test_a_planted_threshold_is_recovered(true_value, spread, runs):
    judge = judge_with(true_value)
    true = threshold(STEPS, [float(rate) for rate in correct_rate(judge, STEPS)], target=0.75).value
    rng = np.random.default_rng(round(100 * true_value))
    found = [
        detection_threshold.compute(sample_run(judge, rng, spread=spread), "baseline")[0].result for _ in range(runs)
    ]
    coverage = np.mean([covers(result, true) for result in found])
    # Below .93 by no more than chance makes of so many runs.
    assert coverage >= 0.93 - 3 * np.sqrt(0.95 * 0.05 / runs)
    # The median of an isotonic crossing is next to unbiased; its mean leans by a few percent.
    assert np.median([result.value for result in found]) == pytest.approx(true, rel=0.08)
