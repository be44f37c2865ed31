"""Replies of a real server that are no plain verdict: each is an outcome that is handled, and none is a number.

`replies/` holds what llama.cpp with the smallest model replied, as it came over the wire, and what it was asked.
"""

import json
from pathlib import Path

import pytest

from tests.models.chat_model import chat_model
from tests.models.scripted_server import Reply, serve
from tests.servers.llama_server import LlamaServer
from umpirical.domain.judgments import Failed, Unparsed, Verdict
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Presentation
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.models.caller import Retrying
from umpirical.models.requests import ChatRequest, Decoding, Message

FOLDER = Path(__file__).parent / "replies"
REPLIES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}

COMPARE = AnswerReader(None)
SHARE = AnswerReader(GradeScale("interval", (), 0.0, 1.0))

NO_VERDICT = {
    # Nobody asked for three verdicts, and a comma stands before the end.
    "odd-json": (COMPARE, "stop", "the answer is neither JSON in the required form nor a bare label"),
    "runaway": (COMPARE, "length", "the answer is neither JSON in the required form nor a bare label"),
    # The server holds the model to the schema, but not past the last token it may write.
    "cut-json": (COMPARE, "length", "the answer is neither JSON in the required form nor a bare label"),
    "empty": (COMPARE, "stop", "the answer is empty"),
    # The schema says at most 1: this server does not hold numbers to their checks.
    "off-scale": (SHARE, "stop", "the number is outside the scale"),
    "open-block": (COMPARE, "length", "the answer is neither JSON in the required form nor a bare label"),
    # The verdict in it is the question's, and not the judge's.
    "echo": (COMPARE, "stop", "the answer is neither JSON in the required form nor a bare label"),
}

REFUSED = {"bad-schema": "unrecognized type nothing", "too-long": "exceeds the available context size"}

VERDICTS = ("logprobs", "no-logprobs")


def read(reply: dict):
    """Through the adapter, as if the server had just sent it."""

    async def ask():
        async with serve(Reply(reply["reply"], reply["status"])) as server:
            return await ask_model(
                server.base_url, ChatRequest("m", (Message("user", "?"),), Decoding(top_logprobs=20))
            )

    return ask()


async def ask_model(base_url: str, request: ChatRequest):
    model = chat_model(base_url, retrying=Retrying(attempts=2, first_wait=0.01))
    try:
        return await model.generate(request, trial_id="t")
    finally:
        await model.close()


def request_of(asked: dict) -> ChatRequest:
    """What was asked, as a judge would ask it."""
    schema = asked.get("response_format", {}).get("json_schema", {}).get("schema")
    decoding = Decoding(max_tokens=asked["max_tokens"], top_logprobs=asked.get("top_logprobs"))
    messages = tuple(Message(message["role"], message["content"]) for message in asked["messages"])
    return ChatRequest(asked["model"], messages, decoding, json.dumps(schema) if schema else "")


def test_every_reply_is_looked_at():
    assert sorted(REPLIES) == sorted([*NO_VERDICT, *REFUSED, *VERDICTS])


@pytest.mark.parametrize("name", NO_VERDICT)
async def test_an_answer_off_the_scale_is_unparsed_with_its_text(name):
    reader, finish, why = NO_VERDICT[name]
    response = await read(REPLIES[name])
    text = REPLIES[name]["reply"]["choices"][0]["message"]["content"]
    assert (response.text, response.failure, response.finish_reason) == (text, None, finish)
    assert response.usage.output_tokens > 0
    assert read_response(reader, response, Presentation()) == Unparsed(text, why)


@pytest.mark.parametrize("name", REFUSED)
async def test_a_request_that_the_server_refuses_is_failed_and_not_asked_again(name):
    response = await read(REPLIES[name])
    assert response.attempts == 1
    outcome = read_response(COMPARE, response, Presentation())
    assert isinstance(outcome, Failed)
    assert outcome.kind == "rejected"
    assert outcome.detail.startswith("HTTP 400")


@pytest.mark.parametrize("name", VERDICTS)
async def test_a_verdict_is_one_with_and_without_log_probabilities(name):
    response = await read(REPLIES[name])
    assert read_response(COMPARE, response, Presentation()) == Verdict(Choice("1"))
    assert bool(response.logprobs) == (name == "logprobs")


async def test_log_probabilities_are_kept_as_they_came():
    reply = REPLIES["logprobs"]
    assert json.loads((await read(reply)).logprobs) == reply["reply"]["choices"][0]["logprobs"]


# The server, asked the same again.


@pytest.fixture(scope="module")
def small_server(smollm2):
    with LlamaServer(smollm2, context=512) as running:
        yield running


@pytest.mark.llm
@pytest.mark.parametrize("name", [name for name in REPLIES if "stop" not in REPLIES[name]["asked"]])
async def test_the_server_still_replies_like_this(small_server, name):
    response = await ask_model(small_server.base_url, request_of(REPLIES[name]["asked"]))
    reader = NO_VERDICT[name][0] if name in NO_VERDICT else COMPARE
    outcome = read_response(reader, response, Presentation())
    expected = Unparsed if name in NO_VERDICT else Failed if name in REFUSED else Verdict
    assert isinstance(outcome, expected), outcome
    if name in REFUSED:
        assert REFUSED[name] in response.failure_detail
    assert bool(response.logprobs) == (name == "logprobs")
