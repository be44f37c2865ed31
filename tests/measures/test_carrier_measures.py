"""Measures on carriers: by hand, and never pooled with pairs made from templates."""

from dataclasses import replace

import pytest

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import CallTally, GradePairTally, OutcomeTally, PairTally, Tallies
from umpirical.measures.catalogue import MEASURES, measure_all

ARM = "baseline"


def ladder(task, stratum, delta, pairs, **counts):
    return PairTally(task, ARM, Family.OWN_GRADED, delta, pairs, stratum=stratum, **counts)


def equal(task, stratum, pairs, **counts):
    return PairTally(task, ARM, Family.OWN_EQUAL, 0.0, pairs, stratum=stratum, **counts)


TIER_2 = (
    ladder("carrier:a", "deleted", 1.0, 1, correct_calls=2),
    ladder("carrier:b", "deleted", 1.0, 1, correct_calls=1, tie_calls=1),
    ladder("carrier:a", "deleted", 2.0, 1, correct_calls=2),
    ladder("carrier:b", "deleted", 2.0, 0, incomplete=1),
    ladder("carrier:a", "corrupted", 1.0, 1, wrong_calls=2),
    ladder("carrier:b", "corrupted", 1.0, 1, tie_calls=2),
    equal("carrier:a", "list", 1, stable=1),
    equal("carrier:b", "list", 1, one_sided=1, tie_calls=1),
    equal("carrier:a", "whitespace", 1, no_preference=1, tie_calls=2),
    equal("carrier:b", "whitespace", 1, positional=1),
)


def results(name, tallies):
    return {measure.stratum: measure.result for measure in MEASURES.get(name).compute(tallies, ARM)}


def test_sensitivity_by_hand():
    found = results("carrier-sensitivity", Tallies(pairs=TIER_2))
    assert list(found) == ["corrupted", "corrupted 1", "deleted", "deleted 1", "deleted 2"]
    deleted = found["deleted"]
    # (2 + 1 + 2) / 2 of 3 pairs; a fourth has no answer: 2.5/4 to 3.5/4.
    assert (deleted.numerator, deleted.denominator, deleted.clusters) == (2.5, 3, 2)
    assert deleted.excluded == {"without an answer in both orders": 1}
    assert deleted.bounds == pytest.approx((0.625, 0.875))
    assert (found["deleted 1"].numerator, found["deleted 1"].denominator) == (1.5, 2)
    assert found["corrupted"].value == 0
    assert isinstance(found["deleted 2"], Undefined)
    assert "one task" in found["deleted 2"].reason


def test_false_preference_by_hand():
    found = results("carrier-false-preference", Tallies(pairs=TIER_2))
    assert list(found) == ["", "list", "whitespace"]
    assert (found[""].numerator, found[""].denominator) == (2.5, 4)
    assert (found["list"].numerator, found["whitespace"].numerator) == (1.5, 1)


def test_both_by_hand_for_a_judge_that_grades():
    graded = (
        GradePairTally("carrier:a", ARM, Family.OWN_GRADED, "corrupted", 1.0, 2, better_higher=1, equal=1),
        GradePairTally("carrier:b", ARM, Family.OWN_GRADED, "corrupted", 1.0, 1, lesser_higher=1, incomplete=1),
        GradePairTally("carrier:a", ARM, Family.OWN_EQUAL, "list", 0.0, 1, better_higher=1),
        GradePairTally("carrier:b", ARM, Family.OWN_EQUAL, "list", 0.0, 1, equal=1),
    )
    tallies = Tallies(grade_pairs=graded)
    seen = results("carrier-sensitivity", tallies)["corrupted 1"]
    assert (seen.numerator, seen.denominator) == (1, 3)
    assert seen.excluded == {"without a grade for both answers": 1}
    assert results("carrier-false-preference", tallies)[""].numerator == 1


@pytest.mark.parametrize("name", ["carrier-sensitivity", "carrier-false-preference"])
def test_without_carriers_nothing_is_said_and_another_variant_is_not_mixed_in(name):
    assert results(name, Tallies(pairs=(PairTally("t", ARM, Family.EQUAL, 0.0, 2),))) == {}
    assert MEASURES.get(name).compute(Tallies(pairs=TIER_2), "strict") == []


@pytest.mark.parametrize("name", ["carrier-sensitivity", "carrier-false-preference"])
def test_without_an_answer_there_is_a_reason_and_no_number(name):
    empty = tuple(replace(tally, pairs=0, incomplete=2) for tally in TIER_2)
    found = results(name, Tallies(pairs=empty))
    assert found
    for result in found.values():
        assert isinstance(result, Undefined)
        assert sum(result.excluded.values()) > 0


def test_no_measure_of_tier_1_changes_when_carriers_are_there():
    ones = tuple(
        PairTally(
            f"t{n}", ARM, family, delta, 4, stable=1, one_sided=1, no_preference=2, correct_calls=3 if delta else 0,
            tie_calls=5, position_1_calls=2, position_2_calls=1, one_sided_position_1=1, one_sided_a=1,
            one_sided_a_position_1=1,
        )
        for n in range(6)
        for family, delta in ((Family.EQUAL, 0.0), (Family.GRADED, 1.0), (Family.GRADED, 3.0))
    )  # fmt: skip
    outcomes = tuple(
        OutcomeTally(f"t{n}", ARM, family, "", delta, 1.0, 0.0, (1, 0, 1, 0, 1, 1), 2)
        for n in range(6)
        for family, delta in ((Family.EQUAL, 0.0), (Family.GRADED, 1.0), (Family.GRADED, 3.0))
    )
    calls = tuple(
        CallTally(f"t{n}", ARM, Family.GRADED, "", 1.0, 8, position_1=6, failed=1, unparsed=1) for n in range(6)
    )
    alone = Tallies(pairs=ones, calls=calls, outcomes=outcomes)
    both = Tallies(
        pairs=ones + TIER_2,
        calls=(*calls, CallTally("carrier:a", ARM, Family.OWN_GRADED, "deleted", 1.0, 50, failed=50)),
        outcomes=(
            *outcomes,
            OutcomeTally("carrier:a", ARM, Family.OWN_GRADED, "deleted", 1.0, 3.0, -0.2, (2, 0, 0, 2, 0, 0), 9),
            OutcomeTally("carrier:b", ARM, Family.OWN_EQUAL, "list", 0.0, 4.0, 0.0, (1, 1, 0, 1, 1, 0), 9),
        ),
    )
    before = {
        (spec.name, measure.stratum): measure.result
        for spec, measure in measure_all(alone, kind="compare", protocol="datasheet")
    }
    after = {
        (spec.name, measure.stratum): measure.result
        for spec, measure in measure_all(both, kind="compare", protocol="datasheet")
    }
    assert any(isinstance(result, Estimate) for result in before.values())
    assert {key: after[key] for key in before} == before
    assert {(name, part) for name, part in after.keys() - before.keys() if not name.startswith("carrier-")} == {
        ("flip-rate", Family.OWN_GRADED),
        ("flip-rate", Family.OWN_EQUAL),
    }
