"""The fallback validator: asked only where the first refuses, and no easier to pass."""

from dataclasses import replace

import pytest

from tests.stimuli.generation.wanted import DIFFERENT, PARAPHRASE, SAME, TERMS, drive, grade, refused, said, wanted
from umpirical.domain.responses import Response
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.generation.plan import rejection_reasons

FALLBACK = Writer("other-reader", "loopback", 30)
WITH = replace(TERMS, fallback=FALLBACK)


def roles(asks):
    return [ask.role for ask in asks]


def test_a_fallback_that_refuses_too_is_no_pass():
    done, asks = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=[refused()] * 4)
    assert done.stimulus is None
    assert done.opinions == ("refused, fallback: refused",) * 2
    assert rejection_reasons(done) == ("validators and fallback refused",)
    assert roles(asks) == ["generator", "validator", "fallback", "validator", "fallback"]


@pytest.mark.parametrize(
    "error",
    [
        Response("t", None, failure="rejected", failure_detail="HTTP 400: blocked by policy"),
        said("", finish="content_filter"),
        said("It is the same, I suppose, but who am I to say so.", finish="stop"),
        said('{"verdict": "same"}', finish="length"),
    ],
)
def test_a_fallback_that_errs_is_no_pass(error):
    done, _ = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=[refused(), error] * 3)
    assert done.stimulus is None


def test_a_fallback_that_finds_a_difference_is_no_pass():
    done, _ = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=[refused(), DIFFERENT] * 2)
    assert done.stimulus is None
    assert rejection_reasons(done) == ("validators did not agree",)


def test_the_fallback_is_asked_where_the_validator_refuses_and_both_are_kept():
    done, asks = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=[refused(), SAME, SAME])
    assert done.opinions == ("refused, fallback: same", "same")
    assert roles(asks) == ["generator", "validator", "fallback", "validator"]
    assert done.stimulus.evidence["validators"] == (
        "reader-1, else other-reader: 2 of 2 agree (refused, fallback: same, same)"
    )


@pytest.mark.parametrize(
    "stopped",
    [
        said("I", finish="SAFETY"),
        said("", finish="content_filter"),
        Response("t", None, failure="rejected", failure_detail="HTTP 400: prohibited content"),
    ],
)
def test_a_filter_that_stops_the_validator_counts_as_its_refusal(stopped):
    done, asks = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=[stopped, SAME, stopped, SAME])
    assert done.stimulus is not None
    assert roles(asks).count("fallback") == 2


def test_a_validator_that_cannot_be_read_is_not_replaced():
    """An answer in other words is no refusal: with a second chance, bad texts would pass more often."""
    done, asks = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=["Well.", SAME, "Well."])
    assert "fallback" not in roles(asks)
    assert done.stimulus is None


def test_the_fallback_is_asked_the_same_question_as_itself():
    _, asks = drive(wanted(terms=WITH), text=PARAPHRASE, opinions=[refused(), SAME, SAME])
    validator, fallback = asks[1].request, asks[2].request
    assert fallback.messages == validator.messages
    assert fallback.answer_schema == validator.answer_schema
    assert (fallback.model, fallback.decoding.max_tokens) == ("other-reader", 30)
    assert len({ask.id for ask in asks}) == len(asks)


def test_grades_of_the_fallback_count_like_any_other():
    commission = wanted("label-flip", terms=WITH, target="2")
    text = PARAPHRASE.replace("61", "62")
    done, _ = drive(commission, text=text, opinions=[refused(), grade("2"), refused(), grade("2")])
    assert (done.stimulus.gold, done.stimulus.gold_from) == ("2", "construction")


def test_a_label_that_looks_like_a_record_of_the_fallback_is_not_taken_for_an_opinion():
    scale = replace(TERMS.scale, labels=("no", "refused, fallback: no"))
    commission = wanted("label-flip", terms=replace(WITH, scale=scale), target="refused, fallback: no")
    done, _ = drive(commission, text=PARAPHRASE, opinions=[refused(), grade("no")] * 2)
    assert done.stimulus is None


def test_a_commission_without_a_fallback_keeps_its_id_and_one_with_it_has_another():
    assert wanted(terms=WITH).id != wanted().id
    assert wanted(fallback=None).id == wanted().id
