"""The records on the one path: what they hold to, and what their ids depend on."""

from dataclasses import fields, replace
from typing import get_args

import pytest

from tests.cases import each
from umpirical.domain.digests import digest
from umpirical.domain.responses import FailureKind, Response
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import (
    Expectation,
    FlippedVerdict,
    GivenLabel,
    GivenWinner,
    Item,
    NoPreference,
    SameVerdict,
    Stimulus,
    expectation_from_json,
    expectation_json,
)

STIMULUS = Stimulus("task", "Do it.", ("u", "v"), NoPreference(), "ladder/1", "equal")

CHANGED = {
    "task_id": "other",
    "task": "Do that.",
    "candidates": ("v", "u"),
    "expectation": GivenWinner(0),
    "maker": "ladder/2",
    "family": "graded",
    "stratum": "empty",
    "delta": 0.0,
    "base": 0,
    "parent": "p",
    "gold": "3",
    "gold_from": "label",
    "evidence": {"proof": "equal"},
    "strata": {"grade": "8"},
    "task_family": "family",
    "crossed_pair": "crossed_pair 1",
    "version": "A",
    "columns": {"reference": "42"},
}

BESIDE = {"parts"}
"""What is known of a stimulus and never shown: its id stays the same."""

EXPECTATIONS = [
    NoPreference(),
    GivenWinner(0),
    GivenWinner(1),
    GivenLabel("yes"),
    SameVerdict(),
    FlippedVerdict(),
]


def test_every_field_of_a_stimulus_has_a_change_to_try():
    assert set(CHANGED) == {field.name for field in fields(Stimulus)} - BESIDE


def test_the_part_that_a_stimulus_belongs_to_leaves_its_id_as_it_was():
    assert replace(STIMULUS, parts={"language": "de"}).id == STIMULUS.id


@each("name", CHANGED)
def test_the_id_of_a_stimulus_depends_on_every_field(name):
    assert replace(STIMULUS, **{name: CHANGED[name]}).id != STIMULUS.id


def test_equal_stimuli_have_equal_ids():
    assert replace(STIMULUS).id == STIMULUS.id


def test_the_id_of_an_item_depends_on_every_field():
    item = Item("task", "response", ("yes",), {"language": "en"})
    others = [
        replace(item, task="t"),
        replace(item, response="r"),
        replace(item, labels=("no",)),
        replace(item, strata={"language": "de"}),
        replace(item, columns={"reference": "42"}),
        replace(item, columns={"reference": "43"}),
    ]
    assert len({item.id, *(other.id for other in others)}) == 7


def test_the_examples_hold_every_kind_of_expectation():
    assert {type(expectation) for expectation in EXPECTATIONS} == set(get_args(Expectation))


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=repr)
def test_an_expectation_survives_json(expectation):
    assert expectation_from_json(expectation_json(expectation)) == expectation


@pytest.mark.parametrize("expectation", EXPECTATIONS, ids=repr)
def test_an_expectation_survives_a_record_with_empty_columns(expectation):
    empty = {"kind": None, "candidate": None, "label": None}
    assert expectation_from_json({**empty, **expectation_json(expectation)}) == expectation


@pytest.mark.parametrize("record", [{}, {"kind": "?"}, {"kind": "given-winner"}, {"kind": "given-label", "label": 1}])
def test_what_is_no_expectation_is_refused(record):
    with pytest.raises(ValueError, match="invalid expectation"):
        expectation_from_json(record)


@pytest.mark.parametrize(
    ("kind", "labels", "low", "high"),
    [
        ("nominal", (), None, None),
        ("nominal", ("one",), None, None),
        ("ordinal", ("bad", "good", "bad"), None, None),
        ("binary", ("a", "b", "c"), None, None),
        ("interval", (), None, 1.0),
        ("interval", (), 1.0, 1.0),
        ("interval", (), 2.0, 1.0),
        ("interval", (), float("nan"), 1.0),
        ("interval", ("a", "b"), 0.0, 1.0),
    ],
)
def test_an_unsound_scale_is_refused(kind, labels, low, high):
    with pytest.raises(ValueError, match="scale"):
        GradeScale(kind, labels, low, high)


def test_an_interval_scale_holds_its_ends_and_nothing_beyond():
    scale = GradeScale("interval", low=0, high=10)
    assert [scale.holds(value) for value in (0, 10, 5.5, -0.001, 10.001, float("nan"))] == [True] * 3 + [False] * 3


@pytest.mark.parametrize("kind", get_args(FailureKind))
def test_a_response_has_a_text_or_a_failure_and_never_both(kind):
    assert Response("t", "").text == ""
    assert Response("t", None, kind).failure == kind
    with pytest.raises(ValueError, match="either a text or a failure"):
        Response("t", "1", kind)
    with pytest.raises(ValueError, match="either a text or a failure"):
        Response("t", None)


def test_a_controlled_stimulus_keeps_the_id_it_had_before_there_was_data_of_the_users():
    """Runs on disk name their stimuli by id: a new field that says nothing must not change it."""
    payload = {
        "task_id": STIMULUS.task_id,
        "task": STIMULUS.task,
        "candidates": STIMULUS.candidates,
        "expectation": {"kind": "no-preference"},
        "maker": STIMULUS.maker,
        "family": STIMULUS.family,
        "stratum": STIMULUS.stratum,
        "delta": STIMULUS.delta,
        "base": STIMULUS.base,
        "parent": STIMULUS.parent,
    }
    assert STIMULUS.id == digest("stimulus", payload)
