"""Verdicts on changed texts, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student_t

from umpirical.domain.measures import Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.stats.differences import signed_mean
from umpirical.stats.intervals import cluster_wilson

SCALE = GradeScale("ordinal", tuple("123456"))


def same(cluster, pairs, test="format", group="", **counts):
    return ChangeTally(cluster, "baseline", test, group, "same-verdict", pairs, **counts)


def flip(cluster, pairs, **counts):
    return ChangeTally(cluster, "baseline", "label-flip", "", "flipped-verdict", pairs, **counts)


BY_HAND = Tallies(
    changes=(
        # Two items: one moved up by two in every combination, one by one down in half of them.
        same("a", 2, changed=1.5, shift=1.5, distance=2.5, retested=2, retest_changed=0.5, changed_retested=1.5),
        same("b", 1, changed=0.0, retested=1, retest_changed=0.0),
        same("c", 1, changed=1.0, shift=-1.0, distance=1.0, incomplete=2),
        flip("a", 3, changed=2.0, moved=2.0, right_on_both=1.0, golden=2, shift=-5.0, distance=5.0),
        flip("b", 1, changed=1.0, moved=0.0, golden=1, incomplete=1),
    ),
    scale=SCALE,
)


def result(name, tallies=BY_HAND, stratum="format"):
    (found,) = [m.result for m in MEASURES.get(name).compute(tallies, "baseline") if m.stratum == stratum]
    return found


def test_the_change_rate():
    found = result("change-rate")
    assert (found.value, found.numerator, found.denominator, found.unit, found.clusters) == (0.625, 2.5, 4, "item", 3)
    assert found.excluded == {"without a verdict on both texts": 2}
    # Two of six items unknown: 2.5/6 to 4.5/6.
    assert found.bounds == pytest.approx((2.5 / 6, 4.5 / 6))
    reference = cluster_wilson([1.5, 0, 1], [2, 1, 1])
    assert (found.interval.low, found.interval.high) == (reference.low, reference.high)
    assert found.design_effect == reference.design_effect


def test_the_excess_change_is_of_repeated_items_only():
    found = result("excess-change")
    # Cluster c was never repeated: (1.5 - 0.5 + 0) / 3.
    assert (found.value, found.numerator, found.denominator, found.clusters) == (pytest.approx(1 / 3), 1.0, 3, 2)
    assert found.excluded == {"without a verdict on both texts": 2, "answered once on one of the texts": 1}
    reference = signed_mean([1.0, 0.0], [0.0, 0.0], [2, 1])
    assert found.interval.low == max(-1.0, reference.low)
    assert found.interval.high == min(1.0, reference.high)


def test_a_change_that_asking_again_would_make_too_is_no_excess():
    noisy = replace(
        BY_HAND,
        changes=tuple(
            same(f"i{n}", 1, changed=0.5, retested=1, retest_changed=0.5, changed_retested=0.5) for n in range(30)
        ),
    )
    assert result("change-rate", noisy).value == 0.5
    found = result("excess-change", noisy)
    assert found.value == 0
    assert found.interval.low < 0 < found.interval.high


def test_verdicts_that_become_steadier_have_changed():
    """70/30 on the original, 100/0 on the changed text: (.3² + .3²) / 2; the original's retests alone give -.12."""
    steadier = tuple(
        same(f"i{n}", 1, changed=0.3, retested=1, retest_changed=(0.42 + 0.0) / 2, changed_retested=0.3)
        for n in range(300)
    )
    found = result("excess-change", replace(BY_HAND, changes=steadier))
    assert found.value == pytest.approx(0.09)
    assert found.interval.low > 0.05


def test_without_repeats_there_is_no_excess_and_the_reason_says_what_to_do():
    once = replace(BY_HAND, changes=tuple(replace(t, retested=0) for t in BY_HAND.changes))
    found = result("excess-change", once)
    assert isinstance(found, Undefined)
    assert "no item was answered twice on both texts" in found.reason
    assert found.excluded["answered once on one of the texts"] == 4


def test_the_grade_shift():
    found = result("grade-shift")
    assert (found.value, found.numerator, found.denominator) == (0.125, 0.5, 4)
    # Up 2 and down 0.5 in a, nothing in b, down 1 in c.
    reference = signed_mean([2.0, 0.0, 0.0], [0.5, 0.0, 1.0], [2, 1, 1])
    assert found.interval.low == max(-5, reference.low)
    assert found.interval.high == min(5, reference.high)
    assert found.interval.level == 0.95


def test_the_equivalence_interval_is_that_of_two_one_sided_tests():
    shift, found = result("grade-shift"), result("shift-equivalence")
    assert found.value == shift.value
    assert found.interval.level == 0.90
    assert "TOST" in found.interval.method
    assert shift.interval.low <= found.interval.low < found.interval.high <= shift.interval.high
    assert found.interval.high - found.interval.low < shift.interval.high - shift.interval.low


def test_a_judge_that_never_moves_is_invariant_within_what_so_many_items_can_show():
    def never(items):
        return Tallies(changes=tuple(same(f"i{n}", 1) for n in range(items)), scale=SCALE)

    for items in (10, 100):
        found = result("shift-equivalence", never(items))
        check = student_t.ppf(0.95, items - 1) ** 2 / items
        assert (found.interval.low, found.interval.high) == (pytest.approx(-check), pytest.approx(check))
    # Ten items do not show a shift below a third of a step, even if none of them moves.
    assert result("shift-equivalence", never(10)).interval.high > 0.33
    assert result("shift-equivalence", never(100)).interval.high < 0.05


def test_thirds_that_do_not_add_up_to_the_last_digit_are_no_moves():
    third = 1 / 3
    rounding = [third + third + third - 1, 0.1 + 0.2 - 0.3]
    drawn = Tallies(
        changes=tuple(
            same(f"i{n}", 1, changed=1 + rounding[n % 2], shift=1.0, distance=1.0 + rounding[n % 2]) for n in range(20)
        ),
        scale=SCALE,
    )
    found = result("change-rate", drawn)
    assert found.value == 1
    assert found.design_effect is None
    assert found.planning_interval is not None
    assert result("grade-shift", drawn).value == pytest.approx(1)


def test_a_binary_shift_is_a_difference_of_shares():
    binary = replace(BY_HAND, scale=GradeScale("binary", ("fail", "pass")))
    moved = replace(binary, changes=(same("a", 4, changed=3.0, shift=1.0, distance=3.0), same("b", 4)))
    found = result("grade-shift", moved)
    assert found.value == 1 / 8
    assert -1 <= found.interval.low <= found.interval.high <= 1


def test_flip_detection_and_right_on_both():
    detection, both = result("flip-detection", stratum="label-flip"), result("right-on-both", stratum="label-flip")
    assert (detection.value, detection.numerator, detection.denominator) == (pytest.approx(2 / 3), 2.0, 3)
    assert (both.value, both.numerator, both.denominator) == (pytest.approx(1 / 3), 1.0, 3)
    for found in (detection, both):
        assert found.excluded == {"without a verdict on both texts": 1, "without a gold label for both texts": 1}
        assert found.bounds == pytest.approx((found.numerator / 5, (found.numerator + 2) / 5))


def test_a_judge_with_one_label_for_everything_is_never_right_on_both():
    stuck = Tallies(
        changes=tuple(flip(f"i{n}", 1, golden=1, moved=0.0, right_on_both=0.0) for n in range(40)), scale=SCALE
    )
    assert result("flip-detection", stuck, "label-flip").value == 0
    assert result("right-on-both", stuck, "label-flip").interval.high < 0.15


@pytest.mark.parametrize("name", ["change-rate", "excess-change", "grade-shift", "shift-equivalence"])
def test_a_test_that_should_change_the_verdict_is_not_held_against_the_judge(name):
    flips = replace(BY_HAND, changes=tuple(t for t in BY_HAND.changes if t.test == "label-flip"))
    assert MEASURES.get(name).compute(flips, "baseline") == []


@pytest.mark.parametrize("name", ["flip-detection", "right-on-both"])
def test_a_test_that_should_change_nothing_detects_no_flip(name):
    kept = replace(BY_HAND, changes=tuple(t for t in BY_HAND.changes if t.test == "format"))
    assert MEASURES.get(name).compute(kept, "baseline") == []


def test_groups_are_counted_apart_from_all_items():
    grouped = replace(BY_HAND, changes=(*BY_HAND.changes, *(same(c, 1, "format", "age=8", changed=1.0) for c in "ab")))
    found = {m.group: m.result for m in MEASURES.get("change-rate").compute(grouped, "baseline")}
    assert list(found) == ["", "age=8"]
    assert found[""].value == 0.625
    assert found["age=8"].value == 1


def test_tests_come_in_order_of_their_names():
    several = replace(BY_HAND, changes=tuple(same(c, 1, test) for test in ("typos", "case", "list") for c in "ab"))
    assert [m.stratum for m in MEASURES.get("change-rate").compute(several, "baseline")] == ["case", "list", "typos"]


def test_no_interval_leaves_the_scale():
    up = Tallies(changes=tuple(same(f"i{n}", 1, changed=1.0, shift=5.0, distance=5.0) for n in range(4)), scale=SCALE)
    found = result("grade-shift", up)
    assert (found.value, found.interval.high) == (5, 5)
    assert found.interval.low < 5
    assert np.isfinite(found.interval.low)
