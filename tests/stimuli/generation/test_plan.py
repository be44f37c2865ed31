"""Which commissions are planned, which are not, and why."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from tests.stimuli.generation.wanted import BINARY, ESSAY, INTERVAL, NOMINAL, ORDINAL, TERMS, original
from umpirical.domain.scales import GradeScale
from umpirical.stimuli.generation.plan import Counts, Skipped, plan_commissions
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation

TESTS = [test for test in PERTURBATIONS if isinstance(test, GeneratedPerturbation)]


def plan(originals, *tests, scale=ORDINAL, seed=1, per_level=2):
    chosen = [PERTURBATIONS.get(test) for test in tests]
    return plan_commissions(originals, chosen, replace(TERMS, scale=scale), Counts(per_level), seed=seed)


def essays(*golds, text=ESSAY):
    return [original(f"{text} {number}", gold=gold, name=f"e{number}") for number, gold in enumerate(golds)]


def test_one_commission_for_each_original_in_their_order():
    originals = essays("1", "", "6")
    commissions, skipped = plan(originals, "paraphrase", "hedging")
    assert [(commission.perturbation.name, commission.source) for commission in commissions] == [
        *(("paraphrase", source) for source in originals),
        *(("hedging", source) for source in originals),
    ]
    assert not skipped
    assert {commission.target for commission in commissions} == {""}


@pytest.mark.parametrize(
    ("scale", "golds", "targets"),
    [
        (BINARY, ["fail", "pass"], ["pass", "fail"]),
        (ORDINAL, ["1", "2", "3", "4", "5", "6"], ["6", "5", "4", "3", "2", "1"]),
        (GradeScale("ordinal", ("low", "high")), ["low", "high"], ["high", "low"]),
        (GradeScale("ordinal", ("a", "b", "c", "d", "e")), ["a", "b", "d", "e"], ["e", "d", "b", "a"]),
    ],
)
def test_a_label_is_flipped_over_the_middle_of_the_scale(scale, golds, targets):
    commissions, skipped = plan(essays(*golds), "label-flip", scale=scale)
    assert [commission.target for commission in commissions] == targets
    assert not skipped


def test_the_middle_of_a_scale_has_no_opposite():
    originals = essays("1", "2", "3")
    commissions, skipped = plan(originals, "label-flip", scale=GradeScale("ordinal", ("1", "2", "3")))
    assert [commission.target for commission in commissions] == ["3", "1"]
    reason = "the original is in the middle of the scale, which has no opposite"
    assert skipped == [Skipped("label-flip", originals[1].id, reason)]


def test_on_a_scale_without_order_another_label_is_drawn():
    originals = essays(*(NOMINAL.labels * 40))
    commissions, _ = plan(originals, "label-flip", scale=NOMINAL)
    drawn = Counter((commission.source.gold, commission.target) for commission in commissions)
    assert all(gold != target for gold, target in drawn)
    # Six kinds of 20 each, by expectation; 5 or fewer of one kind would come once in ten thousand times.
    assert len(drawn) == 6
    assert min(drawn.values()) > 5
    assert [commission.target for commission in plan(originals, "label-flip", scale=NOMINAL)[0]] == [
        commission.target for commission in commissions
    ]
    others = plan(originals, "label-flip", scale=NOMINAL, seed=2)[0]
    assert [commission.target for commission in others] != [commission.target for commission in commissions]


@pytest.mark.parametrize(
    ("scale", "gold", "reason"),
    [
        (ORDINAL, "", "the original has no label"),
        (ORDINAL, "7", "the label of the original is not on the scale"),
        (INTERVAL, "50", "an interval scale has no label to flip to"),
    ],
)
def test_what_cannot_be_flipped_is_skipped_with_the_reason(scale, gold, reason):
    originals = essays(gold, gold)
    commissions, skipped = plan(originals, "label-flip", scale=scale)
    assert not commissions
    assert skipped == [Skipped("label-flip", source.id, reason) for source in originals]


@each("test", [test.name for test in TESTS if test.expectation != "given-label"])
@each("text", ["", " \n"])
def test_an_empty_response_cannot_be_changed(test, text):
    [source] = [original(text, gold="2")]
    assert plan([source], test) == ([], [Skipped(test, source.id, "the response is empty")])


@pytest.mark.parametrize(
    ("test", "least"),
    [("paraphrase", 5), ("verbosity-long", 5), ("hedging", 5), ("verbosity-short", 30), ("wrong-language", 25)],
)
def test_what_is_too_short_is_not_tried(test, least):
    short, enough = original("word " * (least - 1)), original("word " * least)
    commissions, skipped = plan([short, enough], test)
    assert [commission.source for commission in commissions] == [enough]
    assert skipped == [Skipped(test, short.id, f"the response has fewer than {least} words")]


def test_a_text_that_is_there_twice_is_written_once():
    source = original()
    commissions, skipped = plan([source, source], "paraphrase")
    assert len(commissions) == 1
    assert skipped == [Skipped("paraphrase", source.id, "the original appears twice")]


def test_levels_are_planned_for_an_ordinal_scale_only():
    originals = essays("1", "3")
    commissions, skipped = plan(originals, "synthetic-ordinal")
    assert Counter(commission.target for commission in commissions) == dict.fromkeys(ORDINAL.labels, 2)
    assert not skipped
    for scale in (NOMINAL, INTERVAL):
        commissions, [skip] = plan(essays("spam"), "synthetic-ordinal", scale=scale)
        assert not commissions
        assert (skip.test, skip.source) == ("synthetic-ordinal", "")
        assert (
            skip.reason
            == f"{'an' if scale is INTERVAL else 'a'} {scale.kind} scale has no ordered levels to write texts for"
        )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(["", "1", "2", "4", "9"]), min_size=1, max_size=8),
    st.integers(0, 5),
    st.sampled_from([ORDINAL, BINARY, NOMINAL, INTERVAL]),
)
def test_every_original_of_every_test_is_planned_or_skipped_and_the_plan_is_the_same_again(golds, seed, scale):
    originals = essays(*golds)
    names = [test.name for test in TESTS]
    commissions, skipped = plan(originals, *names, scale=scale, seed=seed)
    for test in TESTS:
        if test.expectation == "given-label":
            continue
        planned = [commission.source.id for commission in commissions if commission.perturbation is test]
        left = [skip.source for skip in skipped if skip.test == test.name]
        assert sorted(planned + left) == sorted(source.id for source in originals)
    assert len({commission.id for commission in commissions}) == len(commissions)
    again, skipped_again = plan(originals, *names, scale=scale, seed=seed)
    assert [commission.id for commission in again] == [commission.id for commission in commissions]
    assert skipped_again == skipped
