"""Batches through Inspect, against a server on loopback that speaks OpenAI's and Anthropic's batch protocols."""

import asyncio
import gc
import json
import logging
from decimal import Decimal

import pytest

from tests.models.inspect_opening import OLD_NAME, SCHEMA, VERDICT, PennyPricer, opened, request, tie
from tests.servers.batch_server import BatchServer
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Usage
from umpirical.models.caller import Retrying
from umpirical.models.money import Ledger, Meter
from umpirical.models.requests import Decoding
from umpirical.models.spec import Calling, ModelSpec, open_model

# Inspect's batches do not close the streams their answers come by.
UNCLOSED = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")

pytestmark = [OLD_NAME, UNCLOSED]

PROVIDERS = {
    # The Responses API, which Inspect may choose for OpenAI's models, has a batch format of its own.
    "openai/gpt-4o": ("/v1", {"responses_api": False}),
    "anthropic/claude-loopback": ("", {}),
}

either = pytest.mark.parametrize("name", PROVIDERS)


@pytest.fixture(autouse=True)
def _collected():
    """The streams go here, and not in a test that does not expect them."""
    yield
    gc.collect()


def batched(name, server, **options):
    path, arguments = PROVIDERS[name]
    options = {"concurrency": 4, "batch_tick": 0.1} | options
    return opened(name, server.origin + path, model_args=arguments, batch=True, **options)


async def ask(model, count, asked=None):
    questions = (model.generate(asked or request(text=f"Which? {n}"), trial_id=str(n)) for n in range(count))
    return await asyncio.wait_for(asyncio.gather(*questions), timeout=30)


@either
async def test_questions_asked_together_go_out_in_one_batch_and_each_gets_its_own_answer(name):
    async with BatchServer(lambda body: body["messages"][-1]["content"]) as server, batched(name, server) as model:
        responses = await ask(model, 10)
    assert [response.text for response in responses] == [f"Which? {n}" for n in range(10)]
    assert [len(batch) for batch in server.batches] == [4, 4, 2]
    assert {response.attempts for response in responses} == {1}
    assert responses[0].usage.output_tokens == 2


@either
async def test_the_parameters_reach_the_batch(name):
    async with BatchServer(tie) as server, batched(name, server) as model:
        [response] = await ask(model, 1, request(Decoding(max_tokens=9, temperature=None), SCHEMA))
    [[body]] = server.batches
    assert body["max_tokens"] == 9
    assert '"enum": ["1", "2", "tie"]' in json.dumps(body)
    sent = json.loads(response.sent)
    assert sent["max_tokens"] == 9
    assert '"enum": ["1", "2", "tie"]' in json.dumps(sent)


@either
async def test_a_server_that_is_briefly_busy_costs_nothing_but_time(name):
    ledger = Ledger()
    async with (
        BatchServer(tie, refuse_batches=1) as server,
        batched(name, server, meter=Meter(PennyPricer(), ledger)) as model,
    ):
        responses = await ask(model, 4)
    assert [response.text for response in responses] == [VERDICT] * 4
    assert ledger.spent == sum(response.cost for response in responses)
    assert ledger.reserved == 0


@either
async def test_a_batch_that_cannot_be_made_leaves_nobody_waiting(name, monkeypatch):
    # Inspect's worker ends with an exception that nobody takes, which asyncio reports when it is collected.
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", True)
    async with (
        BatchServer(tie, refuse_batches=4) as server,
        batched(name, server, retrying=Retrying(attempts=3, first_wait=0.01)) as model,
    ):
        responses = await ask(model, 6)
    assert [response.text for response in responses] == [VERDICT] * 6
    assert max(response.attempts for response in responses) == 2


async def test_a_line_that_inspect_cannot_read_fails_its_batch_once_and_nothing_is_paid_twice(monkeypatch):
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", True)
    ledger = Ledger(Decimal(100))
    bad = "Which? 1"
    async with (
        BatchServer(tie, unanswered=lambda body: body["messages"][-1]["content"] == bad) as server,
        batched("openai/gpt-4o", server, meter=Meter(PennyPricer(), ledger)) as model,
    ):
        responses = await ask(model, 4)
    assert {response.failure for response in responses} == {"malformed"}
    assert [len(batch) for batch in server.batches] == [4]
    # Three requests of the client are reserved for each question, and none is known not to have been billed.
    assert ledger.spent == 12


async def test_a_question_that_expired_with_its_batch_is_a_failure_of_its_own():
    async with (
        BatchServer(tie, unanswered=lambda body: body["messages"][-1]["content"] == "Which? 1") as server,
        batched("anthropic/claude-loopback", server) as model,
    ):
        responses = await ask(model, 4)
    assert [response.text for response in responses] == [VERDICT, None, VERDICT, VERDICT]
    assert (responses[1].failure, responses[1].usage) == ("timeout", Usage())


@pytest.mark.parametrize("name", ["openai-api/local/m", "mockllm/model", "ollama/m"])
def test_a_provider_without_batches_is_refused_instead_of_asked_one_by_one(name):
    spec = ModelSpec(adapter="inspect", name=name, base_url="http://127.0.0.1:1/v1", batch=True)
    with pytest.raises(UsageError, match="does not support batches for"):
        open_model(spec, Calling())


async def test_a_call_cancelled_while_its_batch_fills_is_not_waited_for():
    async with BatchServer(tie) as server, batched("anthropic/claude-loopback", server, batch_tick=0.3) as model:
        gone = asyncio.create_task(model.generate(request(), trial_id="gone"))
        await asyncio.sleep(0.05)
        gone.cancel()
        assert [response.text for response in await ask(model, 2)] == [VERDICT] * 2
    assert [len(batch) for batch in server.batches] == [2]
