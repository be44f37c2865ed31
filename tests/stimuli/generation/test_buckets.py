"""Levels, their examples and tasks, and what is said of levels that could not be filled."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stimuli.generation.wanted import (
    BINARY,
    ORDINAL,
    PARAPHRASE,
    TERMS,
    drive,
    grade,
    original,
    refused,
    said,
    wanted,
)
from tests.timing import LINEAR, growth
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.stimuli.generation.plan import (
    Bucket,
    Counts,
    bucket_report,
    plan_buckets,
    rejection_reasons,
    source_report,
)
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

TEST = PERTURBATIONS.get("synthetic-ordinal")


def essay(number, *, gold, task=0):
    text = f"Essay {number}, graded {gold or 'by nobody'}, about subject {task}."
    return original(text, gold=gold, task=f"Write about subject {task}.", name=f"e{number}")


def essays(golds, *, tasks=3):
    return [essay(number, gold=gold, task=number % tasks) for number, gold in enumerate(golds)]


def plan(originals, *, per_level=2, seed=1, scale=ORDINAL, **more):
    return plan_buckets(TEST, originals, replace(TERMS, scale=scale), Counts(per_level, **more), seed=seed)


EVERY_LEVEL = essays(["1", "2", "3", "4", "5", "6"] * 4, tasks=5)


def test_as_many_for_each_level_lowest_first():
    commissions = plan(EVERY_LEVEL, per_level=3)
    assert [commission.target for commission in commissions] == [level for level in ORDINAL.labels for _ in range(3)]
    assert len({commission.id for commission in commissions}) == 18


def test_a_binary_scale_has_two_levels():
    commissions = plan(essays(["fail", "pass"]), scale=BINARY)
    assert [commission.target for commission in commissions] == ["fail", "fail", "pass", "pass"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=20),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_tasks_are_used_evenly_and_differ_within_a_level(tasks, per_level, seed):
    originals = [essay(number, gold="3", task=task) for number, task in enumerate(tasks)]
    commissions = plan(originals, per_level=per_level, seed=seed)
    distinct = len(set(tasks))
    used = Counter(commission.source.task for commission in commissions)
    assert len(used) == min(distinct, len(commissions))
    assert max(used.values()) - min(used.values()) <= 1
    for level in ORDINAL.labels:
        held = Counter(commission.source.task for commission in commissions if commission.target == level)
        assert len(held) == min(distinct, per_level)


def test_originals_of_a_task_take_turns():
    originals = [essay(number, gold="3") for number in range(4)]
    commissions = plan(originals, per_level=2)
    assert set(Counter(commission.source.id for commission in commissions).values()) == {3}


def test_examples_are_of_the_level_and_of_other_tasks():
    for commission in plan(EVERY_LEVEL, per_level=4):
        assert commission.example_label == commission.target
        assert len(commission.examples) == 2
        assert all(f"graded {commission.target}," in example for example in commission.examples)
        assert not any(commission.source.task.removeprefix("Write ") in example for example in commission.examples)


def test_examples_of_the_same_task_are_better_than_none():
    [*commissions] = plan(essays(["3", "3"], tasks=1), per_level=1)
    assert {len(commission.examples) for commission in commissions} == {2}


def test_examples_vary_between_commissions():
    originals = essays(["3"] * 40, tasks=8)
    drawn = {commission.examples for commission in plan(originals, per_level=10) if commission.target == "3"}
    assert len(drawn) > 5


def test_the_same_text_is_no_second_example():
    twins = [original("Twin essay.", gold="3", task=f"Task {number}", name=f"t{number}") for number in range(3)]
    assert {commission.examples for commission in plan(twins)} == {("Twin essay.",)}


@pytest.mark.parametrize(
    ("held", "from_levels"),
    [
        (["3"], ["3", "3", "3", "3", "3", "3"]),
        (["1", "6"], ["1", "1", "1", "6", "6", "6"]),
        # Of two that are as near, the lower.
        (["2", "4"], ["2", "2", "2", "4", "4", "4"]),
        (["", "7"], ["", "", "", "", "", ""]),
    ],
)
def test_where_a_level_has_no_example_the_nearest_one_has_and_that_is_recorded(held, from_levels):
    commissions = plan(essays(held), per_level=1)
    assert [commission.example_label for commission in commissions] == from_levels
    assert all(
        bool(commission.examples) == bool(label) for commission, label in zip(commissions, from_levels, strict=True)
    )
    report = bucket_report(commissions, [])
    assert [bucket.examples_from for bucket in report] == [(label,) if label else () for label in from_levels]


def test_empty_responses_are_no_examples():
    commissions = plan([original(" ", gold="3", name="blank"), essay(1, gold="2")], per_level=1)
    assert {commission.example_label for commission in commissions} == {"2"}


def test_the_plan_does_not_depend_on_the_order_of_the_file_and_does_on_the_seed():
    there, back, other = plan(EVERY_LEVEL), plan(EVERY_LEVEL[::-1]), plan(EVERY_LEVEL, seed=2)
    assert [commission.id for commission in there] == [commission.id for commission in back]
    assert [commission.id for commission in there] != [commission.id for commission in other]


def test_more_for_each_level_keeps_the_examples_of_the_first():
    few, many = plan(EVERY_LEVEL, per_level=1), plan(EVERY_LEVEL, per_level=2)
    assert few[0].id == many[0].id


def test_what_cannot_be_spread_is_said():
    assert plan(EVERY_LEVEL, scale=GradeScale("nominal", ("a", "b"))) == (
        "a nominal scale has no ordered levels to write texts for"
    )
    no_task = [original("A text.", task="", name="x")]
    assert plan(no_task) == plan([]) == "no original has a task to respond to"
    with pytest.raises(UsageError, match="texts for each level: 0"):
        plan(EVERY_LEVEL, per_level=0)


def test_a_large_plan_takes_time_in_proportion():
    originals = {size: essays(["1", "2", "3", "4", "5", "6"] * size, tasks=40) for size in (125, 500)}

    def work(size, _):
        assert len(plan(originals[size], per_level=size)) == 6 * size

    assert growth(work, size=125) < LINEAR


# What came of it


def test_what_was_filled_and_what_was_not():
    commissions = plan(EVERY_LEVEL, per_level=2)
    first, second, third, *_ = commissions
    fits = "Subjects differ, and so do people who write about them."
    attempts = [
        drive(first, 0, text=refused("policy A"))[0],
        drive(first, 1, text=fits, opinions=[grade(1), grade(1)])[0],
        drive(second, 0, text=refused("policy B"))[0],
        drive(second, 1, text=refused())[0],
        drive(second, 2, text=said(fits, finish="length"))[0],
        drive(second, 3, text=fits, opinions=[grade(2), grade(3)])[0],
        drive(second, 4, text=PARAPHRASE)[0],
        drive(second, 5, text=second.examples[0])[0],
        drive(third, 0, text=fits, opinions=["?", "!"])[0],
        drive(wanted("paraphrase"), 0, text="No.")[0],
    ]
    level_1, level_2, level_3, *_ = bucket_report([*commissions, wanted("paraphrase")], attempts)
    assert level_1 == Bucket(
        test="synthetic-ordinal",
        level="1",
        wanted=2,
        filled=1,
        given_up=1,
        untried=0,
        tried=8,
        # Those of the commission that was filled in the end are no reason that any is not.
        reasons={
            "the generator refused": 2,
            "the generator was cut off at max_tokens": 1,
            "validators did not agree": 1,
            "check: length like others": 1,
            "check: names no grade": 1,
            "check: not a copy": 1,
            "check: unlike others": 1,
        },
        examples_from=("1",),
    )
    assert level_2 == replace(
        level_1,
        level="2",
        filled=0,
        given_up=0,
        untried=1,
        tried=1,
        examples_from=("2",),
        reasons={"validator replies could not be read": 1},
    )
    assert level_3 == replace(level_2, level="3", untried=2, tried=0, examples_from=("3",), reasons={})


@pytest.mark.parametrize(
    ("opinions", "reason"),
    [
        (["?", "!"], "validator replies could not be read"),
        (["?", refused()], "validator replies could not be read"),
        (["?", grade(3)], "validators did not agree"),
        ([refused(), refused()], "validators did not agree"),
    ],
)
def test_an_opinion_that_cannot_be_read_is_no_disagreement(opinions, reason):
    commission = plan(EVERY_LEVEL, per_level=1)[0]
    fits = "Subjects differ, and so do people who write about them."
    assert rejection_reasons(drive(commission, 0, text=fits, opinions=opinions)[0]) == (reason,)


def test_levels_and_commissions_add_up():
    commissions = plan(EVERY_LEVEL, per_level=3)
    attempts = [
        drive(commission, number, text="")[0]
        for commission in commissions[:7]
        for number in range(commission.terms.attempts)
    ]
    report = bucket_report(commissions, attempts)
    assert [bucket.level for bucket in report] == list(ORDINAL.labels)
    assert sum(bucket.wanted for bucket in report) == len(commissions)
    assert sum(bucket.tried for bucket in report) == len(attempts)
    assert sum(bucket.given_up for bucket in report) == 7
    assert all(bucket.filled + bucket.given_up + bucket.untried == bucket.wanted for bucket in report)
    assert sum(bucket.reasons.get("the generator wrote nothing", 0) for bucket in report) == len(attempts)


def test_tests_that_change_a_response_have_no_levels():
    assert bucket_report([wanted("label-flip"), wanted("paraphrase")], []) == ()


def test_reasons_are_the_same_words_for_the_same_cause():
    commission = wanted("paraphrase")
    long, longer = (drive(commission, text=said("x" * length))[0] for length in (200_001, 300_000))
    assert rejection_reasons(long) == rejection_reasons(longer) == ("the generator did not stop",)
    both = drive(commission, text="No 7.")[0]
    assert set(rejection_reasons(both)) >= {"check: length ratio", "check: numbers"}
    taken, _ = drive(commission, text=PARAPHRASE, opinions=['{"verdict": "same"}'] * 2)
    assert rejection_reasons(taken) == ()


@pytest.mark.parametrize("shown", [0, 1, 5])
def test_as_many_examples_are_shown_as_the_study_says(shown):
    commissions = plan(essays(["1", "2"] * 10), shown=shown)
    assert {len(commission.examples) for commission in commissions} == {shown}
    assert all(bool(commission.example_label) == bool(shown) for commission in commissions)


def test_every_original_has_texts_of_every_level():
    originals = essays(["1", "2", "3"], tasks=2)
    commissions = plan(originals, per_source=2)
    grid = Counter((commission.source.id, commission.target) for commission in commissions)
    assert grid == dict.fromkeys(((one.id, level) for one in originals for level in ORDINAL.labels), 2)
    assert len({commission.id for commission in commissions}) == 3 * 6 * 2


def test_it_is_told_how_many_originals_have_every_level():
    originals = essays(["1", "2", "3"], tasks=3)
    commissions = plan(originals, per_source=1, scale=ORDINAL)
    # The first original has every level, the second one level only, the third none.
    first, second = (commissions[place].source.content for place in (0, 1))
    texts = {}
    for number, commission in enumerate(commissions):
        if commission.source.content == first or (commission.source.content == second and commission.target == "1"):
            texts[commission.id] = drive(commission, text=new_text(number), opinions=[grade(commission.target)] * 2)[0]
    assert all(settled.stimulus for settled in texts.values())
    report = source_report(commissions, texts.values())
    assert report == {"synthetic-ordinal": "of 3 originals, 1 have a text for every level, and 1 have none"}


def new_text(number):
    return f"A new text of {number} comes here, and it is about as long as the others are."
