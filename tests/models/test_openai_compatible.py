"""The adapter for OpenAI-compatible servers, against servers on loopback."""

import asyncio
import json
import socket
import time
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import get_args

import pytest

from tests.models.chat_model import chat_model
from tests.models.scripted_server import Reply, completion, serve
from tests.servers.chat_server import ChatServer, Fault
from umpirical.domain.responses import Usage
from umpirical.models.caller import Retrying
from umpirical.models.pace import Pace
from umpirical.models.requests import ChatRequest, Decoding, Message

SCHEMA = '{"additionalProperties":false,"properties":{},"required":[],"type":"object"}'
QUICK = Retrying(attempts=2, first_wait=0.01)


def request(decoding=None, schema=""):
    return ChatRequest("judge-7b", (Message("user", "Which is better?"),), decoding or Decoding(), schema)


def tie(_body):
    return '{"verdict": "tie"}'


@asynccontextmanager
async def opened(base_url, **options):
    model = chat_model(base_url, **{"retrying": QUICK, "timeout": 10.0} | options)
    try:
        yield model
    finally:
        await model.close()


async def generate(base_url, asked=None, **options):
    async with opened(base_url, **options) as model:
        return await model.generate(asked or request(), trial_id="trial-1")


# What is sent.


async def test_the_body_holds_every_parameter_exactly_as_configured():
    decoding = Decoding(temperature=0.25, top_p=0.9, max_tokens=64, seed=7, top_logprobs=5)
    with ChatServer(tie) as server:
        response = await generate(server.base_url, request(decoding, SCHEMA))
    [body] = server.bodies
    sent = {
        "temperature": 0.25,
        "top_p": 0.9,
        "max_tokens": 64,
        "seed": 7,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": json.loads(SCHEMA)},
        },
    }
    assert body == {"model": "judge-7b", "messages": [{"role": "user", "content": "Which is better?"}]} | sent
    assert json.loads(response.sent) == sent


@pytest.mark.parametrize(
    "decoding", [Decoding(), Decoding(temperature=None, max_tokens=None), Decoding(temperature=1.0, seed=0)]
)
async def test_none_is_not_sent_and_what_is_recorded_is_what_the_server_saw(decoding):
    with ChatServer(tie) as server:
        response = await generate(server.base_url, request(decoding))
    [body] = server.bodies
    parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
    assert parameters == json.loads(response.sent) == decoding.sent()
    assert None not in body.values()


async def test_odd_text_reaches_the_server_as_it_is():
    odd = '{{task}} "\\ \0 \u2028 🙂 \ud800'
    with ChatServer(lambda body: body["messages"][1]["content"]) as server:
        messages = (Message("system", "s"), Message("user", odd))
        response = await generate(server.base_url, ChatRequest("m", messages, Decoding()))
    assert response.text == odd
    assert [message["role"] for message in server.bodies[0]["messages"]] == ["system", "user"]


async def test_the_key_is_sent_as_a_bearer_and_is_nowhere_in_the_record():
    key = "sk-very-secret-value"
    async with serve(Reply(completion())) as asked:
        answered = await generate(asked.base_url, api_key=key)
    assert asked.headers[0]["Authorization"] == f"Bearer {key}"
    async with serve(Reply({"error": "bad"}, status=401)) as asked:
        refused = await generate(asked.base_url, api_key=key)
    unreachable = await generate("http://127.0.0.1:1/v1", api_key=key)
    assert key not in f"{answered} {refused} {unreachable}"


async def test_without_a_key_no_authorization_is_sent():
    async with serve(Reply(completion())) as asked:
        await generate(asked.base_url)
    assert "Authorization" not in asked.headers[0]
    assert asked.headers[0]["X-Client-Request-Id"] == "trial-1"


# What is recorded.


async def test_everything_the_server_said_is_recorded():
    with ChatServer(tie, latency=0.05) as server:
        response = await generate(server.base_url, request(Decoding(top_logprobs=2)))
    assert (response.trial_id, response.text, response.failure) == ("trial-1", '{"verdict": "tie"}', None)
    assert response.usage == Usage(input_tokens=3, output_tokens=2, cached_tokens=None)
    assert response.served_by == "judge-7b fp_loopback"
    assert response.finish_reason == "stop"
    assert json.loads(response.logprobs)["content"][0]["logprob"] == -0.1
    assert response.attempts == 1
    assert 50 <= response.latency_ms < 10_000
    assert datetime.fromisoformat(response.asked_at).utcoffset() == timedelta(0)


async def test_log_probabilities_that_were_not_asked_for_are_empty():
    with ChatServer(tie) as server:
        assert (await generate(server.base_url)).logprobs == ""


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 8}}, Usage(9, 1, 8)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9, None, None)),
        ({"prompt_tokens": "9", "completion_tokens": 2**80}, Usage()),
        (None, Usage()),
        ("many", Usage()),
    ],
)
async def test_token_counts_are_as_the_server_gave_them_or_none(usage, expected):
    async with serve(Reply(completion() | {"usage": usage})) as asked:
        response = await generate(asked.base_url)
    assert (response.text, response.usage) == ("1", expected)


async def test_an_answer_cut_short_by_the_token_limit_says_so():
    async with serve(Reply(completion(finish_reason="length"))) as asked:
        assert (await generate(asked.base_url)).finish_reason == "length"


# What goes wrong.

FAILS_AS = {
    "rate-limit": "rate-limited",
    "server-error": "server-error",
    "malformed": "malformed",
    "truncated": "malformed",
    "hang": "timeout",
    "reset": "connection",
}


def test_every_fault_of_the_server_has_a_kind_of_failure():
    assert set(FAILS_AS) == set(get_args(Fault))


@pytest.mark.parametrize("fault", FAILS_AS)
async def test_a_passing_fault_is_retried_until_it_is_over(fault):
    with ChatServer(tie, misbehave=lambda _id, times: fault if times < 3 else None) as server:
        timeout = 0.6 if fault == "hang" else 10.0
        retrying = Retrying(attempts=4, first_wait=0.01)
        response = await generate(server.base_url, timeout=timeout, retrying=retrying)
    assert (response.text, response.attempts) == ('{"verdict": "tie"}', 3)
    assert server.asked["trial-1"] == 3
    assert server.faults == {fault: 2}


@pytest.mark.parametrize("fault", FAILS_AS)
async def test_a_lasting_fault_becomes_a_failure_of_its_kind(fault):
    with ChatServer(tie, misbehave=lambda *_: fault) as server:
        response = await generate(server.base_url, timeout=0.3 if fault == "hang" else 10.0)
    assert (response.text, response.failure) == (None, FAILS_AS[fault])
    assert response.failure_detail
    assert response.attempts == server.asked["trial-1"] == 2
    assert json.loads(response.sent) == Decoding().sent()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_retry_after_is_waited_for(status):
    async with serve(Reply({}, status, {"Retry-After": "0.3"}), Reply(completion())) as asked:
        start = time.monotonic()
        response = await generate(asked.base_url)
        # A lower bound: the server asked for it, and a slow machine only makes it longer.
        assert time.monotonic() - start >= 0.3
    assert (response.text, response.attempts) == ("1", 2)


@pytest.mark.parametrize("header", ["Wed, 21 Oct 2026 07:28:00 GMT", "soon", "-5", "nan", "0"])
async def test_a_retry_after_that_is_no_number_of_seconds_falls_back_on_our_own(header):
    async with serve(Reply({}, 429, {"Retry-After": header}), Reply(completion())) as asked:
        assert (await generate(asked.base_url)).attempts == 2


@pytest.mark.parametrize("header", ["61", "86400", "inf"])
async def test_a_server_that_asks_for_too_long_a_wait_gets_a_failure_at_once(header):
    async with serve(Reply({}, 429, {"Retry-After": header})) as asked:
        response = await generate(asked.base_url, retrying=Retrying(attempts=5))
    assert (response.failure, response.attempts, len(asked.headers)) == ("rate-limited", 1, 1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_request_the_server_rejects_is_not_sent_again(status):
    async with serve(Reply({"error": {"message": "no such model"}}, status)) as asked:
        response = await generate(asked.base_url)
    assert (response.failure, response.attempts, len(asked.headers)) == ("rejected", 1, 1)
    assert f"HTTP {status}" in response.failure_detail
    assert "no such model" in response.failure_detail


@pytest.mark.parametrize(
    "reply",
    [
        completion({"content": None, "refusal": "I cannot judge this."}),
        completion({"content": "1", "refusal": "I cannot judge this."}),
        completion({"content": "par"}, finish_reason="content_filter"),
        completion({"content": None}, finish_reason="content_filter"),
    ],
)
async def test_a_refusal_is_a_failure_that_is_not_retried(reply):
    async with serve(Reply(reply)) as asked:
        response = await generate(asked.base_url)
    assert (response.text, response.failure, len(asked.headers)) == (None, "refused", 1)
    assert "cannot judge" in response.failure_detail or "content filter" in response.failure_detail


@pytest.mark.parametrize(
    "body",
    [
        completion({"role": "assistant", "content": None}),
        completion({"role": "assistant"}),
        completion({"content": [{"type": "text", "text": "1"}]}),
        completion({"content": 1}),
        completion("1"),
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        [],
        None,
        "1",
        b"",
        b"<html>busy</html>",
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda body: str(body)[:40],
)
async def test_a_reply_that_is_not_of_the_protocol_is_malformed_and_never_an_empty_answer(body):
    async with serve(Reply(body)) as asked:
        response = await generate(asked.base_url)
    assert (response.text, response.failure, response.attempts) == (None, "malformed", 2)


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        ("overloaded", "server-error"),
        ({"message": "upstream", "code": 502}, "server-error"),
        ({"message": "busy", "code": 429}, "rate-limited"),
        ({"message": "no such model", "code": 404}, "rejected"),
        ({"message": "odd", "code": "x"}, "server-error"),
    ],
)
@pytest.mark.parametrize("beside", [{}, completion()], ids=["alone", "beside an answer"])
async def test_an_error_in_a_reply_of_status_200_is_a_failure_even_beside_an_answer(beside, error, failure):
    async with serve(Reply(beside | {"error": error})) as asked:
        response = await generate(asked.base_url)
    assert (response.text, response.failure) == (None, failure)


async def test_a_field_for_errors_that_is_empty_is_none():
    async with serve(Reply(completion() | {"error": None})) as asked:
        assert (await generate(asked.base_url)).text == "1"


async def test_an_empty_text_is_an_answer():
    async with serve(Reply(completion({"content": ""}))) as asked:
        response = await generate(asked.base_url)
    assert (response.text, response.failure) == ("", None)


@pytest.mark.parametrize("finish", [7, 0, False, [], ["stop"], {"a": 1}, None])
async def test_a_finish_reason_of_any_type_is_recorded_as_text_and_only_none_as_none(finish):
    async with serve(Reply(completion(finish_reason=finish))) as asked:
        response = await generate(asked.base_url)
    assert response.text == "1"
    assert response.finish_reason == ("" if finish is None else str(finish))
    assert response.ending == ("whole" if finish is None else "unknown")


async def test_a_long_error_page_is_shortened():
    async with serve(Reply(b"x" * 1_000_000, 400)) as asked:
        assert len((await generate(asked.base_url)).failure_detail) <= 300


async def test_a_server_that_is_not_there_is_a_failed_connection():
    with socket.socket() as taken:
        # Bound and not listening: nobody else can be given the port meanwhile.
        taken.bind(("127.0.0.1", 0))
        response = await generate(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert (response.failure, response.attempts) == ("connection", 2)


# Connections.


async def test_connections_are_kept_and_used_again():
    async with serve(Reply(completion())) as asked, opened(asked.base_url) as model:
        for _ in range(10):
            await model.generate(request(), trial_id="t")
        assert len(asked.peers) == 1
        await asyncio.gather(*(model.generate(request(), trial_id="t") for _ in range(5)))
        assert len(asked.peers) <= 5
    assert len(asked.headers) == 15


async def test_as_many_calls_are_in_flight_as_the_pace_allows():
    with ChatServer(tie, latency=1.0) as server:
        async with opened(server.base_url, timeout=30, pace=Pace(150, first=150)) as model:
            await asyncio.gather(*(model.generate(request(), trial_id=str(n)) for n in range(150)))
    # An aiohttp pool would stop at 100 by default.
    assert server.most_in_flight > 100


async def test_a_call_cancelled_in_flight_leaves_the_client_usable():
    with ChatServer(tie, misbehave=lambda name, _: "hang" if name == "slow" else None) as server:
        async with opened(server.base_url, timeout=30) as model:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.generate(request(), trial_id="slow"), timeout=1.0)
            assert (await model.generate(request(), trial_id="next")).text == '{"verdict": "tie"}'
    assert server.asked == {"slow": 1, "next": 1}


async def test_closing_twice_is_fine_and_a_closed_model_opens_again():
    async with serve(Reply(completion())) as asked, opened(asked.base_url) as model:
        await model.generate(request(), trial_id="t")
        await model.close()
        await model.close()
        assert (await model.generate(request(), trial_id="t")).text == "1"


@pytest.mark.parametrize("slash", ["", "/"])
async def test_a_slash_at_the_end_of_the_base_url_does_not_matter(slash):
    async with serve(Reply(completion())) as asked:
        assert (await generate(asked.base_url + slash)).text == "1"
