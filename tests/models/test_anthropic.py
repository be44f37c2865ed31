"""Anthropic's protocol, as single calls and batches read it: what is no whole message of text is no answer."""

import pytest

from tests.cases import each
from tests.servers.anthropic_server import message
from umpirical.domain.responses import Usage
from umpirical.models.adapters.anthropic import ADAPTER, read_message, request_body
from umpirical.models.caller import CallFailed
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import ModelSpec

SCHEMA = '{"type": "object"}'
BODY = {"model": "m", "messages": [{"role": "user", "content": "Which?"}]}
SAID = message(BODY, "1")


def request(**decoding) -> ChatRequest:
    turns = (Message("system", "Judge."), Message("user", "Which?"))
    return ChatRequest("m", turns, Decoding(**decoding), SCHEMA)


def test_a_request_in_its_words():
    assert request_body(request(max_tokens=9)) == {
        "model": "m",
        "system": "Judge.",
        "messages": [{"role": "user", "content": "Which?"}],
        "temperature": 0.0,
        "max_tokens": 9,
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    }


@pytest.mark.parametrize(
    ("decoding", "why"),
    [({"seed": 1}, "seed"), ({"top_logprobs": 2}, "logprobs"), ({"max_tokens": None}, "max_tokens")],
)
def test_what_it_has_no_words_for_is_never_sent(decoding, why):
    with pytest.raises(CallFailed, match=f"never sent: .*{why}") as failed:
        request_body(request(**decoding))
    assert failed.value.turned_down


def test_a_message_with_reasoning_and_cached_input():
    blocks = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "1"}, {"type": "text", "text": "0"}]
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}
    reply = read_message(SAID | {"content": blocks, "usage": usage})
    assert (reply.text, reply.unread, reply.finish_reason) == ("10", "Hm.", "end_turn")
    assert reply.usage == Usage(10, 7, 3)


@each(
    ("change", "kind"),
    [
        ({"stop_reason": "refusal"}, "refused"),
        ({"content": []}, "malformed"),
        ({"content": None}, "malformed"),
        ({"content": ["1"]}, "malformed"),
        ({"content": [{"type": "text", "text": None}]}, "malformed"),
        ({"content": [{"type": "text", "text": "1"}, {"type": "tool_use", "input": {}}]}, "malformed"),
        ({"role": "user"}, "malformed"),
        ({"type": "completion"}, "malformed"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, "server-error"),
        ({"error": {"type": "rate_limit_error"}}, "rate-limited"),
        ({"error": {"type": "invalid_request_error"}}, "rejected"),
        ({"error": "broken"}, "server-error"),
    ],
)
def test_what_is_no_answer(change, kind):
    with pytest.raises(CallFailed) as failed:
        read_message(SAID | change)
    assert failed.value.kind == kind
    # Whoever sends a count has worked.
    assert failed.value.usage == Usage(4, 1, 0)
    assert not failed.value.turned_down


@pytest.mark.parametrize(
    "counts", [None, {"input_tokens": -1, "output_tokens": 1}, {"input_tokens": True}, {"input_tokens": "3"}]
)
def test_what_is_no_count_is_unknown(counts):
    assert read_message(SAID | {"usage": counts}).usage == Usage()


def test_it_needs_an_address():
    with pytest.raises(ValueError, match="needs base_url"):
        ModelSpec(adapter="anthropic", name="m")
    assert ADAPTER.batches(ModelSpec(adapter="anthropic", name="m", base_url="http://127.0.0.1:1")) is not None
