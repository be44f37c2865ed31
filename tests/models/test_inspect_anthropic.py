"""The Inspect adapter against a server on loopback that speaks Anthropic's Messages protocol."""

import json
from decimal import Decimal
from typing import get_args

import pytest

from tests.models.inspect_opening import (
    KEY,
    OLD_NAME,
    SCHEMA,
    VERDICT,
    VERSION,
    PennyPricer,
    generate,
    opened,
    request,
    tie,
)
from tests.servers.anthropic_server import AnthropicFault, AnthropicServer
from umpirical.domain.responses import Usage
from umpirical.models.money import Ledger, Meter
from umpirical.models.requests import ChatRequest, Decoding, Message

pytestmark = OLD_NAME

NAME = "anthropic/claude-loopback"


async def test_an_answer_is_recorded_with_all_the_server_said():
    async with AnthropicServer(tie, cached=5) as server:
        asked = ChatRequest("m", (Message("system", "be fair"), Message("user", "Which?")), Decoding(max_tokens=33))
        response = await generate(NAME, server.base_url, asked)
    [body] = server.bodies
    assert (body["model"], body["max_tokens"]) == ("claude-loopback", 33)
    assert body["system"][0]["text"] == "be fair"
    assert body["messages"] == [{"role": "user", "content": "Which?"}]
    assert server.headers[0]["X-Client-Request-Id"] == "trial-1"
    assert (response.text, response.finish_reason) == (VERDICT, "stop")
    assert response.usage == Usage(input_tokens=9, output_tokens=2, cached_tokens=5)
    assert response.served_by == f"claude-loopback inspect-ai {VERSION}"


async def test_the_schema_is_sent_as_anthropic_takes_it_and_recorded_as_it_was_sent():
    async with AnthropicServer(tie) as server:
        response = await generate(NAME, server.base_url, request(schema=SCHEMA))
    [body], [headers] = server.bodies, server.headers
    schema = body["output_format"]["schema"]
    assert body["output_format"]["type"] == "json_schema"
    assert schema["properties"]["verdict"]["enum"] == ["1", "2", "tie"]
    assert (schema["required"], schema["additionalProperties"]) == (["verdict"], False)
    assert headers["anthropic-beta"] == "structured-outputs-2025-11-13"
    assert json.loads(response.sent)["output_format"] == body["output_format"]


async def test_what_anthropic_does_not_take_is_not_recorded_as_sent():
    decoding = Decoding(temperature=0.0, top_p=0.5, seed=1, top_logprobs=3, max_tokens=8)
    async with AnthropicServer(tie) as server:
        response = await generate(NAME, server.base_url, request(decoding))
    [body] = server.bodies
    assert not {"temperature", "top_p", "seed", "logprobs", "top_logprobs"} & body.keys()
    assert json.loads(response.sent) == {"inspect": VERSION, "max_tokens": 8}
    assert response.logprobs == ""


async def test_what_is_logged_during_a_call_does_not_hide_what_was_sent(monkeypatch):
    """Inside an evaluation, a client's warnings are events of the transcript, and come after the call."""
    from inspect_ai.log import transcript
    from inspect_ai.model import Model

    generated = Model.generate

    async def and_logged(self, *arguments, **more):
        output = await generated(self, *arguments, **more)
        transcript().info("a warning of the client")
        return output

    monkeypatch.setattr(Model, "generate", and_logged)
    async with AnthropicServer(tie) as server:
        response = await generate(NAME, server.base_url, request(Decoding(seed=1, max_tokens=8)))
    assert json.loads(response.sent) == {"inspect": VERSION, "max_tokens": 8}


async def test_nothing_is_written_to_the_prompt_cache():
    async with AnthropicServer(tie) as server:
        await generate(NAME, server.base_url, request(text="long " * 5000))
    assert "cache_control" not in json.dumps(server.bodies)


async def test_three_identical_calls_are_three_requests():
    async with AnthropicServer(tie) as server, opened(NAME, server.base_url) as model:
        for _ in range(3):
            await model.generate(request(), trial_id="same")
    assert len(server.bodies) == 3


async def test_an_answer_cut_short_says_so():
    async with AnthropicServer(tie, stop_reason="max_tokens") as server:
        response = await generate(NAME, server.base_url)
    assert (response.text, response.finish_reason) == (VERDICT, "length")


FAILS_AS = {
    "rate-limit": ("rate-limited", 2),
    "server-error": ("server-error", 2),
    "overloaded": ("server-error", 2),
    "malformed": ("malformed", 2),
    "truncated": ("connection", 2),
    "hang": ("timeout", 2),
    "reset": ("connection", 2),
    "refusal": ("refused", 1),
    "too-long": ("rejected", 1),
}


def test_every_fault_of_the_server_has_a_kind_of_failure():
    assert set(FAILS_AS) == set(get_args(AnthropicFault))


@pytest.mark.parametrize("fault", FAILS_AS)
async def test_a_lasting_fault_becomes_a_failure_of_its_kind(fault):
    failure, requests = FAILS_AS[fault]
    async with AnthropicServer(tie, misbehave=lambda _: fault) as server:
        response = await generate(NAME, server.base_url, timeout=1.0 if fault == "hang" else 10.0)
    assert (response.text, response.failure) == (None, failure)
    assert response.attempts == len(server.bodies) == requests
    assert KEY not in str(response)


@pytest.mark.parametrize("fault", [fault for fault, (_, requests) in FAILS_AS.items() if requests > 1])
async def test_a_passing_fault_is_retried_until_it_is_over(fault):
    async with AnthropicServer(tie, misbehave=lambda times: fault if times < 2 else None) as server:
        response = await generate(NAME, server.base_url, timeout=1.0 if fault == "hang" else 10.0)
    assert (response.text, response.attempts) == (VERDICT, 2)


async def test_a_refusal_is_paid_for_and_an_error_is_not():
    ledger = Ledger(Decimal(100))
    faults = {1: "too-long", 2: "refusal"}
    meter = Meter(PennyPricer(), ledger)
    async with (
        AnthropicServer(tie, misbehave=faults.get) as server,
        opened(NAME, server.base_url, meter=meter) as model,
    ):
        too_long = await model.generate(request(), trial_id="a")
        assert (too_long.cost, ledger.spent) == (0, 0)
        refused = await model.generate(request(), trial_id="b")
    assert refused.cost == ledger.spent == Decimal("0.11")
