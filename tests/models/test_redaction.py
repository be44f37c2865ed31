"""Redaction: however a server writes a secret down, it is not recorded."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from tests.models.spellings import spellings
from umpirical.domain.responses import Response
from umpirical.models.recording import LONGEST_DETAIL, MARK, Recording, Redaction, environment_secrets, longest_text
from umpirical.models.requests import Decoding

KEY = "sk-proj-Zq7_Xw9pLm3-RtY8vBn2KdF5sHj"
RAW = KEY.encode()
WRITTEN = spellings(KEY)


@each("written", WRITTEN.values())
@each("around", ["{}", "wrong key: {}, ask for another", "x{}y", "é{}ß", "Authorization=Bearer {}"])
def test_a_secret_is_found_however_it_is_written(written, around):
    left = Redaction([KEY])(around.format(written))
    assert MARK in left
    assert not Redaction([KEY]).holds(left)
    assert KEY[:12] not in left
    assert written not in left


@given(st.text(), st.text(), st.sampled_from([KEY, KEY.upper(), RAW.hex(), base64.b64encode(RAW).decode()]))
def test_no_surrounding_text_hides_it(before, behind, written):
    left = Redaction([KEY])(before + written + behind)
    assert written not in left
    assert not Redaction([KEY]).holds(left)


@given(st.text(max_size=200))
def test_other_text_is_left_alone(text):
    assert Redaction([KEY])(text) == text


def test_a_word_that_serves_as_a_key_is_no_secret():
    for word in ("none", "EMPTY", "x", ""):
        assert Redaction([word])(f"the answer is {word}") == f"the answer is {word}"


@pytest.mark.parametrize(
    "text",
    [
        "wrong key CANARY-1",
        "wrong key sk-proj-CANARY-12345",
        "wrong key sk-ant-api03-CANARY_x",
        "wrong key gsk_CANARY1234567",
        "wrong key AIzaSyCANARY1234567",
        "wrong header: Bearer CANARYCANARY",
        "wrong key sk-CAN***ARY1, CANARY-1",
    ],
)
def test_what_looks_like_a_key_is_taken_out_of_errors(text):
    left = Redaction(["CANARY-1x", "CANARY-1"]).of_error(text)
    assert "CANARY" not in left.replace("CANARY-1", "")
    assert "CAN***" not in left
    assert left.startswith("wrong")


def test_plain_words_are_left_alone():
    text = "The task-specific risk-averse key is missing: HTTP 400, ask-me-anything"
    assert Redaction().of_error(text) == text


def test_a_secret_is_taken_out_before_a_text_is_cut():
    recording = Recording([KEY])
    for before in range(LONGEST_DETAIL - len(KEY) - 5, LONGEST_DETAIL + 5):
        left = recording.detail("." * before + KEY + "." * 50)
        assert len(left) <= LONGEST_DETAIL
        assert KEY[:4] not in left


def test_every_part_of_a_record_is_without_it():
    logprobs = json.dumps({"content": [{"token": piece, "logprob": -0.1} for piece in (KEY[:5], KEY[5:])]})
    said = Response("t", f"it is {KEY}", finish_reason=KEY, logprobs=logprobs, served_by=f"m {KEY}")
    kept = Recording([KEY]).keep(said, Decoding(top_logprobs=5))
    assert (kept.text, kept.finish_reason, kept.served_by, kept.logprobs) == (f"it is {MARK}", MARK, f"m {MARK}", "")


def test_what_was_not_asked_for_is_not_recorded():
    said = Response("t", "1", logprobs='{"content": []}')
    assert Recording().keep(said, Decoding()).logprobs == ""
    assert Recording().keep(said, Decoding(top_logprobs=0)).logprobs == said.logprobs


def test_a_record_is_bounded_by_what_was_asked_for():
    decoding = Decoding(max_tokens=10)
    most = longest_text(decoding)
    kept = Recording().keep(Response("t", "x" * most, finish_reason="y" * 9999, served_by="m" * 200_000), decoding)
    assert (len(kept.text), len(kept.finish_reason), len(kept.served_by)) == (most, 64, 256)
    more = Recording().keep(Response("t", "x" * (most + 1)), decoding)
    assert (more.text, more.failure) == (None, "malformed")
    assert f"{most:,}" in more.failure_detail


def test_secrets_of_the_environment_are_those_that_are_named_so():
    environment = {"A_API_KEY": KEY, "HF_TOKEN": "hf_1234567890abcdef", "AWS_ACCESS_KEY_ID": "AKIA1234567890ABCDEF"}
    others = {"KEYBOARD": "a-very-long-keyboard-name", "DB_PASSWORD": "password", "HOME": "/home/somebody/long"}
    assert set(environment_secrets(environment | others)) == set(environment.values())
