"""The verdict of every test, by hand: inside, outside, across, and exactly at each limit."""

import pytest

from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.reports.stress.assembling import scale_record
from umpirical.reports.stress.verdicts import judge_test
from umpirical.stats.equivalence import items_for_equivalence

from .samples import BINARY, NOMINAL, SIX, SPECS, rate, report, stress_test

MARGIN = 0.25  # exact in binary, so that "exactly at the limit" means that


def measured(name, low, high, n=100, *, value=None, level=0.95):
    middle = (low + high) / 2 if value is None else value
    estimate = Estimate(middle, middle * n, n, "item", Interval(low, high, "by hand", level), n)
    return as_record(name, estimate)


def as_record(name, result, test="paraphrase"):
    """As `assemble_stress` records it."""
    held = report("x", parts={}, measured=[(SPECS[name], Measure(name, result, stratum=test))], tests=[], calls=[])
    return held.measures[0]


def judged(test, *measures, margin=MARGIN, scale=BINARY):
    return judge_test(stress_test(test), measures, margin=margin, scale=scale_record(scale))


def invariance(excess, shift, **more):
    low, high = shift
    return judged(
        "paraphrase",
        measured("excess-change", *excess),
        measured("shift-equivalence", low, high, level=0.90),
        **more,
    )


INSIDE, ACROSS, OUTSIDE = (-0.1, 0.2), (0.1, 0.4), (0.3, 0.5)


@pytest.mark.parametrize(
    ("excess", "shift", "verdict"),
    [
        (INSIDE, (-0.2, 0.2), "PASS"),
        (INSIDE, (-0.25, 0.25), "PASS"),  # both ends at the limit
        ((-0.1, 0.25), (-0.2, 0.2), "PASS"),  # the whole interval at or below the margin
        (INSIDE, (-0.26, 0.1), "INCONCLUSIVE"),
        (INSIDE, (0.1, 0.26), "INCONCLUSIVE"),
        (ACROSS, (-0.2, 0.2), "INCONCLUSIVE"),
        ((-0.1, 0.2501), (-0.2, 0.2), "INCONCLUSIVE"),
        ((0.25, 0.5), (-0.2, 0.2), "INCONCLUSIVE"),  # the lower limit is the margin and not more
        ((0.2501, 0.5), (-0.2, 0.2), "FAIL"),
        (INSIDE, (0.25, 0.5), "INCONCLUSIVE"),
        (INSIDE, (0.26, 0.5), "FAIL"),
        (INSIDE, (-0.5, -0.26), "FAIL"),
        (INSIDE, (-0.5, -0.25), "INCONCLUSIVE"),
        (OUTSIDE, (-0.5, 0.5), "FAIL"),
        (ACROSS, (0.3, 0.5), "FAIL"),
        ((-0.9, -0.5), (-0.2, 0.2), "PASS"),  # fewer changes than on asking again is no fault
    ],
)
def test_invariance(excess, shift, verdict):
    assert invariance(excess, shift).verdict == verdict


def test_the_margin_of_a_shift_is_one_of_the_range():
    assert invariance(INSIDE, (-1.25, 1.25), scale=SIX).verdict == "PASS"
    assert invariance(INSIDE, (-1.26, 1.25), scale=SIX).verdict == "INCONCLUSIVE"
    assert invariance(INSIDE, (1.26, 2.0), scale=SIX).verdict == "FAIL"
    (_, shift) = invariance(INSIDE, (-1.25, 1.25), scale=SIX).parts
    assert (shift.least, shift.most) == (-1.25, 1.25)


def test_without_order_changes_alone_decide():
    undefined = as_record("shift-equivalence", Undefined("the scale has no order"))
    passed = judged("paraphrase", measured("excess-change", *INSIDE), undefined, scale=NOMINAL)
    assert passed.verdict == "PASS"
    assert [part.measure for part in passed.parts] == ["excess-change"]
    assert judged("paraphrase", measured("excess-change", *OUTSIDE), scale=NOMINAL).verdict == "FAIL"


def test_where_nothing_was_repeated_all_changes_count_and_it_is_said():
    unrepeated = as_record("excess-change", Undefined("nothing was asked twice"))
    changed, shift = measured("change-rate", 0.3, 0.5), measured("shift-equivalence", -0.1, 0.1)
    cell = judged("paraphrase", changed, unrepeated, shift)
    assert cell.verdict == "FAIL"
    assert cell.parts[0].measure == "change-rate"
    assert "its own noise is not taken off: nothing was asked twice" in cell.why
    alone = judged("paraphrase", changed, shift)
    assert "its own noise is not taken off: not measured" in alone.why
    both = judged("paraphrase", changed, measured("excess-change", *INSIDE), shift)
    assert (both.verdict, both.parts[0].measure) == ("PASS", "excess-change")
    assert "noise" not in both.why


def test_what_was_not_measured_is_not_applicable_and_never_a_pass():
    none = Undefined("no item has a verdict on both texts")
    for measures in (
        [],
        [as_record("change-rate", none), as_record("excess-change", none), as_record("shift-equivalence", none)],
        [measured("excess-change", *INSIDE)],
        [measured("excess-change", *INSIDE), as_record("shift-equivalence", none)],
    ):
        cell = judged("paraphrase", *measures)
        assert cell.verdict == "N/A"
        assert "not measured" in cell.why or none.reason in cell.why


def test_a_part_that_fails_outweighs_one_that_was_not_measured():
    assert judged("paraphrase", measured("excess-change", *OUTSIDE)).verdict == "FAIL"


def test_an_interval_that_is_open_or_missing_settles_nothing():
    open_above = as_record("flip-detection", Estimate(0.9, 90, 100, "item", Interval(0.7, None, "x"), 100))
    missing = as_record("flip-detection", Estimate(0.9, 90, 100, "item", None, 100))
    for one in (open_above, missing):
        cell = judged("label-flip", one)
        assert cell.verdict == "INCONCLUSIVE"
    assert judged("label-flip", missing).needed is None


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.80, 0.95, "PASS"),
        (0.81, 0.95, "PASS"),
        (0.79, 0.95, "INCONCLUSIVE"),
        (0.60, 0.80, "INCONCLUSIVE"),
        (0.60, 0.79, "FAIL"),
    ],
)
def test_label_flip(low, high, verdict):
    assert judged("label-flip", measured("flip-detection", low, high)).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.00, 0.10, "PASS"),
        (0.02, 0.11, "INCONCLUSIVE"),
        (0.10, 0.30, "INCONCLUSIVE"),
        (0.11, 0.30, "FAIL"),
    ],
)
def test_stability(low, high, verdict):
    assert judged("stability", measured("flip-rate", low, high)).verdict == verdict


@pytest.mark.parametrize("test", ["original", "synthetic-ordinal"])
def test_agreement_with_gold_has_no_limit(test):
    cell = judged(test, as_record("accuracy", rate(60, 60)))
    assert (cell.verdict, cell.parts) == ("N/A", [])
    assert cell.why.startswith("no limit is set")


def test_the_number_needed_is_that_of_two_one_sided_tests():
    """A discordance of 0.05 on two labels and a margin of 0.05: 217 items for a power of 0.9."""
    half = 1.6448536 * (0.05 / 30) ** 0.5
    shift = as_record("shift-equivalence", Estimate(0.0, 0, 30, "item", Interval(-half, half, "TOST", 0.90), 30))
    cell = judged("paraphrase", measured("excess-change", -0.04, 0.02), shift, margin=0.05)
    assert items_for_equivalence(0.05, discordance=0.05) == 217
    assert (cell.verdict, cell.needed, cell.more_needed, cell.unit) == ("INCONCLUSIVE", 217, 187, "item")
    assert cell.leaning == "pass"
    assert "about 217 items would settle it as a pass" in cell.why


def test_the_number_needed_grows_as_the_value_nears_the_margin():
    """By the rule of a mean: the half-width shrinks with the root of the number."""
    near = judged("paraphrase", measured("excess-change", -0.0625, 0.4375, value=0.1875), _still(), margin=MARGIN)
    # Half-width 0.25 at 100 items has to shrink to 0.0625: 16 times as many.
    assert (near.verdict, near.needed, near.leaning) == ("INCONCLUSIVE", 1600, "pass")
    beyond = judged("paraphrase", measured("excess-change", 0.0625, 0.5625, value=0.3125), _still(), margin=MARGIN)
    assert (beyond.verdict, beyond.needed, beyond.leaning) == ("INCONCLUSIVE", 1600, "fail")
    assert "would settle it as a fail" in beyond.why
    at = judged("paraphrase", measured("excess-change", 0.0, 0.5, value=0.25), _still(), margin=MARGIN)
    assert (at.verdict, at.needed, at.leaning) == ("INCONCLUSIVE", None, None)
    assert "more of the same would not settle it" in at.why


def _still():
    return measured("shift-equivalence", -0.01, 0.01, level=0.90)


def test_a_pass_waits_for_the_greediest_part_and_a_fail_for_the_first():
    slow = measured("excess-change", -0.0625, 0.4375, value=0.1875)  # 1,600 items for a pass
    quick = measured("shift-equivalence", -0.3, 0.1, value=-0.1, level=0.90)
    both = judged("paraphrase", slow, quick)
    assert both.parts[1].verdict == "INCONCLUSIVE"
    assert both.parts[1].needed < 1600
    assert both.needed == 1600
    failing = measured("shift-equivalence", 0.1875, 0.4375, value=0.3125, level=0.90)  # 400 items for a fail
    either = judged("paraphrase", slow, failing)
    assert (either.needed, either.leaning) == (400, "fail")
    stuck = measured("excess-change", 0.0, 0.5, value=0.25)
    assert judged("paraphrase", stuck, quick).needed is None


def test_a_rate_is_settled_by_the_rule_of_wilson():
    """2 of 60 pairs differ, against at most 0.10."""
    cell = judged("stability", as_record("flip-rate", rate(2, 60)))
    assert cell.verdict == "INCONCLUSIVE"
    settled = judged("stability", as_record("flip-rate", rate(2 / 60 * cell.needed, cell.needed)))
    assert settled.verdict == "PASS"
    short = judged("stability", as_record("flip-rate", rate(2 / 60 * (cell.needed - 1), cell.needed - 1)))
    assert short.verdict == "INCONCLUSIVE"


def test_the_cell_has_the_p_value_of_its_parts_together():
    cell = invariance((0.27, 0.5), (-0.2, 0.2))
    excess, shift = (part.p_value for part in cell.parts)
    assert shift == 1.0
    assert 0 < excess < 0.025
    assert cell.p_value == pytest.approx(2 * excess)
    assert judged("original", as_record("accuracy", rate(9, 60))).p_value is None


def test_a_verdict_and_its_p_value_never_contradict_each_other():
    """The part fails at 95 % if and only if its one-sided p is below 0.025."""
    for low in (0.2, 0.249, 0.251, 0.3):
        part = judged("paraphrase", measured("excess-change", low, low + 0.3), _still()).parts[0]
        assert (part.verdict == "FAIL") == (part.p_value < 0.025)
