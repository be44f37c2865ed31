"""Abstentions by test, and what they leave of the measures of change, by hand."""

import inspect

import pytest

from umpirical.domain.measures import Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import CallTally, ChangeTally, Tallies
from umpirical.measures.catalogue import MEASURES, measure_all
from umpirical.stats.intervals import cluster_wilson

SCALE = GradeScale("ordinal", tuple("123456"))


def calls(cluster, test, **counts):
    return CallTally(cluster, "baseline", test, "", None, sum(counts.values()), **counts)


SHY = Tallies(
    calls=(
        calls("a", "spacing", graded=1, abstained=3, unparsed=1),
        calls("b", "spacing", graded=3, abstained=3, failed=2),
        calls("a", Family.ORIGINAL, graded=5),
        calls("b", Family.ORIGINAL, graded=5, unasked=1),
    ),
    scale=SCALE,
)


def results(name, tallies):
    return {measure.stratum: measure.result for measure in MEASURES.get(name).compute(tallies, "baseline")}


def test_the_abstention_rate_is_of_answers_by_test_the_originals_first():
    found = results("abstention-rate", SHY)
    assert list(found) == [Family.ORIGINAL, "spacing"]
    spacing = found["spacing"]
    assert (spacing.value, spacing.numerator, spacing.denominator, spacing.unit) == (0.6, 6, 10, "call")
    assert spacing.excluded == {"unparsed": 1, "failed": 2}
    assert spacing.bounds == pytest.approx((6 / 13, 9 / 13))
    reference = cluster_wilson([3, 3], [4, 6])
    assert (spacing.interval.low, spacing.interval.high) == (reference.low, reference.high)
    assert (found[Family.ORIGINAL].value, found[Family.ORIGINAL].excluded) == (0, {"not asked yet": 1})


def test_it_is_a_measure_of_stress_tests():
    assert "abstention-rate" in {spec.name for spec, _ in measure_all(SHY, kind="grade", protocol="stress")}
    text = inspect.getdoc(MEASURES.get("abstention-rate").compute)
    assert all(part in text for part in ("Formula:", "Level:", "Undefined", "Interval:", "Bounds:"))


def test_without_an_answer_it_is_undefined():
    silent = Tallies(
        calls=(calls("a", Family.ORIGINAL, failed=3), calls("b", Family.ORIGINAL, unparsed=2)), scale=SCALE
    )
    result = results("abstention-rate", silent)[Family.ORIGINAL]
    assert isinstance(result, Undefined)
    assert result.excluded == {"failed": 3, "unparsed": 2}


def test_another_variant_is_not_mixed_in():
    assert MEASURES.get("abstention-rate").compute(SHY, "strict") == []


GAPS = Tallies(
    changes=(
        ChangeTally("a", "baseline", "spacing", "", "same-verdict", 3, changed=1.0, shift=2.0, distance=2.0, retested=3,
                    changed_retested=1.0, incomplete=2, changed_missing=2),
        ChangeTally("b", "baseline", "spacing", "", "same-verdict", 3, changed=1.0, shift=-1.0, distance=1.0,
                    retested=2, incomplete=3, changed_missing=1, original_missing=1),
    ),
    scale=SCALE,
)  # fmt: skip


def test_what_is_excluded_says_on_which_side_the_verdict_is_missing():
    expected = {
        "without a verdict on the changed text": 3,
        "without a verdict on the original": 1,
        "without a verdict on both texts": 1,
    }
    assert results("change-rate", GAPS)["spacing"].excluded == expected
    assert results("shift-equivalence", GAPS)["spacing"].excluded == expected


def test_the_bounds_of_a_shift_move_what_is_missing_over_the_whole_scale():
    # Net +1 over 6 pairs; 5 missing, each by up to 5 steps either way.
    for name in ("grade-shift", "shift-equivalence"):
        assert results(name, GAPS)["spacing"].bounds == pytest.approx((-24 / 11, 26 / 11))


def test_the_bounds_of_an_excess_count_what_is_missing_as_all_noise_and_as_all_change():
    # 1 of 5 retested; one more item was asked once; 5 missing. An item of pure noise counts -1/2.
    found = results("excess-change", GAPS)["spacing"]
    assert (found.numerator, found.denominator) == (1.0, 5)
    assert found.bounds == pytest.approx(((1 - 6 / 2) / 11, (1 + 6) / 11))


def test_where_nothing_is_missing_there_are_no_bounds():
    whole = Tallies(
        changes=tuple(ChangeTally(c, "baseline", "spacing", "", "same-verdict", 2, retested=2) for c in "ab"),
        scale=SCALE,
    )
    for name in ("excess-change", "shift-equivalence"):
        assert results(name, whole)["spacing"].bounds is None
