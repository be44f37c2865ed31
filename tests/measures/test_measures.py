"""The plain rates, by hand. What every measure promises is in the conformance kit, `testing.check_measure`."""

import pytest

from umpirical.domain.measures import Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import PairTally, Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES, MeasureSpec, measure_all


def results(spec: MeasureSpec, tallies: Tallies):
    return {measure.stratum: measure.result for measure in spec.compute(tallies, "baseline")}


def test_names_are_those_of_the_registry():
    assert [spec.name for spec in MEASURES] == MEASURES.names()


@pytest.mark.parametrize(
    ("kind", "protocol"), [("compare", "datasheet"), ("grade", "datasheet"), ("grade", "stress"), ("grade", "agents")]
)
def test_kind_and_protocol_are_asked_for_and_not_guessed(kind, protocol):
    tallies = Tallies(pairs=tuple(PairTally(task, "baseline", Family.EQUAL, 0.0, 4, stable=4) for task in "abc"))
    asked = {spec.name for spec, _ in measure_all(tallies, kind=kind, protocol=protocol)}
    assert asked <= {spec.name for spec in MEASURES if spec.is_for(kind, protocol)}
    assert ("no-preference" in asked) == (kind == "compare")
    assert ("accuracy" in asked) == (protocol == "stress")


def test_by_hand():
    pairs = [
        PairTally("a", "baseline", Family.EQUAL, 0.0, 4, stable=1, positional=2, one_sided=1, tie_calls=1),
        PairTally(
            "b",
            "baseline",
            Family.EQUAL,
            0.0,
            4,
            positional=1,
            one_sided=1,
            no_preference=2,
            tie_calls=5,
            incomplete=2,
        ),
        PairTally("a", "baseline", Family.GRADED, 1.0, 2, correct_calls=3, tie_calls=1),
        PairTally("b", "baseline", Family.GRADED, 1.0, 2, correct_calls=1, wrong_calls=2, tie_calls=1),
    ]
    tallies = Tallies(pairs=tuple(pairs))
    raw = results(MEASURES.get("raw-false-preference"), tallies)[""]
    # (1 + 2 + 1/2) + (1 + 1/2) = 5 of 8 pairs; two pairs left out: 5/10 to 7/10.
    assert (raw.numerator, raw.denominator, raw.excluded) == (5, 8, {"without an answer in both orders": 2})
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
    assert found[""].excluded == {"without an answer": 1}
    assert (found["empty"].numerator, found["empty"].denominator) == (1.5, 2)
    assert isinstance(found["identical"], Undefined)


def test_at_0_the_planning_interval_is_given():
    pairs = tuple(
        PairTally(f"t{n}", "baseline", Family.EQUAL, 0.0, 6, no_preference=6, tie_calls=12) for n in range(10)
    )
    result = results(MEASURES.get("stable-cross-sensitivity"), Tallies(pairs=pairs))[""]
    assert result.design_effect is None
    assert result.planning_interval.high > result.interval.high


def test_other_conflict_is_what_has_no_other_name():
    """Of 20 pairs, 8 + 10 are stable, positional, one-sided or without preference."""
    named = {"positional": 1, "one_sided": 2, "no_preference": 3}
    one = PairTally("a", "baseline", "equal", 0.0, 10, stable=2, **named)
    two = PairTally("b", "baseline", "equal", 0.0, 10, stable=4, **named)
    [found] = MEASURES.get("other-conflict").compute(Tallies(pairs=(one, two)), "baseline")
    assert (found.result.numerator, found.result.denominator) == (2, 20)


@pytest.mark.parametrize(
    ("name", "stratum", "symbol"),
    [("tie-rate", "0", "C"), ("tie-rate", "1", "MBT"), ("tie-rate", "0.25", "MBT"), ("dark-current", "empty", "DC")],
)
def test_the_paper_has_a_name_of_its_own_for_a_tie_on_a_step(name, stratum, symbol):
    assert MEASURES.get(name).symbol_at(stratum) == symbol
