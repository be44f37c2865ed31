"""Judges whose datasheet can be written down by hand: the whole path, from stimulus to measure."""

import pytest

STEPS = ["1", "2", "3", "4", "5"]


def values(datasheet) -> dict[tuple[str, str], float]:
    return {(m.name, m.stratum): m.result.value for m in datasheet.measures if m.result.kind == "estimate"}


def test_an_oracle_is_always_right_and_never_prefers_without_reason(measure_known):
    found = values(measure_known("oracle"))
    assert all(found["target-sensitivity", step] == 1 for step in STEPS)
    assert found["dark-current", ""] == 0
    assert found["no-preference", ""] == 1
    assert found["raw-false-preference", ""] == 0
    assert found["detection-threshold", ""] == 1


def test_a_judge_that_always_says_1_is_all_positional_and_half_right(measure_known):
    found = values(measure_known("always_first"))
    assert found["dark-current", ""] == 1
    assert found["positional-false-preference", ""] == 1
    assert found["stable-cross-sensitivity", ""] == 0
    assert found["raw-false-preference", ""] == 1
    assert all(found["target-sensitivity", step] == 0.5 for step in STEPS)


def test_a_judge_that_always_ties_sees_nothing_and_is_not_thought_right(measure_known):
    found = values(measure_known("always_tie"))
    assert found["no-preference", ""] == 1
    assert all(found["target-sensitivity", step] == 0 for step in STEPS)
    assert all(found["tie-rate", step] == 1 for step in ["0", *STEPS])


def test_a_stable_irrelevant_preference_is_all_cross_sensitivity(measure_known):
    found = values(measure_known("alphabetical"))
    assert found["stable-cross-sensitivity", ""] == 1
    assert found["positional-false-preference", ""] == 0
    assert found["dark-current", ""] == 0


def test_a_judge_that_commits_in_one_order_only_is_right_in_half_of_the_calls(measure_known):
    found = values(measure_known("timid"))
    assert all(found["target-sensitivity", step] == 0.5 for step in STEPS)
    assert all(found["tie-rate", step] == 0.5 for step in STEPS)
    assert found["no-preference", ""] == 1


def test_an_abstention_is_no_preference_and_is_counted_apart_from_ties(measure_known):
    datasheet = measure_known("abstaining")
    found = values(datasheet)
    assert found["dark-current", ""] == 0
    assert found["no-preference", ""] == 1
    assert sum(row.abstained for row in datasheet.audit) == datasheet.run.trials
    assert sum(row.tie for row in datasheet.audit) == 0


def test_what_is_not_on_the_scale_is_excluded_shown_and_bounded(measure_known):
    datasheet = measure_known("rambling")
    ladder = next(m.result for m in datasheet.measures if (m.name, m.stratum) == ("target-sensitivity", "1"))
    assert ladder.value == 1
    excluded = ladder.excluded["without an answer in both orders"]
    assert ladder.denominator + excluded == 50
    assert excluded > 0
    assert ladder.bounds == pytest.approx((ladder.denominator / 50, 1))
    assert sum(row.unparsed for row in datasheet.audit) == datasheet.trouble[0].count
    assert "candidate 1 is the better one" in datasheet.trouble[0].example


def test_a_judge_without_answers_has_no_values_only_reasons(measure_known):
    from umpirical.runs.workers import RunStopped

    with pytest.raises(RunStopped, match="the judge broke"):
        measure_known("breaking")


def test_a_judge_that_takes_no_empty_input_is_not_shown_any(measure_known):
    datasheet = measure_known("oracle", capabilities="{accepts_empty: false}")
    strata = {m.stratum for m in datasheet.measures if m.name == "dark-current"}
    assert strata == {"", "identical"}


def test_a_judge_whose_order_cannot_be_set_gets_no_pair_measure(measure_known):
    datasheet = measure_known("oracle", capabilities="{order_controllable: false}")
    pair = next(m.result for m in datasheet.measures if m.name == "stable-cross-sensitivity")
    assert pair.kind == "undefined"
    assert "both orders" in pair.reason
