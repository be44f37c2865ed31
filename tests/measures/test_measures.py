"""Every registered measure: the same promises, kept by each."""

import inspect
import re

import numpy as np
import pytest

from tests.recovery.sampling import sample_tallies
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.tallies import CallTally, PairTally, Tallies, VacuumTally
from umpirical.measures.spec import MEASURES, MeasureSpec
from umpirical.stats.latent import LatentJudge

SPECS = list(MEASURES)
JUDGE = LatentJudge(1.2, 0.6, 0.4, 0.8, 0.02, 1.0)


@pytest.fixture(scope="module")
def tallies() -> Tallies:
    return sample_tallies(JUDGE, np.random.default_rng(1), tasks=15, unparsed=0.1)


def results(spec: MeasureSpec, tallies: Tallies):
    return {measure.stratum: measure.result for measure in spec.compute(tallies, "baseline")}


def test_names_are_those_of_the_registry():
    assert [spec.name for spec in SPECS] == MEASURES.names()


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_docstring_is_a_contract(spec):
    text = inspect.getdoc(spec.compute) or ""
    for part in ("Level:", "Undefined", "Interval:"):
        assert part in text, part
    assert re.search(r"Bounds:|Higher is worse", text)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_nothing_counted_is_undefined_with_a_reason_never_a_number(spec):
    empty = Tallies(
        vacuum=(VacuumTally("t", "baseline", "empty", 0, 0.0, 3),),
        pairs=(
            PairTally("t", "baseline", "delta0", 0.0, 0, incomplete=2),
            PairTally("t", "baseline", "ladder", 1.0, 0, incomplete=4),
        ),
        calls=(CallTally("t", "baseline", "ladder", "", 1.0, 8, unasked=8),),
    )
    found = results(spec, empty)
    assert found
    for result in found.values():
        assert isinstance(result, Undefined)
        assert result.reason
        assert sum(result.left_out.values()) > 0


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_one_task_is_undefined_because_it_has_no_interval(spec, tallies):
    one = Tallies(
        *(tuple(t for t in group if t.task_id == "t0") for group in (tallies.vacuum, tallies.pairs, tallies.calls))
    )
    for result in results(spec, one).values():
        assert isinstance(result, Undefined)
        assert "one task" in result.reason


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_another_arm_is_not_mixed_in(spec, tallies):
    assert all(isinstance(result, Undefined) for result in results_for_arm(spec, tallies, "strict").values())


def results_for_arm(spec, tallies, arm):
    return {measure.stratum: measure.result for measure in spec.compute(tallies, arm)}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_the_order_of_tallies_does_not_matter(spec, tallies):
    turned = Tallies(tallies.vacuum[::-1], tallies.pairs[::-1], tallies.calls[::-1])
    for stratum, result in results(spec, tallies).items():
        other = results(spec, turned)[stratum]
        assert isinstance(result, Estimate)
        assert other.value == pytest.approx(result.value)
        assert other.interval.low == pytest.approx(result.interval.low)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_more_tasks_narrow_the_interval(spec):
    few, many = (sample_tallies(JUDGE, np.random.default_rng(2), tasks=tasks, unparsed=0.1) for tasks in (12, 300))
    for stratum, result in results(spec, few).items():
        other = results(spec, many)[stratum]
        if result.interval.high is not None and result.interval.low is not None:
            assert other.interval.high - other.interval.low < result.interval.high - result.interval.low


def test_by_hand():
    pairs = [
        PairTally("a", "baseline", "delta0", 0.0, 4, stable=1, positional=2, one_sided=1, tie_calls=1),
        PairTally(
            "b", "baseline", "delta0", 0.0, 4, positional=1, one_sided=1, no_preference=2, tie_calls=5, incomplete=2
        ),
        PairTally("a", "baseline", "ladder", 1.0, 2, correct_calls=3, tie_calls=1),
        PairTally("b", "baseline", "ladder", 1.0, 2, correct_calls=1, wrong_calls=2, tie_calls=1),
    ]
    tallies = Tallies(pairs=tuple(pairs))
    raw = results(MEASURES.get("raw-false-preference"), tallies)[""]
    # (1 + 2 + 1/2) + (1 + 1/2) = 5 of 8 pairs; two pairs left out: 5/10 to 7/10.
    assert (raw.numerator, raw.denominator, raw.left_out) == (5, 8, {"without an answer in both orders": 2})
    assert raw.bounds == pytest.approx((0.5, 0.7))
    target = results(MEASURES.get("target-sensitivity"), tallies)["1"]
    assert (target.numerator, target.denominator) == (2, 4)
    ties = results(MEASURES.get("tie-rate"), tallies)
    assert (ties["0"].numerator, ties["1"].numerator) == (3, 1)


def test_dark_current_counts_a_repeated_prompt_once():
    vacuum = (
        VacuumTally("a", "baseline", "empty", 1, 0.5, 0),
        VacuumTally("b", "baseline", "empty", 1, 1.0, 0),
        VacuumTally("b", "baseline", "identical", 2, 0.0, 1),
    )
    found = results(MEASURES.get("dark-current"), Tallies(vacuum=vacuum))
    assert (found[""].numerator, found[""].denominator) == (1.5, 4)
    assert found[""].left_out == {"without an answer": 1}
    assert (found["empty"].numerator, found["empty"].denominator) == (1.5, 2)
    assert isinstance(found["identical"], Undefined)


def test_at_0_the_planning_interval_is_given():
    pairs = tuple(PairTally(f"t{n}", "baseline", "delta0", 0.0, 6, no_preference=6, tie_calls=12) for n in range(10))
    result = results(MEASURES.get("stable-cross-sensitivity"), Tallies(pairs=pairs))[""]
    assert result.design_effect is None
    assert result.planning_interval.high > result.interval.high
