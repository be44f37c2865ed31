"""What to ask: orders, variants and repeats."""

from dataclasses import fields, replace

import pytest

from umpirical.domain.stimuli import FlippedVerdict, GivenLabel, GivenWinner, NoPreference, SameVerdict, Stimulus
from umpirical.domain.trials import Order, Presentation, Presented
from umpirical.judges.judge import Capabilities
from umpirical.protocols.datasheet.spec import DatasheetDesign
from umpirical.protocols.stress.design import StressDesign
from umpirical.runs.plan import Design, shown

PAIR = Stimulus("t", "task", ("u", "v"), NoPreference(), "m/1", "equal", delta=0.0)
ABLE = Capabilities()


def ways(stimulus, *, design=None, capabilities=ABLE, kind="compare"):
    return list((design or Design()).presentations(stimulus, capabilities, kind))


def test_unequal_candidates_are_shown_in_both_orders_next_to_each_other():
    found = ways(PAIR, design=Design(repeats=2, variants=("baseline", "strict")))
    assert [way.order for way in found] == [Order.AB, Order.BA] * 4
    assert len(set(found)) == 8
    assert {(way.variant, way.repeat) for way in found} == {
        (variant, repeat) for variant in ("baseline", "strict") for repeat in (0, 1)
    }


def test_equal_candidates_are_shown_in_one_order():
    assert ways(replace(PAIR, candidates=("same", "same"))) == [Presentation()]
    assert ways(replace(PAIR, candidates=("", ""))) == [Presentation()]


def test_candidates_that_differ_in_blanks_only_are_not_equal():
    assert len(ways(replace(PAIR, candidates=(" ", "\n")))) == 2


@pytest.mark.parametrize("candidates", [("", ""), (" ", "\n\t")])
def test_a_judge_that_takes_no_empty_input_is_shown_no_blank_pair(candidates):
    blank = replace(PAIR, candidates=candidates)
    unable = Capabilities(accepts_empty=False)
    assert ways(blank)
    assert ways(blank, capabilities=unable) == []
    assert ways(PAIR, capabilities=unable) == ways(PAIR)


def test_a_judge_whose_order_cannot_be_set_is_asked_in_one():
    found = ways(PAIR, design=Design(repeats=3), capabilities=Capabilities(order_controllable=False))
    assert found == [Presentation(Order.AB, "baseline", repeat) for repeat in range(3)]


def test_the_order_says_which_content_sits_in_slot_1():
    assert shown(PAIR, Order.AB) == Presented("task", "u", "v")
    assert shown(PAIR, Order.BA) == Presented("task", "v", "u")


def test_a_single_candidate_is_shown_alone():
    graded = replace(PAIR, candidates=("only",), expectation=GivenLabel("yes"))
    assert ways(graded, kind="grade") == [Presentation()]
    assert shown(graded, Order.AB, "grade") == Presented("task", "only", None)


# A judge that grades.


def test_a_judge_that_grades_is_shown_one_candidate_at_a_time():
    assert [way.order for way in ways(PAIR, kind="grade")] == [Order.AB, Order.BA]
    assert shown(PAIR, Order.AB, "grade") == Presented("task", "u", None)
    assert shown(PAIR, Order.BA, "grade") == Presented("task", "v", None)


def test_two_identical_answers_are_nothing_to_a_judge_that_grades():
    identical = replace(PAIR, candidates=("same", "same"), family="blank", stratum="identical")
    assert ways(identical, design=DatasheetDesign(), kind="grade") == []
    assert len(ways(identical, design=DatasheetDesign())) == 1


def test_two_empty_answers_are_graded_once_and_two_different_blanks_each():
    empty = replace(PAIR, candidates=("", ""), family="blank", stratum="empty")
    blank = replace(PAIR, candidates=(" ", "\n"), family="blank", stratum="whitespace")
    assert ways(empty, kind="grade") == [Presentation()]
    assert len(ways(blank, kind="grade")) == 2


def test_a_judge_that_grades_has_no_order_to_be_set():
    fixed = Capabilities(order_controllable=False)
    assert len(ways(PAIR, capabilities=fixed, kind="grade")) == 2


def test_nothing_but_task_and_candidates_decides_what_is_shown():
    changed = replace(
        PAIR,
        task_id="other",
        expectation=GivenWinner(1),
        maker="ladder/9",
        family="graded",
        stratum="s",
        delta=5.0,
        base=0,
        parent="p",
        gold="3",
        gold_from="label",
        evidence={"proof": "equal"},
        strata={"grade": "8"},
        task_family="others",
        crossed_pair="q",
        version="B",
        columns={"reference": "what a right answer has"},
        parts={"format": "json"},
    )
    kept = {"task", "candidates"}
    assert all(getattr(changed, f.name) != getattr(PAIR, f.name) for f in fields(PAIR) if f.name not in kept)
    assert shown(changed, Order.BA) == shown(PAIR, Order.BA)


# Stress tests on the user's own data.

ESSAY = Stimulus("essay-1", "task", ("text",), GivenLabel("3"), "original/1", "original", gold="3")


def test_an_original_is_repeated_and_asked_under_seeds_and_a_changed_text_is_not():
    design = StressDesign(original_repeats=3, seeds=2)
    assert ways(ESSAY, design=design, kind="grade") == [
        Presentation(repeat=0),
        Presentation(repeat=1),
        Presentation(repeat=2),
        Presentation(repeat=0, seed=1),
        Presentation(repeat=1, seed=2),
    ]
    changed = replace(ESSAY, family="typos", expectation=SameVerdict())
    assert ways(changed, design=design, kind="grade") == [Presentation()]


def test_a_changed_text_is_asked_again_only_where_its_verdict_should_stay():
    design = StressDesign(original_repeats=3, changed_repeats=2)
    kept, flipped = (replace(ESSAY, family="made", expectation=kind) for kind in (SameVerdict(), FlippedVerdict()))
    assert ways(kept, design=design, kind="grade") == [Presentation(repeat=0), Presentation(repeat=1)]
    assert ways(flipped, design=design, kind="grade") == [Presentation()]
    assert len(ways(kept, design=replace(design, repeats=4), kind="grade")) == 4


def test_a_design_without_originals_keeps_its_id():
    assert Design(repeats=2).as_json() == StressDesign(repeats=2).as_json() == {"repeats": 2, "variants": ("baseline",)}
    assert StressDesign(original_repeats=3, seeds=2).as_json() == {
        "repeats": 1,
        "variants": ("baseline",),
        "original_repeats": 3,
        "seeds": 2,
    }


@pytest.mark.parametrize("kind", ["compare", "grade"])
@pytest.mark.parametrize(
    "design",
    [
        DatasheetDesign(repeats=3, variants=("baseline", "strict"), steps={"strict": (1.0,)}),
        StressDesign(repeats=2, original_repeats=3, changed_repeats=4, variants=("baseline", "strict")),
        StressDesign(seeds=5, sampling=('{"temperature":1.0}',)),
    ],
)
def test_no_stimulus_is_shown_in_more_ways_than_a_design_says(design, kind):
    """By this, a plan is known to be small enough without being counted."""
    texts = [("u", "v"), ("u",), ("", "")]
    expected = [NoPreference(), SameVerdict(), FlippedVerdict(), GivenLabel("yes")]
    shown_in = [
        len(ways(replace(PAIR, candidates=each, expectation=one, family=family), design=design, kind=kind))
        for each in texts
        for one in expected
        for family in ("original", "typos", "equal", "blank")
    ]
    assert 0 < max(shown_in) <= design.most_ways()
    assert Design().most_ways() is None
