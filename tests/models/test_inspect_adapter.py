"""The Inspect adapter against servers on loopback that speak OpenAI's chat protocol."""

import asyncio
import json
import logging
import re
import socket
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import get_args

import pytest

import umpirical
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
from tests.models.scripted_server import Reply, completion, serve
from tests.servers.chat_server import ChatServer, Fault
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Usage
from umpirical.judges.factory import build_judge
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.caller import Retrying
from umpirical.models.money import CapReached, Ledger, Meter
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, ModelSpec, open_model

pytestmark = OLD_NAME

NAME = "openai-api/local/judge-7b"


def test_only_the_public_face_of_inspect_is_used():
    sources = Path(umpirical.__file__).parent.rglob("*.py")
    private = re.compile(r"inspect_ai(\.\w+)*\._|from inspect_ai\S* import _")
    assert [str(path) for path in sources if private.search(path.read_text())] == []


# Opening.


def test_without_inspect_the_person_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(UsageError, match="require the `inspect` extra") as raised:
        open_model(ModelSpec(adapter="inspect", name="openai/gpt-4o"), Calling())
    assert raised.value.fix == "pip install 'umpirical[inspect]'"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("openai-api/nobody/m", "NOBODY_API_KEY"),
        ("no-such-provider/m", "not recognized"),
        ("groq/m", "groq"),
    ],
)
def test_a_provider_that_cannot_be_opened_is_a_mistake_of_usage(name, message):
    with pytest.raises(UsageError, match=message):
        open_model(ModelSpec(adapter="inspect", name=name), Calling())


def test_the_adapter_is_imported_only_when_it_is_used():
    script = "import sys, umpirical.judges.factory; sys.exit('inspect_ai' in sys.modules)"
    import subprocess

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


async def test_a_judge_spec_opens_it(monkeypatch, tmp_path):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    async with serve(Reply(completion({"role": "assistant", "content": VERDICT}))) as asked:
        model = {"adapter": "inspect", "name": NAME, "base_url": asked.base_url, "api_key_env": "JUDGE_KEY"}
        spec = resolve_prompts(JudgeSpec.model_validate({"name": "j", "model": model}), tmp_path)
        judge = build_judge(spec, folder=tmp_path, calling=Calling(4))
        response = await judge.ask(request(), trial_id="t")
        await judge.close()
    assert response.text == VERDICT
    assert asked.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_a_provider_that_says_nothing_of_its_request_works_too():
    from inspect_ai.model import ModelOutput, ModelUsage

    def answer(_input, _tools, _tool_choice, config):
        output = ModelOutput.from_content("mock-1", f"seed {config.seed}")
        output.usage = ModelUsage(input_tokens=2, output_tokens=1, total_tokens=3)
        return output

    arguments = {"custom_outputs": answer}
    response = await generate("mockllm/model", None, request(Decoding(seed=3)), api_key=None, model_args=arguments)
    assert (response.text, response.usage) == ("seed 3", Usage(2, 1, None))
    assert response.served_by == f"mock-1 inspect-ai {VERSION}"


# What is sent.


async def test_the_body_holds_every_parameter_exactly_as_configured():
    decoding = Decoding(temperature=0.25, top_p=0.9, max_tokens=64, seed=7, top_logprobs=5)
    with ChatServer(tie) as server:
        response = await generate(NAME, server.base_url, request(decoding, SCHEMA))
    [body] = server.bodies
    # Inspect sends a description even where there is none.
    assert body["response_format"]["json_schema"].pop("description") is None
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
    assert json.loads(response.sent) == sent | {"inspect": VERSION}


@pytest.mark.parametrize(
    "decoding", [Decoding(), Decoding(temperature=None, max_tokens=None), Decoding(temperature=1.0, seed=0)]
)
async def test_none_is_not_sent_and_what_is_recorded_is_what_the_server_saw(decoding):
    with ChatServer(tie) as server:
        response = await generate(NAME, server.base_url, request(decoding))
    [body] = server.bodies
    parameters = {name: value for name, value in body.items() if name not in ("model", "messages")}
    assert parameters | {"inspect": VERSION} == json.loads(response.sent)
    assert parameters == decoding.sent()


async def test_a_long_label_is_recorded_in_full_though_inspect_keeps_it_apart():
    label = 'as "good" as it gets, ' * 20
    schema = json.dumps({"type": "object", "properties": {"verdict": {"type": "string", "enum": [label]}}})
    with ChatServer(tie) as server:
        response = await generate(NAME, server.base_url, request(schema=schema))
    for seen in (server.bodies[0], json.loads(response.sent)):
        assert seen["response_format"]["json_schema"]["schema"]["properties"]["verdict"]["enum"] == [label]


async def test_what_inspect_leaves_out_of_a_schema_is_not_recorded_as_sent():
    schema = '{"type":"object","properties":{"grade":{"type":"number","minimum":0,"maximum":1}}}'
    with ChatServer(tie) as server:
        response = await generate(NAME, server.base_url, request(schema=schema))
    for seen in (server.bodies[0], json.loads(response.sent)):
        assert seen["response_format"]["json_schema"]["schema"]["properties"] == {"grade": {"type": "number"}}


async def test_every_role_reaches_the_server():
    messages = (Message("system", "s"), Message("user", "{{task}} 🙂 \u2028"), Message("assistant", "a"))
    with ChatServer(tie) as server:
        await generate(NAME, server.base_url, ChatRequest("m", messages, Decoding()))
    assert [(m["role"], m["content"]) for m in server.bodies[0]["messages"]] == [
        (message.role, message.content) for message in messages
    ]


@pytest.mark.parametrize("asked", [request(text="\ud800"), request(schema='{"properties": 7}')], ids=["text", "schema"])
async def test_what_cannot_be_sent_is_a_rejection_that_nobody_is_billed_for(asked):
    ledger = Ledger()
    async with serve(Reply(completion())) as server:
        response = await generate(NAME, server.base_url, asked, meter=Meter(PennyPricer(), ledger))
    assert (response.failure, response.attempts, server.headers) == ("rejected", 1, [])
    assert (ledger.spent, ledger.reserved) == (0, 0)


async def test_three_identical_calls_are_three_requests():
    with ChatServer(tie) as server:
        async with opened(NAME, server.base_url) as model:
            for _ in range(3):
                assert (await model.generate(request(), trial_id="same")).text == VERDICT
    assert server.asked == {"same": 3}


# What is recorded.


async def test_everything_the_server_said_is_recorded():
    with ChatServer(tie) as server:
        response = await generate(NAME, server.base_url, request(Decoding(top_logprobs=2)))
    assert (response.trial_id, response.text, response.failure) == ("trial-1", VERDICT, None)
    assert response.usage == Usage(input_tokens=3, output_tokens=2, cached_tokens=None)
    assert response.served_by == f"judge-7b fp_loopback inspect-ai {VERSION}"
    assert response.finish_reason == "stop"
    [token] = json.loads(response.logprobs)["content"]
    assert token == {"token": VERDICT, "logprob": -0.1, "bytes": None, "top_logprobs": []}
    assert response.attempts == 1
    assert (response.cost, response.price_table) == (0, "free")


async def test_cached_tokens_are_part_of_the_input():
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    async with serve(Reply(completion() | {"usage": usage | {"prompt_tokens_details": {"cached_tokens": 8}}})) as asked:
        assert (await generate(NAME, asked.base_url)).usage == Usage(9, 1, 8)
    async with serve(Reply(completion())) as asked:
        assert (await generate(NAME, asked.base_url)).usage == Usage()


async def test_an_answer_cut_short_by_the_token_limit_says_so_in_the_word_of_the_fast_path():
    async with serve(Reply(completion(finish_reason="length"))) as asked:
        response = await generate(NAME, asked.base_url)
    assert (response.text, response.finish_reason) == ("1", "length")


# What goes wrong.

FAILS_AS = {
    "rate-limit": "rate-limited",
    "server-error": "server-error",
    "malformed": "malformed",
    # The client under Inspect does not tell a body cut short from a connection that broke.
    "truncated": "connection",
    "hang": "timeout",
    "reset": "connection",
}


def test_every_fault_of_the_server_has_a_kind_of_failure():
    assert set(FAILS_AS) == set(get_args(Fault))


@pytest.mark.parametrize("fault", FAILS_AS)
async def test_a_passing_fault_is_retried_until_it_is_over(fault):
    with ChatServer(tie, misbehave=lambda _id, times: fault if times < 2 else None) as server:
        response = await generate(NAME, server.base_url, timeout=1.0 if fault == "hang" else 10.0)
    assert (response.text, response.attempts) == (VERDICT, 2)
    assert server.asked["trial-1"] == 2
    assert response.rate_limited == (fault == "rate-limit")


@pytest.mark.parametrize("fault", FAILS_AS)
async def test_a_lasting_fault_becomes_a_failure_of_its_kind_and_every_request_is_counted(fault):
    with ChatServer(tie, misbehave=lambda *_: fault) as server:
        response = await generate(NAME, server.base_url, timeout=1.0 if fault == "hang" else 10.0)
    assert (response.text, response.failure) == (None, FAILS_AS[fault])
    assert response.failure_detail
    assert response.attempts == server.asked["trial-1"] == 2
    assert json.loads(response.sent) == Decoding().sent() | {"inspect": VERSION}


async def test_retry_after_is_waited_for():
    async with serve(Reply({}, 429, {"Retry-After": "0.3"}), Reply(completion())) as asked:
        start = time.monotonic()
        response = await generate(NAME, asked.base_url)
        assert time.monotonic() - start >= 0.3
    assert (response.text, response.attempts) == ("1", 2)


async def test_a_server_that_asks_for_too_long_a_wait_gets_a_failure_at_once():
    async with serve(Reply({}, 429, {"Retry-After": "61"})) as asked:
        response = await generate(NAME, asked.base_url, retrying=Retrying(attempts=5))
    assert (response.failure, response.attempts, len(asked.headers)) == ("rate-limited", 1, 1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_a_request_the_server_rejects_is_not_sent_again(status):
    async with serve(Reply({"error": {"message": "no such model"}}, status)) as asked:
        response = await generate(NAME, asked.base_url)
    assert (response.failure, response.attempts, len(asked.headers)) == ("rejected", 1, 1)
    assert "no such model" in response.failure_detail


@pytest.mark.parametrize(
    ("code", "failure"), [("context_length_exceeded", "rejected"), ("content_policy_violation", "refused")]
)
async def test_an_error_that_inspect_passes_off_as_an_answer_is_a_failure_and_not_billed(code, failure):
    ledger = Ledger()
    async with serve(Reply({"error": {"message": VERDICT, "code": code}}, 400)) as asked:
        response = await generate(NAME, asked.base_url, meter=Meter(PennyPricer(), ledger))
    assert (response.text, response.failure, response.attempts) == (None, failure, 1)
    assert (ledger.spent, response.cost) == (0, 0)


@pytest.mark.parametrize(
    "reply",
    [
        completion({"role": "assistant", "content": None, "refusal": "I cannot judge this."}),
        completion({"role": "assistant", "content": "1", "refusal": "I cannot judge this."}),
        completion({"role": "assistant", "content": "par"}, finish_reason="content_filter"),
        completion({"role": "assistant", "content": None}, finish_reason="content_filter"),
    ],
)
async def test_a_refusal_is_a_failure_that_is_not_retried(reply):
    async with serve(Reply(reply)) as asked:
        response = await generate(NAME, asked.base_url)
    assert (response.text, response.failure, len(asked.headers)) == (None, "refused", 1)
    assert response.failure_detail


@pytest.mark.parametrize(
    "body",
    [
        completion({"role": "assistant", "content": None}),
        completion({"role": "assistant"}),
        completion("1"),
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"error": "overloaded"},
        [],
        None,
        "1",
        b"",
        b"\xff\xfe",
    ],
    ids=lambda body: str(body)[:40],
)
async def test_a_reply_that_is_not_of_the_protocol_is_malformed_and_never_an_empty_answer(body):
    async with serve(Reply(body, headers={"Content-Type": "application/json"})) as asked:
        response = await generate(NAME, asked.base_url)
    assert (response.text, response.failure, response.attempts) == (None, "malformed", 2)


async def test_a_server_that_is_not_there_is_a_failed_connection():
    with socket.socket() as taken:
        # Bound and not listening: nobody else can be given the port meanwhile.
        taken.bind(("127.0.0.1", 0))
        response = await generate(NAME, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert (response.failure, response.attempts) == ("connection", 2)


# Secrets.


async def test_no_key_is_in_any_record(monkeypatch, caplog):
    canary, stray = "canary-3f1e-value", "sk-proj-Zx81kdU2canary"
    monkeypatch.setenv("LOCAL_API_KEY", canary)
    caplog.set_level(logging.DEBUG)
    said = {"error": {"message": f"Incorrect API key provided: {canary}. Is it {stray} or Bearer {stray}?"}}
    responses = []
    for reply in (Reply(said, 401), Reply(said, 400), Reply(said, 500), Reply(completion())):
        async with serve(reply) as asked:
            responses.append(await generate(NAME, asked.base_url, api_key=None))
            assert asked.headers[0]["Authorization"] == f"Bearer {canary}"
    assert [response.failure for response in responses] == ["rejected", "rejected", "server-error", None]
    assert "Incorrect API key" in responses[0].failure_detail
    assert "canary" not in str(responses)


# Money.


async def test_each_request_is_booked_at_what_it_cost():
    ledger = Ledger(Decimal(100))
    with ChatServer(tie, misbehave=lambda _id, times: "rate-limit" if times < 2 else None) as server:
        response = await generate(NAME, server.base_url, meter=Meter(PennyPricer(), ledger))
    assert (response.cost, response.price_table) == (Decimal("0.05"), "pennies 1")
    assert (ledger.spent, ledger.reserved) == (Decimal("0.05"), 0)


@pytest.mark.parametrize("fault", ["malformed", "server-error"])
async def test_what_may_have_been_billed_counts_at_its_worst(fault):
    ledger = Ledger(Decimal(100))
    with ChatServer(tie, misbehave=lambda _id, times: fault if times < 2 else None) as server:
        response = await generate(NAME, server.base_url, meter=Meter(PennyPricer(), ledger))
    assert (response.text, response.cost) == (VERDICT, None)
    assert ledger.spent == Decimal("1.05")


async def test_a_server_that_is_not_there_costs_nothing():
    ledger = Ledger(Decimal(100))
    with ChatServer(tie) as server:
        gone = server.base_url
    response = await generate(NAME, gone, meter=Meter(PennyPricer(), ledger))
    assert (response.failure, response.cost, ledger.spent) == ("connection", 0, 0)


async def test_a_client_that_is_told_to_retry_is_reserved_for():
    ledger = Ledger(Decimal("2.5"))
    with ChatServer(tie) as server, pytest.raises(CapReached):
        await generate(NAME, server.base_url, meter=Meter(PennyPricer(), ledger), model_args={"max_retries": 2})
    assert server.asked == {}


async def test_the_cap_stops_the_call_that_might_not_fit():
    ledger = Ledger(Decimal("1.07"))
    with ChatServer(tie) as server:
        async with opened(NAME, server.base_url, meter=Meter(PennyPricer(), ledger)) as model:
            await model.generate(request(), trial_id="a")
            await model.generate(request(), trial_id="b")
            with pytest.raises(CapReached):
                await model.generate(request(), trial_id="c")
    assert server.asked == {"a": 1, "b": 1}


# Connections.


async def test_as_many_calls_are_in_flight_as_were_asked_for_whatever_was_asked_for_before():
    with ChatServer(tie, latency=0.3) as server:
        async with opened(NAME, server.base_url, concurrency=1) as model:
            await model.generate(request(), trial_id="first")
        async with opened(NAME, server.base_url, concurrency=24) as model:
            await asyncio.gather(*(model.generate(request(), trial_id=str(n)) for n in range(120)))
    assert 8 < server.most_in_flight <= 24


async def test_a_server_that_is_pushed_too_hard_is_asked_more_slowly():
    with ChatServer(
        tie, misbehave=lambda name, times: "rate-limit" if int(name) < 8 and times == 1 else None
    ) as server:
        async with opened(NAME, server.base_url, concurrency=8) as model:
            answers = await asyncio.gather(*(model.generate(request(), trial_id=str(n)) for n in range(16)))
    assert {answer.text for answer in answers} == {VERDICT}
    assert sum(answer.rate_limited for answer in answers) == 8


async def test_a_call_cancelled_in_flight_leaves_the_model_usable():
    with ChatServer(tie, misbehave=lambda name, _: "hang" if name == "slow" else None) as server:
        async with opened(NAME, server.base_url, timeout=30) as model:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.generate(request(), trial_id="slow"), timeout=1.0)
            assert (await model.generate(request(), trial_id="next")).text == VERDICT
    assert server.asked == {"slow": 1, "next": 1}


async def test_closing_twice_is_fine_and_a_closed_model_opens_again():
    async with serve(Reply(completion())) as asked, opened(NAME, asked.base_url) as model:
        await model.generate(request(), trial_id="t")
        await model.close()
        await model.close()
        assert (await model.generate(request(), trial_id="t")).text == "1"
