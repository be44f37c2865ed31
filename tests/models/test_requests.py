"""A request's payload is what a trial's id is made of."""

from dataclasses import replace

from umpirical.judges.judge import prompt_id, trial_id
from umpirical.models.requests import ChatRequest, Decoding, Message

REQUEST = ChatRequest("m", (Message("user", "q"),), Decoding(), '{"type":"object"}')


def test_the_id_of_a_question_depends_on_all_that_is_sent():
    others = [
        replace(REQUEST, model="n"),
        replace(REQUEST, messages=(Message("system", "q"),)),
        replace(REQUEST, messages=(Message("user", "q"), Message("user", "q"))),
        replace(REQUEST, decoding=Decoding(temperature=0.1)),
        replace(REQUEST, decoding=Decoding(temperature=None)),
        replace(REQUEST, decoding=Decoding(seed=0)),
        replace(REQUEST, answer_schema=""),
    ]
    assert len({prompt_id(asked) for asked in (REQUEST, *others)}) == len(others) + 1


def test_the_spelling_of_the_schema_does_not_matter():
    assert prompt_id(replace(REQUEST, answer_schema='{ "type" : "object" }')) == prompt_id(REQUEST)


def test_a_repeat_is_another_trial_of_the_same_question():
    assert trial_id("p", repeat=0) != trial_id("p", repeat=1)
    assert trial_id("p", repeat=0) == trial_id("p", repeat=0) != trial_id("q", repeat=0)
