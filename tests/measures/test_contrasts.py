"""Contrasts of crossed pairs and of calls between two runs, by hand."""

import pytest

from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import CallTally, QuadTally, Tallies
from umpirical.measures.contrasts import contrasts_between
from umpirical.reports.comparison import standings
from umpirical.reports.significance import holm
from umpirical.stats.differences import paired_difference

ARM = "baseline"
TASKS = ("a", "b", "c")
NAMES = ("task-following", "task-blind-preference", "unparsed-rate", "failure-rate")


def run(following, blind, unparsed, *, step=5.0, family=Family.GRADED):
    """Ten crossed pairs and forty calls in each of three tasks."""
    quads = [
        QuadTally(task, ARM, family, "", step, 10, following=right, blind=same)
        for task, right, same in zip(TASKS, following, blind, strict=True)
    ]
    calls = [
        CallTally(task, ARM, family, "", None, planned=40, unparsed=lost, tie=40 - lost)
        for task, lost in zip(TASKS, unparsed, strict=True)
    ]
    return Tallies(quads=tuple(quads), calls=tuple(calls))


BEFORE = run([10, 9, 8], [0, 0, 1], [0, 0, 0])
NOW = run([6, 5, 8], [4, 3, 1], [2, 0, 4])


def found(first, second):
    measures = (contrast.measure for contrast in contrasts_between(first, second, ARM, ARM))
    return {(one.name, one.stratum): one.result for one in measures if one.name in NAMES}


def test_each_is_the_second_less_the_first():
    values = {key: result.value for key, result in found(BEFORE, NOW).items()}
    assert values == {
        ("task-following", ""): pytest.approx(-8 / 30),
        ("task-following", "5"): pytest.approx(-8 / 30),
        ("task-blind-preference", ""): pytest.approx(7 / 30),
        ("task-blind-preference", "5"): pytest.approx(7 / 30),
        ("unparsed-rate", ""): pytest.approx(6 / 120),
        ("failure-rate", ""): 0,
    }


def test_they_are_paired_by_task():
    result = found(BEFORE, NOW)["task-following", "5"]
    by_hand = paired_difference([6, 5, 8], [10] * 3, [10, 9, 8], [10] * 3)
    assert isinstance(result, Estimate)
    assert (result.interval.low, result.interval.high, result.clusters) == (by_hand.low, by_hand.high, 3)
    assert result.unit == "crossed-pair"


def test_a_run_less_itself_is_nothing():
    assert {result.value for result in found(NOW, NOW).values()} == {0}


def test_a_step_that_one_of_them_lacks_and_tier_2_are_not_compared():
    other = run([10, 9, 8], [0, 0, 1], [0, 0, 0], step=1.0)
    assert {stratum for _, stratum in found(other, NOW)} == {""}
    second_tier = run([10, 9, 8], [0, 0, 1], [0, 0, 0], family=Family.OWN_GRADED)
    assert all(isinstance(result, Undefined) for result in found(second_tier, second_tier).values())


def test_a_rate_of_which_neither_judge_has_an_event_is_not_among_those_tested():
    """Nobody fails: the p-value of the unread answers is corrected for the rows that could differ, and for no other."""
    contrasts = [one for one in contrasts_between(BEFORE, NOW, ARM, ARM) if one.measure.name in NAMES]
    assert [one.measure.name for one in contrasts if one.never] == ["failure-rate"]
    records = [one.measure.result for one in contrasts]
    primary = [True] * len(records)
    never = [one.never for one in contrasts]
    every, some = standings(records, primary), standings(records, primary, never=never)
    tested = [p.p_value for p, fixed in zip(every, never, strict=True) if not fixed]
    assert [standing.adjusted_p for standing, fixed in zip(some, never, strict=True) if not fixed] == holm(tested)
    assert (every[never.index(True)].p_value, some[never.index(True)].adjusted_p) == (1.0, None)
