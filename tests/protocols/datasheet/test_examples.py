"""Where the judge went wrong, with its words: cases by hand."""

from dataclasses import replace

import pytest

from tests.cases import each
from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.stimuli import GivenWinner, NoPreference, Stimulus
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.protocols.datasheet.record import AnswerRecord
from umpirical.protocols.datasheet.report import KEPT, LONGEST, FailureKeeper

EQUAL = Stimulus("t", "task", ("a", "b"), NoPreference(), "m", "equal", delta=0.0)
BETTER_U = replace(EQUAL, expectation=GivenWinner(0), family="graded", delta=1.0)
BETTER_V = replace(BETTER_U, expectation=GivenWinner(1))
CONFLICT = replace(BETTER_U, family="conflict")
SUBSET = replace(EQUAL, family="equal-subset")
BLANK = replace(EQUAL, family="blank", candidates=("", ""), delta=None)

STARS = GradeScale("ordinal", labels=("poor", "fair", "good"))
TEN = GradeScale("interval", low=1.0, high=10.0)

TURNED = {"1": Choice.POSITION_1, "2": Choice.POSITION_2, "tie": Choice.TIE}


def see(keeper, stimulus, *answers, variant="baseline", repeat=0):
    """Answers in order ab, then ba: a position, `tie`, a grade or an outcome that is no verdict."""
    for order, answer in zip(Order, answers, strict=False):
        trial = Trial(f"{stimulus.id} {variant} {order}", "p", stimulus.id, Presentation(order, variant, repeat))
        outcome = answer
        if isinstance(answer, str | float):
            outcome = Verdict(answer if keeper.scale is not None else TURNED[answer])
        keeper.see(trial, stimulus, outcome, Response(trial.id, f"I say {answer}"))


def answered(order, said, words):
    return AnswerRecord(order=order, repeat=0, said=said, words=words)


def found(stimulus, *answers, scale=None):
    """The measure that counts the failure, or None."""
    keeper = FailureKeeper(scale)
    see(keeper, stimulus, *answers)
    measures = [failure.measure for failure in keeper.failures()]
    assert len(measures) <= 1
    return measures[0] if measures else None


# A judge that compares.


@each(
    ("stimulus", "answers", "measure"),
    [
        (BLANK, ["1"], "dark-current"),
        (BLANK, ["tie"], None),
        (BLANK, ["tie", "2"], "dark-current"),
        (BLANK, [Abstained()], None),
        # The same content in both orders.
        (EQUAL, ["1", "2"], "stable-cross-sensitivity"),
        (EQUAL, ["2", "1"], "stable-cross-sensitivity"),
        # The same position in both orders.
        (EQUAL, ["1", "1"], "positional-false-preference"),
        (EQUAL, ["2", "2"], "positional-false-preference"),
        # A winner in one order only is no failure of either kind.
        (EQUAL, ["1", "tie"], None),
        (EQUAL, ["tie", "tie"], None),
        (EQUAL, ["1"], None),
        (EQUAL, ["1", Unparsed("x", "y")], None),
        (EQUAL, ["1", Failed("timeout", "")], None),
        (EQUAL, ["1", None], None),
        # The lesser content was named at least once.
        (BETTER_U, ["1", "2"], None),
        (BETTER_U, ["tie", "tie"], None),
        (BETTER_U, ["2", "2"], "target-sensitivity"),
        (BETTER_U, ["1", "1"], "target-sensitivity"),
        (BETTER_U, ["2", Failed("timeout", "")], "target-sensitivity"),
        (BETTER_V, ["2", "1"], None),
        (BETTER_V, ["1", "tie"], "target-sensitivity"),
        (CONFLICT, ["2", "1"], "conflict-loss"),
        (CONFLICT, ["1", "2"], None),
        # Requirements may be worth different amounts: no answer is wrong.
        (SUBSET, ["1", "2"], None),
        # Answers of the user's own do not go out with a datasheet.
        (replace(BETTER_U, family="own-graded"), ["2", "1"], None),
        (replace(EQUAL, family="own-equal"), ["1", "1"], None),
    ],
)
def test_a_comparison_that_went_wrong_is_kept_under_the_measure_that_counts_it(stimulus, answers, measure):
    assert found(stimulus, *answers) == measure


def test_a_failure_has_what_was_shown_and_said():
    keeper = FailureKeeper(None)
    see(keeper, EQUAL, "1", "2", variant="strict")
    [failure] = keeper.failures()
    assert (failure.task_id, failure.task, failure.variant) == (EQUAL.task_id, EQUAL.task, "strict")
    assert failure.answers == [answered("ab", "a", "I say 1"), answered("ba", "a", "I say 2")]


def test_long_words_are_cut():
    keeper = FailureKeeper(None)
    trial = Trial("a", "p", BLANK.id, Presentation())
    keeper.see(trial, BLANK, Verdict(Choice.POSITION_1), Response("a", "x" * 5000))
    assert keeper.failures()[0].answers[0].words == "x" * LONGEST


def test_variants_and_repeats_are_told_apart():
    keeper = FailureKeeper(None)
    see(keeper, EQUAL, "1", "2", repeat=0)
    see(keeper, EQUAL, "tie", "tie", repeat=1)
    see(keeper, EQUAL, "1", "1", variant="strict")
    assert [(f.measure, f.variant, f.answers[0].repeat) for f in keeper.failures()] == [
        ("positional-false-preference", "strict", 0),
        ("stable-cross-sensitivity", "baseline", 0),
    ]


def test_of_each_kind_the_few_that_missed_the_largest_difference_are_kept():
    keeper = FailureKeeper(None)
    for delta in (1.0, 5.0, 2.0, 4.0, 3.0):
        see(keeper, replace(BETTER_U, delta=delta), "2", "1")
        see(keeper, replace(EQUAL, task=f"{delta}"), "1", "1")
    kept = keeper.failures()
    assert [f.measure for f in kept] == ["positional-false-preference"] * KEPT + ["target-sensitivity"] * KEPT
    assert [f.delta for f in kept if f.measure == "target-sensitivity"] == [5.0, 4.0, 3.0]
    assert [f.task for f in kept if f.measure != "target-sensitivity"] == ["1.0", "5.0", "2.0"]


def test_asked_twice_for_its_failures_it_gives_them_once():
    keeper = FailureKeeper(None)
    see(keeper, EQUAL, "1", "1")
    assert keeper.failures() == keeper.failures()
    assert len(keeper.failures()) == 1


def test_nothing_seen_is_nothing_found():
    assert FailureKeeper(None).failures() == []


# A judge that grades.


@pytest.mark.parametrize(
    ("stimulus", "answers", "measure"),
    [
        (BLANK, ["poor"], None),
        (BLANK, ["fair"], "dark-current"),
        (BLANK, ["poor", "good"], "dark-current"),
        (BETTER_U, ["good", "fair"], None),
        (BETTER_U, ["fair", "fair"], None),
        (BETTER_U, ["fair", "good"], "target-sensitivity"),
        (BETTER_V, ["fair", "good"], None),
        (BETTER_V, ["good", "poor"], "target-sensitivity"),
        (BETTER_U, ["poor"], None),
        (BETTER_U, ["poor", Unparsed("x", "y")], None),
        (EQUAL, ["good", "poor"], None),
    ],
)
def test_a_grade_that_went_wrong_is_kept_under_the_measure_that_counts_it(stimulus, answers, measure):
    assert found(stimulus, *answers, scale=STARS) == measure


@pytest.mark.parametrize(
    ("stimulus", "answers", "measure"),
    [
        (BLANK, [1.0], None),
        (BLANK, [1.5], "dark-current"),
        (BETTER_U, [9.0, 10.0], "target-sensitivity"),
        (BETTER_U, [10.0, 9.0], None),
    ],
)
def test_a_grade_on_an_interval_is_a_number(stimulus, answers, measure):
    assert found(stimulus, *answers, scale=TEN) == measure


def test_the_grade_is_kept_with_its_words():
    keeper = FailureKeeper(STARS)
    see(keeper, BLANK, "good")
    assert keeper.failures()[0].answers == [answered("ab", "good", "I say good")]


def test_a_grade_may_have_the_name_of_a_slot():
    figures = GradeScale("ordinal", labels=("1", "2", "3"))
    keeper = FailureKeeper(figures)
    see(keeper, BETTER_U, "1", "2")
    [failure] = keeper.failures()
    assert failure.measure == "target-sensitivity"
    assert [answer.said for answer in failure.answers] == ["1", "2"]
    assert found(BLANK, "1", scale=figures) is None


def test_no_measure_counts_what_grades_make_of_better_against_longer():
    assert found(CONFLICT, "fair", "good", scale=STARS) is None
