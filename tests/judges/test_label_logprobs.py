"""Log-probabilities of labels, from tokens cut in every way that servers cut them; values by hand."""

import json
from math import exp, inf, log

import pytest

from tests.servers.chat_server import Said
from umpirical.domain.judgments import Abstained, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.scoring_methods import Span
from umpirical.judges.label_logprobs import NO_LOGPROBS, LabelReader, Undecided, read_tokens
from umpirical.judges.spec import JudgeSpec

ONE, TWO, TIE = (Verdict(choice) for choice in (Choice.POSITION_1, Choice.POSITION_2, Choice.TIE))


def spec(**answer) -> JudgeSpec:
    model = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1/v1"}
    return JudgeSpec(name="j", model=model, answer=answer)


def sure(*texts):
    """Tokens beside which nothing else was likely."""
    return [(text, -0.001, {text: -0.001, "?": -8.0}) for text in texts]


def labels(tokens, outcome, **answer):
    said = Said(tuple(tokens))
    response = Response("t", said.text, logprobs=json.dumps(said.logprobs()))
    return LabelReader(spec(**answer)).read(response, outcome)


def near(span, low, high=None):
    assert (span.low, span.high) == pytest.approx((low, low if high is None else high), abs=1e-9)


LISTED = {"1": -0.5, "2": -1.5, "t": -3.0, "a": -4.0, "The": -6.0}


@pytest.mark.parametrize(
    "before",
    [
        ("{", '"', "verdict", '":', ' "'),
        ('{"verdict": "',),
        ("\n{", '"ver', "dict", '"', ": ", '"'),
        ("```json\n", '{"verdict":"'),
    ],
    ids=repr,
)
def test_the_label_is_found_wherever_it_stands(before):
    found = labels([*sure(*before), ("1", -0.5, LISTED), *sure('"}')], ONE)
    near(found["1"], -0.5)
    near(found["2"], -1.5)
    near(found["tie"], -3.0)
    near(found["abstain"], -4.0)


def test_tokens_of_llama_cpp_as_they_come():
    """Cut as SmolLM2 cuts them, listed before the grammar is applied, with an empty token at the end."""
    listed = {"1": -0.586, "2": -2.257, "tie": -2.267, "3": -3.626, "ab": -4.322, "T": -4.806, "ti": -5.9, "A": -6.0}
    before = sure("{", "\n ", ' "', "ver", "dict", '":', ' "')
    found = labels([*before, ("1", -0.586, listed), *sure('"', "\n", "}", "")], ONE)
    near(found["1"], -0.586)
    near(found["2"], -2.257)
    near(found["tie"], log(exp(-2.267) + exp(-5.9)))
    near(found["abstain"], -4.322)


def test_the_quote_may_be_part_of_the_token_and_what_follows_too():
    listed = {'"1': -0.5, '"2"}': -1.5, '"tie': -2.5, '"': -5.0, " 1": -6.0}
    found = labels([*sure('{"verdict":'), ('"1', -0.5, listed), *sure('"}')], ONE)
    near(found["1"], -0.5)
    near(found["2"], -1.5)
    near(found["tie"], -2.5)
    # `"` alone decides nothing, and ` 1` without a quote is no answer of the schema.
    assert found["abstain"].low == -inf


def test_ways_to_begin_a_label_add_up_under_a_schema():
    listed = {"1": -0.5, "t": -2.0, "tie": -3.0, "ti": -4.0, "2": -5.0, "a": -9.0}
    found = labels([*sure('{"verdict": "'), ("1", -0.5, listed), *sure('"}')], ONE)
    near(found["tie"], log(exp(-2) + exp(-3) + exp(-4)))


def test_a_label_in_pieces_is_the_path_under_a_schema_up_to_where_it_is_sure():
    listed = {"t": -0.2, "1": -2.0, "2": -3.0, "abst": -6.0}
    found = labels([*sure('{"verdict": "'), ("t", -0.2, listed), ("ie", -0.9, {"ie": -0.9}), *sure('"}')], TIE)
    near(found["tie"], -0.2)
    near(found["1"], -2.0)
    near(found["abstain"], -6.0)


def test_a_label_in_pieces_is_the_product_of_its_pieces_in_free_text():
    first = {"t": -0.2, "1": -2.0, "2": -3.0, "abstain": -6.0}
    pieces = [("t", -0.2, first), ("ie", -0.9, {"ie": -0.9, "he": -1.0})]
    found = labels(pieces, TIE, constrained=False)
    near(found["tie"], -1.1)
    near(found["1"], -2.0)


def test_a_beginning_is_only_an_upper_bound_in_free_text():
    listed = {"1": -0.5, "t": -1.2, "2": -4.0, "abstain": -6.0, "x": -7.0}
    found = labels([("1", -0.5, listed)], ONE, constrained=False)
    near(found["1"], -0.5)
    # Of the path through t the most is known; a whole tie that is not listed adds at most the least that is.
    assert found["tie"].low == -inf
    assert found["tie"].high == pytest.approx(log(exp(-1.2) + exp(-7)))


def test_a_label_outside_the_list_has_a_bound_and_no_value():
    listed = {"1": -0.5, "2": -1.5, "The": -3.0, "Both": -6.5}
    found = labels([*sure('{"verdict": "'), ("1", -0.5, listed), *sure('"}')], ONE)
    assert found["tie"] == found["abstain"] == Span(-inf, -6.5)


def test_where_nothing_is_listed_the_rest_of_the_probability_is_the_bound():
    found = labels([*sure('{"verdict": "'), ("1", -0.5, {}), *sure('"}')], ONE)
    near(found["1"], -0.5)
    assert found["2"].low == -inf
    assert found["2"].high == pytest.approx(log(1 - exp(-0.5)))


def test_the_token_that_was_drawn_need_not_be_among_the_listed():
    listed = {"1": -0.1, "2": -3.0}
    found = labels([*sure('{"verdict": "'), ("tie", -5.0, listed), *sure('"}')], TIE)
    near(found["tie"], -5.0)
    near(found["1"], -0.1)
    # What is left for any other token is less than the least of the list.
    assert found["abstain"].high == pytest.approx(log(1 - exp(-0.1) - exp(-3) - exp(-5)))


def test_words_that_begin_alike_are_told_apart_where_they_part():
    words = {"answer 1": "1", "answer 2": "2", "neither": "tie"}
    tokens = [
        *sure('{"verdict": "'),
        ("answer", -0.2, {"answer": -0.2, "neither": -1.8, "abstain": -7.0}),
        (" 1", -0.4, {" 1": -0.4, " 2": -1.1}),
        *sure('"}'),
    ]
    found = labels(tokens, ONE, labels=words)
    near(found["1"], -0.6)
    near(found["2"], -1.3)
    near(found["tie"], -1.8)


def test_a_beginning_of_two_words_off_the_path_bounds_both():
    words = {"answer 1": "1", "answer 2": "2", "neither": "tie"}
    listed = {"neither": -0.3, "answer": -1.4, "x": -8.0}
    found = labels([*sure('{"verdict": "'), ("neither", -0.3, listed), *sure('"}')], TIE, labels=words)
    near(found["tie"], -0.3)
    assert found["1"] == found["2"]
    assert found["1"].low == -inf
    assert found["1"].high == pytest.approx(log(exp(-1.4) + exp(-8)))


def test_several_words_for_one_label_add_up():
    words = {"A": "1", "a": "1", "B": "2", "tie": "tie"}
    listed = {"A": -0.5, "a": -2.0, "B": -3.0, "tie": -4.0, "abstain": -5.0}
    found = labels([*sure('{"verdict": "'), ("A", -0.5, listed), *sure('"}')], ONE, labels=words)
    # `a` also begins abstain, so it is no more than a bound, and so is what a token outside the list may add.
    near(found["1"], -0.5, log(exp(-0.5) + exp(-2) + exp(-5)))


@pytest.mark.parametrize("first", ["1", " 1", '"1', "\n1"])
def test_a_bare_answer_may_have_blanks_and_quotes_before_it(first):
    listed = {first: -0.5, "2": -1.5, " 2": -2.5, "TIE": -3.0, "10": -4.0, "abstain": -5.0}
    found = labels([(first, -0.5, listed)], ONE, constrained=False)
    near(found["1"], -0.5)
    near(found["2"], log(exp(-1.5) + exp(-2.5)))
    near(found["tie"], -3.0)


def test_an_answer_by_pattern_is_found_where_the_pattern_has_it():
    tokens = [*sure("Both are fine. ", "Verdict:"), (" 2", -0.4, {" 2": -0.4, " 1": -1.2, " tie": -3.0}), *sure(".")]
    found = labels(tokens, TWO, pattern=r"Verdict: (?P<answer>1|2|tie)")
    near(found["2"], -0.4)
    near(found["1"], -1.2)
    near(found["tie"], -3.0)


def test_an_abstention_is_a_label_like_others():
    found = labels([*sure('{"verdict": "'), ("a", -0.7, LISTED | {"a": -0.7}), *sure('bstain"}')], Abstained())
    near(found["abstain"], -0.7)


@pytest.mark.parametrize(
    ("tokens", "outcome", "why"),
    [
        (sure("Hard to say."), Unparsed("Hard to say.", "?"), "not read"),
        (sure("Hard", " to say."), ONE, "no label at the position"),
        (sure('{"verdict": "', "1", '", "verdict": "2"}'), ONE, "answer was not found in the tokens"),
        (sure('{"verdict": "', "2", '"}'), ONE, "do not match the recorded answer"),
        (sure("   "), ONE, "answer was not found in the tokens"),
    ],
)
def test_what_cannot_be_told_is_said_and_not_guessed(tokens, outcome, why):
    found = labels(tokens, outcome)
    assert isinstance(found, Undecided)
    assert why in found.why


def test_an_answer_that_ends_within_its_label_is_not_guessed_in_free_text():
    found = labels([("t", -0.2, {"t": -0.2, "1": -2.0})], TIE, constrained=False)
    assert isinstance(found, Undecided)
    assert "ends before" in found.why


@pytest.mark.parametrize("logprobs", ["[]", "{}", "null", '{"content": null}', '{"content": [{"token": 1}]}', "{"])
def test_foreign_json_is_no_list_of_tokens(logprobs):
    found = LabelReader(spec()).read(Response("t", '{"verdict": "1"}', logprobs=logprobs), ONE)
    assert isinstance(found, Undecided)
    assert "list of tokens" in found.why


def test_a_response_without_log_probabilities_says_so():
    assert LabelReader(spec()).read(Response("t", "1"), ONE) == Undecided(NO_LOGPROBS)


def test_a_log_probability_that_is_no_number_is_excluded_of_the_list():
    entry = {
        "token": "1",
        "logprob": 1e-9,
        "top_logprobs": [{"token": "1", "logprob": 0}, {"token": "2", "logprob": None}],
    }
    [token] = read_tokens(json.dumps({"content": [entry]}))
    assert token.logprob == 0
    assert token.others == ()
    assert token.unlisted == pytest.approx(log(1e-6))


def test_a_list_that_is_null_is_an_empty_list():
    [token] = read_tokens('{"content": [{"token": "1", "logprob": -1.0, "top_logprobs": null}]}')
    assert token.others == ()
    assert token.unlisted == pytest.approx(log(1 - exp(-1)))
