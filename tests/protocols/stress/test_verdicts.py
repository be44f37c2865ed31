"""The verdict of every test, by hand: inside, outside, across, and exactly at each threshold."""

import pytest

from tests.cases import each
from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.protocols.stress.record import MadeRecord
from umpirical.protocols.stress.report import scale_record
from umpirical.protocols.stress.verdicts import judge_test
from umpirical.stats.differences import signed_mean

from .samples import BINARY, NOMINAL, SIX, SPECS, rate, report, stress_test

MARGIN = 0.25  # exact in binary, so that "exactly at the threshold" means that


def measured(name, low, high, n=100, *, value=None, level=0.95):
    middle = (low + high) / 2 if value is None else value
    estimate = Estimate(middle, middle * n, n, "item", Interval(low, high, method="by hand", level=level), n)
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


@each(
    ("excess", "shift", "verdict"),
    [
        (INSIDE, (-0.2, 0.2), "PASS"),
        (INSIDE, (-0.25, 0.25), "PASS"),  # both ends at the threshold
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
    assert "not adjusted for its own noise: nothing was asked twice" in cell.why
    alone = judged("paraphrase", changed, shift)
    assert "not adjusted for its own noise: not measured" in alone.why
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
    open_above = as_record("flip-detection", Estimate(0.9, 90, 100, "item", Interval(0.7, None, method="x"), 100))
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


def test_new_texts_have_no_check():
    cell = judged("synthetic-ordinal", as_record("accuracy", rate(60, 60)))
    assert (cell.verdict, cell.parts) == ("N/A", [])
    assert cell.why.startswith("the policy sets no threshold")


def agreement(kappa, beyond, *, name="weighted-kappa"):
    return judged("original", measured(name, *kappa), measured("agreement-beyond-length", *beyond))


@each(
    ("kappa", "beyond", "verdict"),
    [
        ((0.4, 0.8), (0.2, 0.6), "PASS"),
        ((0.39, 0.8), (0.2, 0.6), "INCONCLUSIVE"),
        ((0.4, 0.8), (0.19, 0.6), "INCONCLUSIVE"),  # follows length, for all that is known
        ((-0.2, 0.2), (0.2, 0.6), "FAIL"),
        ((0.5, 0.8), (-0.2, 0.19), "FAIL"),
    ],
)
def test_agreement_with_labels(kappa, beyond, verdict):
    assert agreement(kappa, beyond).verdict == verdict


def test_accuracy_is_not_agreement_and_what_is_undefined_never_passes():
    one_label = as_record("weighted-kappa", Undefined("all gold labels and verdicts are one: nothing to agree on"))
    cell = judged(
        "original", as_record("accuracy", rate(60, 60)), one_label, measured("agreement-beyond-length", 0.5, 1)
    )
    assert cell.verdict == "N/A"
    assert "nothing to agree on" in cell.why


def test_without_labels_correctness_was_not_measured():
    test = stress_test("original", made=MadeRecord(wanted=60))
    cell = judge_test(test, [], margin=MARGIN, scale=scale_record(SIX))
    assert (cell.verdict, cell.parts) == ("N/A", [])
    assert cell.why == "correctness was not measured because the data has no labels"


def unchanged(n, *, changes=0, **more):
    """The measures of a test in which `changes` of n items, each its own cluster, rise by a step."""
    moved = [1.0] * changes + [0.0] * (n - changes)
    for name, level in (("excess-change", 0.95), ("shift-equivalence", 0.90)):
        found = signed_mean(moved, [0.0] * n, [1] * n, level=level)
        ends = Interval(found.low, found.high, method="signed mean", level=level)
        yield as_record(name, Estimate(found.value, changes, n, "item", ends, n, **more))


def test_the_number_needed_where_nothing_changes_is_the_one_that_passes():
    """The checks close in with the number itself there, and not with its root."""
    cell = judged("paraphrase", *unchanged(30), margin=0.05)
    assert (cell.verdict, cell.needed, cell.more_needed, cell.unit) == ("INCONCLUSIVE", 80, 50, "item")
    assert cell.leaning == "pass"
    assert "about 80 items would confirm a pass" in cell.why
    assert judged("paraphrase", *unchanged(80), margin=0.05).verdict == "PASS"
    assert judged("paraphrase", *unchanged(79), margin=0.05).verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(("changes", "n"), [(1, 50), (1, 100), (4, 120), (4, 40), (14, 200)])
def test_the_number_needed_where_little_changes_is_near_the_one_that_settles_it(changes, n):
    cell = judged("paraphrase", *unchanged(n, changes=changes), margin=0.05)
    assert cell.verdict == "INCONCLUSIVE"
    settled = "PASS" if cell.leaning == "pass" else "FAIL"

    def verdict(number):
        return judged("paraphrase", *unchanged(number, changes=round(changes / n * number)), margin=0.05).verdict

    step = n // changes
    above, below = (step * round(cell.needed * factor / step) for factor in (1.25, 0.75))
    assert verdict(above) == settled
    assert below <= n or verdict(below) == "INCONCLUSIVE"


def test_the_number_needed_grows_as_the_value_nears_the_margin():
    """Where much changes, nearly by the rule of a mean: the half-width shrinks with the root of the number."""
    near = judged("paraphrase", measured("excess-change", -0.0625, 0.4375, value=0.1875), _still(), margin=MARGIN)
    # Half-width 0.25 at 100 items has to shrink to 0.0625: 16 times as many, less what Student's t and skewness give.
    assert (near.verdict, near.leaning) == ("INCONCLUSIVE", "pass")
    assert near.needed == pytest.approx(1600, rel=0.08)
    beyond = judged("paraphrase", measured("excess-change", 0.0625, 0.5625, value=0.3125), _still(), margin=MARGIN)
    assert (beyond.verdict, beyond.leaning) == ("INCONCLUSIVE", "fail")
    assert beyond.needed == pytest.approx(1600, rel=0.08)
    assert "would confirm a fail" in beyond.why
    at = judged("paraphrase", measured("excess-change", 0.0, 0.5, value=0.25), _still(), margin=MARGIN)
    assert (at.verdict, at.needed, at.leaning) == ("INCONCLUSIVE", None, None)
    assert "more items would not make it conclusive" in at.why


def _still():
    return measured("shift-equivalence", -0.01, 0.01, level=0.90)


def test_a_pass_waits_for_the_greediest_part_and_a_fail_for_the_first():
    slow = measured("excess-change", -0.0625, 0.4375, value=0.1875)  # 1,600 items for a pass
    quick = measured("shift-equivalence", -0.3, 0.1, value=-0.1, level=0.90)
    both = judged("paraphrase", slow, quick)
    assert both.parts[1].verdict == "INCONCLUSIVE"
    assert both.parts[1].needed < 1000
    assert both.needed == both.parts[0].needed > 1000
    failing = measured("shift-equivalence", 0.1875, 0.4375, value=0.3125, level=0.90)  # 400 items for a fail
    either = judged("paraphrase", slow, failing)
    assert (either.needed, either.leaning) == (either.parts[1].needed, "fail")
    assert either.needed == pytest.approx(400, rel=0.08)
    stuck = measured("excess-change", 0.0, 0.5, value=0.25)
    assert judged("paraphrase", stuck, quick).needed is None


def test_a_rate_is_settled_by_the_rule_of_wilson():
    """2 of 60 pairs differ, against at most 0.10."""
    cell = judged("stability", as_record("flip-rate", rate(2, 60)))
    assert cell.verdict == "INCONCLUSIVE"
    settled = judged("stability", as_record("flip-rate", rate(2 / 60 * cell.needed, cell.needed)))
    assert settled.verdict == "PASS"


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


NO_CHANGED = "without a verdict on the changed text"


def test_no_verdict_on_the_changed_texts_is_no_pass():
    """Of 250 items 150 have none: the others never change."""
    excluded = {"excluded": {NO_CHANGED: 150}, "bounds": (-0.6, 0.6)}
    cell = judged("paraphrase", *unchanged(100, **excluded), margin=0.05)
    assert judged("paraphrase", *unchanged(100), margin=0.05).verdict == "PASS"
    assert (cell.verdict, cell.unanswered, cell.needed) == ("INCONCLUSIVE", 150, None)
    assert [part.unanswered for part in cell.parts] == [150, 150]
    assert "excludes 150 items without a verdict on the changed text" in cell.why
    assert "counted against the judge, it would be +60 points" in cell.why


def test_a_few_without_a_verdict_leave_a_pass_that_stands_the_worst():
    few = {"excluded": {NO_CHANGED: 1}, "bounds": (-1 / 401, 1 / 401)}
    cell = judged("paraphrase", *unchanged(400, **few), margin=0.05)
    assert (cell.verdict, cell.unanswered) == ("PASS", 0)
    # As many as the margin allows, but with an interval around them: no pass.
    more = {"excluded": {NO_CHANGED: 18}, "bounds": (-18 / 418, 18 / 418)}
    assert judged("paraphrase", *unchanged(400, **more), margin=0.05).verdict == "INCONCLUSIVE"


def test_more_items_are_not_said_to_settle_what_missing_verdicts_leave_open():
    excluded = {"excluded": {NO_CHANGED: 30}, "bounds": (-0.5, 0.5)}
    cell = judged("paraphrase", *unchanged(30, **excluded), margin=0.05)
    assert (cell.verdict, cell.needed, cell.unanswered) == ("INCONCLUSIVE", None, 30)
    assert "would confirm a pass" not in cell.why


def test_what_is_excluded_without_bounds_forbids_a_pass():
    cell = judged("paraphrase", *unchanged(400, excluded={NO_CHANGED: 1}), margin=0.05)
    assert (cell.verdict, cell.unanswered) == ("INCONCLUSIVE", 1)
    assert "unknown" in cell.why


def test_a_fail_stands_whatever_was_excluded():
    excluded = {"excluded": {NO_CHANGED: 100}, "bounds": (0.0, 0.9)}
    cell = judged("paraphrase", *unchanged(100, changes=80, **excluded), margin=0.05)
    assert (cell.verdict, cell.unanswered) == ("FAIL", 0)


@pytest.mark.parametrize(
    ("test", "name", "k", "bounds"),
    [("label-flip", "flip-detection", 100, (0.5, 1.0)), ("stability", "flip-rate", 0, (0.0, 0.5))],
)
def test_flips_and_repeats_are_not_passed_by_abstaining(test, name, k, bounds):
    whole = as_record(name, rate(k, 100))
    half = as_record(name, rate(k, 100, excluded={"answered less than twice": 100}, bounds=bounds))
    assert judged(test, whole).verdict == "PASS"
    cell = judged(test, half)
    assert (cell.verdict, cell.unanswered) == ("INCONCLUSIVE", 100)
    assert "100 items answered less than twice" in cell.why
    assert "it would be 50%" in cell.why


def not_made(**made):
    return MadeRecord(**{"wanted": 40, "attempts": 120, "generated": 120, "given_up": 40} | made)


@pytest.mark.parametrize("name", ["paraphrase", "synthetic-ordinal"])
def test_a_test_whose_attempts_were_all_rejected_says_so(name):
    test = stress_test(name, made=not_made(rejected={"too long": 30, "validators: 0 agree": 90}))
    cell = judge_test(test, [], margin=MARGIN, scale=scale_record(BINARY))
    assert (cell.verdict, cell.parts) == ("N/A", [])
    assert cell.why == (
        "0 of 40 texts were made: 120 attempts were rejected, most often (90) for this reason: validators: 0 agree"
    )


def test_a_test_without_texts_says_why():
    def why(**made):
        return judge_test(
            stress_test("paraphrase", made=MadeRecord(wanted=40, **made)), [], margin=MARGIN, scale=scale_record(BINARY)
        ).why

    assert why(unchanged=40) == "0 of 40 texts were made: 40 had nothing to change"
    assert (
        why(skipped={"the item has no label": 40})
        == "0 of 40 texts were made: 40 not attempted (the item has no label)"
    )
    assert why() == "0 of 40 texts were made: no attempt was made"
    assert "were made" not in why(accepted=1)


def test_a_function_has_no_seed_to_set():
    seeds = stress_test("stability", name="seeds", title="Other seeds", made=MadeRecord(wanted=0))
    cell = judge_test(seeds, [], margin=MARGIN, scale=scale_record(BINARY))
    assert (cell.verdict, cell.why) == ("N/A", "not run: a function judge has no seed setting")
