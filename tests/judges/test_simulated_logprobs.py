"""The log-probabilities of simulated judges: those of the latent rule, and those that their answers are drawn by."""

import asyncio
import json
from collections import Counter
from math import exp

import pytest
from scipy.special import ndtr

from umpirical.domain.scoring_methods import slot_odds
from umpirical.domain.trials import Layout, Presentation
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.label_logprobs import LabelReader, read_tokens
from umpirical.judges.layout import layout_values
from umpirical.judges.prompt import builtin_prompt
from umpirical.judges.simulated.comparer import Comparer
from umpirical.judges.simulated.model import SimulatedModel
from umpirical.judges.simulated.profiles import GRADER_PROFILES, PROFILES, Profile
from umpirical.judges.spec import JudgeSpec
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.stats.simulation.judge import LatentJudge
from umpirical.text.templates import fill

QUALITY = {"all of it": 5.0, "some of it": 3.0}
PLAIN = Profile("test", LatentJudge(resolution=0.5, criterion=0.4, slot_bias=0.7, lapse=0.03), frozen_noise=0.0)
SPEC = JudgeSpec(name="j", model={"adapter": "simulated", "name": "careful"})


def prompt(first, second, layout=None):
    values = {"task": "t", "first": first, "second": second, "fence": "abcdef", "scale": ""}
    return fill(builtin_prompt("compare"), values | layout_values(layout))


def respond(profile, text, *, trial="t", top=20):
    request = ChatRequest("m", (Message("user", text),), Decoding(top_logprobs=top))
    model = SimulatedModel(profile, answer_key=lambda _, answer: QUALITY.get(answer, 0.0), seed=1)
    return asyncio.run(model.generate(request, trial_id=trial))


def test_they_are_those_of_the_latent_rule():
    """X = .5 * 2 + .7 against .4; one call in a hundred is a guess at each label."""
    found = Comparer(PLAIN, lambda _, answer: QUALITY[answer], 1).probabilities(prompt("all of it", "some of it"))
    first, second = 0.01 + 0.97 * ndtr(1.7 - 0.4), 0.01 + 0.97 * ndtr(-1.7 - 0.4)
    assert found == pytest.approx({"1": first, "2": second, "tie": 1 - first - second})


def test_they_are_those_of_the_words_in_the_prompt_and_are_read_back_as_slots():
    layout = Layout("A/B", labels_swapped=True, options_swapped=True, tie_place=0)
    text = prompt("all of it", "some of it", layout)
    plain = Comparer(PLAIN, lambda _, answer: QUALITY[answer], 1).probabilities(prompt("all of it", "some of it"))
    words = Comparer(PLAIN, lambda _, answer: QUALITY[answer], 1).probabilities(text)
    assert words == pytest.approx({"B": plain["1"], "A": plain["2"], "tie": plain["tie"]})
    response = respond(PLAIN, text)
    outcome = read_response(AnswerReader(None), response, Presentation(layout=layout))
    found = LabelReader(SPEC).read(response, outcome, layout)
    assert {slot: exp(found[slot].low) for slot in ("1", "2", "tie")} == pytest.approx(plain)


def test_they_are_read_back_as_labels():
    text = prompt("all of it", "some of it")
    response = respond(PLAIN, text)
    outcome = AnswerReader(None).read(response.text)
    labels = LabelReader(SPEC).read(response, outcome)
    for label, share in Comparer(PLAIN, lambda _, answer: QUALITY[answer], 1).probabilities(text).items():
        assert exp(labels[label].low) == exp(labels[label].high) == pytest.approx(share)
    other = LabelReader(SPEC).read(*read(respond(PLAIN, prompt("some of it", "all of it"))))
    # Quality drops out of the sum, and the position bias out of the difference.
    assert slot_odds(labels).low > slot_odds(other).low


def read(response):
    return response, AnswerReader(None).read(response.text)


def test_the_answers_are_drawn_by_them():
    text, calls = prompt("some of it", "all of it"), 3000
    said = Counter(json.loads(respond(PLAIN, text, trial=str(n)).text)["verdict"] for n in range(calls))
    for label, share in Comparer(PLAIN, lambda _, answer: QUALITY[answer], 1).probabilities(text).items():
        # Four standard errors of a share.
        assert said[label] / calls == pytest.approx(share, abs=4 * (share * (1 - share) / calls) ** 0.5)


@pytest.mark.parametrize("name", PROFILES)
def test_what_is_listed_is_at_most_what_was_asked_for_and_never_more_than_all(name):
    response = respond(PROFILES[name], prompt("all of it", "some of it"), top=2)
    token = read_tokens(response.logprobs)[1]
    assert token.listed == 2
    assert exp(token.logprob) + sum(exp(logprob) for _, logprob in token.others) <= 1 + 1e-9


def test_they_are_given_only_if_asked_for_and_only_by_judges_that_compare():
    text = prompt("all of it", "some of it")
    assert respond(PLAIN, text, top=None).logprobs == ""
    graded = fill(builtin_prompt("grade"), {"task": "t", "first": "all of it", "fence": "abcdef", "scale": '"1", "2"'})
    grader = next(iter(GRADER_PROFILES.values()))
    assert respond(grader, graded).text
    assert respond(grader, graded).logprobs == ""
