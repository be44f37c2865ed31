"""What every measure of a `compare` judge promises on controlled stimuli, in runs with all families and two variants.

What every measure of any judge promises is in the conformance kit, `umpirical.testing.check_measure`.
"""

from dataclasses import replace

import numpy as np
import pytest

from tests.recovery.outcome_sampling import sample_run
from tests.recovery.quad_sampling import sample_quads
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.simulation.judge import LatentJudge
from umpirical.testing.sample_tallies import PARTS, of_task, parts_of_tasks

LAYOUT = ("slot-effect", "label-effect", "list-effect", "tie-place-effect")
"""Not drawn here: see `test_layout_measures.py` and `tests/recovery/test_layout_recovery.py`."""

SPECS = [
    spec
    for spec in MEASURES
    if spec.is_for("compare", "datasheet") and not spec.name.startswith("carrier-") and spec.name not in LAYOUT
]
IDS = [spec.name for spec in SPECS]

JUDGE = LatentJudge(1.0, 0.7, 0.3, 0.7, 0.02, length_weight=0.5)


def make(tasks: int, seed: int) -> Tallies:
    rng = np.random.default_rng(seed)
    variants = {"strict": replace(JUDGE, criterion=1.2), "short": JUDGE, "example": JUDGE}
    run = sample_run(JUDGE, rng, tasks=tasks, repeats=2, variants=variants)
    vacuum = [VacuumTally(f"t{n}", "baseline", "empty", 6, float(rng.binomial(6, 0.3)), 0) for n in range(tasks)]
    figures, ladder, fine = (
        sample_quads(rng, families=tasks, per_family=4, correlation=0.05, family=family, steps=steps)
        for family, steps in ((Family.FIGURES, (1.0, 2.0)), (Family.GRADED, (1.0, 2.0)), (Family.FINE, (0.05, 0.25)))
    )
    shapes = {0.05: "sums/100", 0.25: "dates/20/shared"}
    quads = [replace(tally, cluster=f"t{tally.cluster[1:]}") for tally in (*figures.quads, *ladder.quads)]
    crossed = [replace(tally, cluster=f"t{tally.cluster[1:]}") for tally in figures.pairs]
    crossed += [replace(tally, cluster=f"t{tally.cluster[1:]}", stratum=shapes[tally.delta]) for tally in fine.pairs]
    parts = parts_of_tasks("baseline", name="t", tasks=tasks)
    return replace(run, vacuum=tuple(vacuum), quads=tuple(quads), pairs=(*run.pairs, *crossed), parts=parts)


OF_PARTS = {"missed-differences", "swap-reversals"}
"""Of parts of the test cases: a part may have a single task, and its bound is exact."""


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return make(20, 1)


@pytest.fixture(scope="module")
def many() -> Tallies:
    return make(80, 2)


def variant_of(spec) -> str:
    """A shift is not given for the baseline."""
    if spec.name == "complexity-shift":
        return "example"
    return "strict" if "-shift" in spec.name else "baseline"


def results(spec, tallies: Tallies):
    return {measure.stratum or measure.group: measure.result for measure in spec.compute(tallies, variant_of(spec))}


def only(tallies: Tallies, keep) -> Tallies:
    return Tallies(**{part: tuple(filter(keep, getattr(tallies, part))) for part in PARTS})


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_there_is_a_value_for_every_part(spec, tallies):
    found = results(spec, tallies)
    assert found
    for stratum, result in found.items():
        assert isinstance(result, Estimate), stratum


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_no_ratio_is_below_0_and_no_threshold_far_beyond_the_ladder(spec, tallies):
    low, high = {"ratio": (0, np.inf), "requirements": (0, 50)}.get(spec.scale, (-np.inf, np.inf))
    assert all(
        low <= result.value <= high for result in results(spec, tallies).values() if isinstance(result, Estimate)
    )


@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec.name not in OF_PARTS], ids=lambda spec: spec.name)
def test_one_task_is_undefined_because_it_has_no_interval(spec, tallies):
    for result in results(spec, of_task(tallies, "t0")).values():
        assert isinstance(result, Undefined)
        # One task may have no one-sided commit to count.
        assert "one task" in result.reason or "exactly one order" in result.reason


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_more_tasks_narrow_the_interval(spec, tallies, many):
    eight = {f"t{number}" for number in range(8)}
    few, more = results(spec, only(tallies, lambda tally: tally.cluster in eight)), results(spec, many)
    for stratum, result in few.items():
        if isinstance(result, Estimate) and result.interval is not None and None not in ends(result):
            low, high = ends(more[stratum])
            assert high - low < ends(result)[1] - ends(result)[0], stratum


def ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return estimate.interval.low, estimate.interval.high
