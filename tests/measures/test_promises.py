"""Every measure of a `compare` judge, on runs with all families, repeats and two arms: the same promises by each."""

import inspect
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.recovery.outcome_sampling import sample_run
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import CallTally, PairTally, Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.simulation.judge import LatentJudge

SPECS = [spec for spec in MEASURES if "compare" in spec.kinds and not spec.name.startswith("carrier-")]
IDS = [spec.name for spec in SPECS]

JUDGE = LatentJudge(1.0, 0.7, 0.3, 0.7, 0.02, length_weight=0.5)
FAMILIES = {Family.DELTA0: 0.0, Family.LADDER: 1.0, Family.LENGTH: 0.0, Family.CONFLICT: 1.0, Family.SUBSET: 0.0}


def make(tasks: int, seed: int) -> Tallies:
    rng = np.random.default_rng(seed)
    run = sample_run(JUDGE, rng, tasks=tasks, repeats=2, arms={"strict": replace(JUDGE, criterion=1.2)})
    vacuum = [VacuumTally(f"t{n}", "baseline", "empty", 6, float(rng.binomial(6, 0.3)), 0) for n in range(tasks)]
    return replace(run, vacuum=tuple(vacuum))


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return make(20, 1)


@pytest.fixture(scope="module")
def many() -> Tallies:
    return make(80, 2)


def arm_of(spec) -> str:
    """A shift is not given for the baseline."""
    return "strict" if "-shift" in spec.name else "baseline"


def results(spec, tallies: Tallies, arm: str | None = None):
    return {measure.stratum: measure.result for measure in spec.compute(tallies, arm or arm_of(spec))}


PARTS = [field.name for field in fields(Tallies) if field.name not in ("scale", "positive")]
"""The tallies; the others say what a scale means."""


def only(tallies: Tallies, keep) -> Tallies:
    return Tallies(**{part: tuple(filter(keep, getattr(tallies, part))) for part in PARTS})


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_the_docstring_is_a_contract(spec):
    text = inspect.getdoc(spec.compute) or ""
    for part in ("Level:", "Undefined", "Interval:"):
        assert part in text, part
    assert re.search(r"Bounds:|Higher is worse", text)


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_there_is_a_value_with_an_interval_that_holds_it(spec, tallies):
    found = results(spec, tallies)
    assert found
    for stratum, result in found.items():
        if isinstance(result, Undefined):
            # Five requirements are not missed often enough for a d' with 80 calls.
            assert (spec.name, stratum) == ("d-prime", "5")
        elif spec.scale == "p-value":
            assert result.interval is None
            assert 0 <= result.value <= 1
        elif result.censoring == "none":
            assert result.interval.low - 1e-9 <= result.value <= result.interval.high + 1e-9
            assert result.interval.high > result.interval.low


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_the_scale_is_kept(spec, tallies):
    limits = {"rate": (0, 1), "difference": (-1, 1), "p-value": (0, 1), "ratio": (0, np.inf), "requirements": (0, 50)}
    low, high = limits.get(spec.scale, (-np.inf, np.inf))
    values = [result.value for result in results(spec, tallies).values() if isinstance(result, Estimate)]
    assert all(low <= value <= high for value in values)


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_nothing_counted_is_undefined_with_a_reason_never_a_number(spec):
    arms = ("baseline", "strict")
    empty = Tallies(
        vacuum=tuple(VacuumTally("t", arm, "empty", 0, 0.0, 3) for arm in arms),
        pairs=tuple(
            PairTally("t", a, family, step, 0, incomplete=2) for a in arms for family, step in FAMILIES.items()
        ),
        calls=tuple(CallTally("t", arm, Family.LADDER, "", 1.0, 8, unasked=8) for arm in arms),
    )
    found = results(spec, empty)
    assert found
    for result in found.values():
        assert isinstance(result, Undefined)
        assert result.reason
        assert sum(result.left_out.values()) > 0


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_one_task_is_undefined_because_it_has_no_interval(spec, tallies):
    for result in results(spec, only(tallies, lambda tally: tally.task_id == "t0")).values():
        assert isinstance(result, Undefined)
        # One task may also lack what is counted: a one-sided commit.
        assert "one task" in result.reason or "exactly one order" in result.reason


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_another_arm_is_not_mixed_in(spec, tallies):
    assert all(isinstance(result, Undefined) for result in results(spec, tallies, "no such arm").values())


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_the_order_of_tallies_does_not_matter(spec, tallies):
    turned = Tallies(**{part: getattr(tallies, part)[::-1] for part in PARTS})
    found, other = results(spec, tallies), results(spec, turned)
    assert list(found) == list(other)
    for stratum, result in found.items():
        if isinstance(result, Estimate):
            assert other[stratum].value == pytest.approx(result.value, rel=1e-4, abs=1e-6)
            if result.interval is not None:
                expected = (result.interval.low, result.interval.high)
                assert (other[stratum].interval.low, other[stratum].interval.high) == pytest.approx(
                    expected, rel=1e-3, abs=1e-5
                )


@pytest.mark.parametrize("spec", SPECS, ids=IDS)
def test_more_tasks_narrow_the_interval(spec, tallies, many):
    eight = {f"t{number}" for number in range(8)}
    few, more = results(spec, only(tallies, lambda tally: tally.task_id in eight)), results(spec, many)
    for stratum, result in few.items():
        if isinstance(result, Estimate) and result.interval is not None and None not in ends(result):
            low, high = ends(more[stratum])
            assert high - low < ends(result)[1] - ends(result)[0], stratum


def ends(estimate: Estimate) -> tuple[float | None, float | None]:
    return estimate.interval.low, estimate.interval.high
