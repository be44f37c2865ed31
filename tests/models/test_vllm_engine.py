"""The adapter around a real engine of vLLM, on processors. `just engine` makes the environment and runs these."""

import asyncio
import importlib.util
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest

from tests.models.small_model import make_model, with_pickled_weights, with_remote_code
from tests.runs.loopback import CALLS
from tests.stimuli.built import lend_stimuli
from umpirical.integrations.vllm import ENGINES
from umpirical.judges.label_logprobs import read_tokens
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import ADAPTERS, Calling, ModelSpec

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None or not os.environ.get("UMPIRICAL_REQUIRE_VLLM"),
        reason="needs vLLM, and UMPIRICAL_REQUIRE_VLLM",
    ),
    # vLLM and what it is made of warn of much that is not ours.
    pytest.mark.filterwarnings("default"),
]

SHARED = "You compare two candidates. Say which of the two is better, and say it in one word. " * 8
FLAGS = {"max_model_len": 2048, "enforce_eager": True, "dtype": "float32"}
MANY = 16


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    yield
    ENGINES.end_all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("models") / "small")


def spec(folder, **options):
    return ModelSpec(adapter="vllm", name=str(folder), **{"model_args": FLAGS, "timeout": 300} | options)


def request(text, *, schema="", **decoding):
    return ChatRequest("small", (Message("user", SHARED + text),), Decoding(**{"max_tokens": 12} | decoding), schema)


def opened(folder, concurrency=MANY, **options):
    return ADAPTERS.get("vllm").open(spec(folder, **options), Calling(concurrency))


async def asked(folder, requests, *, together=True, **options):
    model = opened(folder, **options)
    try:
        if together:
            return await asyncio.gather(*(model.generate(each, trial_id=f"t{n}") for n, each in enumerate(requests)))
        return [await model.generate(each, trial_id=f"t{n}") for n, each in enumerate(requests)]
    finally:
        await model.close()


async def test_an_answer_is_on_record_with_its_engine_and_what_was_read_from_the_cache(folder):
    first, second = await asked(folder, [request("A: yes"), request("A: no")], together=False)
    assert first.failure is second.failure is None
    assert first.finish_reason in {"stop", "length"}
    assert first.usage.output_tokens == 12
    assert second.usage.input_tokens > len(SHARED)  # the tokenizer has one token for each letter
    assert 0 < second.usage.cached_tokens < second.usage.input_tokens
    sent = json.loads(first.sent)
    assert (sent["temperature"], sent["max_tokens"]) == (0.0, 12)
    engine = sent["engine"]
    assert engine["flags"] == FLAGS
    assert (engine["dtype"], engine["enable_prefix_caching"], engine["batch_invariant"]) == ("float32", True, False)
    assert len(engine["files"]) == 16
    assert first.served_by.startswith(f"vLLM {engine['version']} on cpu, float32, prefix caching, not batch-invariant")
    assert first.served_by.endswith(f"{folder} {engine['files']}")
    assert (first.cost, first.price_table) == (0, "free")


async def test_many_at_a_time_each_get_their_own_answer(folder):
    questions = [request(f"Candidate {number}") for number in range(MANY)]
    alone = await asked(folder, questions, together=False)
    many = await asked(folder, questions)
    # In 32 bits a model as small as this one is not moved by its company.
    assert [each.text for each in many] == [each.text for each in alone]
    assert len({each.text for each in alone}) > 1


async def test_log_probabilities_spell_the_answer(folder):
    [response] = await asked(folder, [request("A", top_logprobs=5)])
    tokens = read_tokens(response.logprobs)
    assert len(tokens) == response.usage.output_tokens
    for token in tokens:
        assert token.logprob <= 0
        assert token.listed in {5, 6}
        # Greedy: no alternative is likelier.
        assert all(other <= token.logprob for _, other in token.others)
    [none] = await asked(folder, [request("A")])
    assert none.logprobs == ""


async def test_an_answer_is_held_to_its_schema(folder):
    schema = json.dumps({"type": "string", "enum": ["one", "two", "three"]})
    [response] = await asked(folder, [request("A", schema=schema)])
    assert json.loads(response.text) in {"one", "two", "three"}
    assert response.ending == "whole"


async def test_a_seed_draws_the_same_answer_again(folder):
    drawn = await asked(folder, [request("A", temperature=1.0, seed=seed) for seed in (1, 1, 2)])
    assert drawn[0].text == drawn[1].text != drawn[2].text


async def test_a_question_that_is_too_long_is_rejected_at_once(folder):
    [response] = await asked(folder, [request("x" * 3000)])
    assert (response.failure, response.attempts, response.text) == ("rejected", 1, None)
    assert "maximum model length" in response.failure_detail


async def test_a_template_that_refuses_a_message_is_an_outcome(tmp_path):
    refusing = make_model(tmp_path / "refusing", template="{{ raise_exception('no such role') }}")
    [response] = await asked(refusing, [request("A")])
    assert response.failure is not None
    assert response.text is None
    assert "no such role" in response.failure_detail


async def test_what_takes_too_long_is_given_up_and_the_engine_goes_on(folder):
    [slow] = await asked(folder, [request("A", max_tokens=1000)], timeout=0.05, attempts=1)
    assert slow.failure == "timeout"
    [next_one] = await asked(folder, [request("A")])
    assert next_one.failure is None


async def test_connections_share_one_engine(folder):
    first, second = opened(folder), opened(folder)
    try:
        await asyncio.gather(*(model.generate(request("A"), trial_id="t") for model in (first, second)))
        [engine] = ENGINES._engines.values()
        assert engine.users == 2
    finally:
        await first.close()
        await second.close()
    assert engine.users == 0


async def test_an_engine_that_is_killed_is_an_outcome_and_another_one_is_started(folder):
    import psutil

    model = opened(folder, attempts=1)
    try:
        assert (await model.generate(request("A"), trial_id="t")).failure is None
        asking = [
            asyncio.create_task(model.generate(long, trial_id="t")) for long in [request("B", max_tokens=1200)] * 32
        ]
        await asyncio.sleep(0.2)
        for child in psutil.Process().children(recursive=True):
            if child.name().startswith("VLLM::"):
                child.send_signal(signal.SIGKILL)
        lost = await asyncio.wait_for(asyncio.gather(*asking), 120)
        assert {each.failure for each in lost if each.text is None} == {"server-error"}
        assert (await model.generate(request("A"), trial_id="t")).failure is None
    finally:
        await model.close()


@pytest.mark.parametrize("made", [with_remote_code, with_pickled_weights])
async def test_no_code_in_the_folder_of_a_model_is_run(made, tmp_path):
    trap, theirs = tmp_path / "ran", make_model(tmp_path / "theirs")
    made(theirs, trap)
    [response] = await asked(theirs, [request("A")])
    assert response.failure == "rejected"
    assert "could not load" in response.failure_detail
    assert not trap.exists()


@contextmanager
def served(folder):
    """vLLM's own server with the same model and flags; lends its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = ["--max-model-len", "2048", "--enforce-eager", "--dtype", "float32", "--enable-prompt-tokens-details"]
    words = ["-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--host", "127.0.0.1"]
    with subprocess.Popen([sys.executable, *words, "--port", str(port), *flags], stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                assert server.poll() is None, "the server has ended"
                time.sleep(1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


async def test_the_engine_answers_as_vllm_s_own_server_does(folder):
    schema = json.dumps({"type": "string", "enum": ["one", "two", "three"]})
    questions = [request(f"Candidate {number}{'x' * number}", top_logprobs=3) for number in range(6)]
    questions = [replace(each, model=str(folder)) for each in [*questions, request("A", schema=schema)]]
    ENGINES.end_all()
    loaded = await asked(folder, questions, together=False)
    with served(folder) as address:
        there = ModelSpec(adapter="openai-compatible", name=str(folder), base_url=address, price="free")
        model = ADAPTERS.get(there.adapter).open(there, Calling(1))
        answers = [await model.generate(each, trial_id="t") for each in questions]
        await model.close()
    for one, two in zip(loaded, answers, strict=True):
        assert (one.text, one.finish_reason, one.usage) == (two.text, two.finish_reason, two.usage)
        assert read_tokens(one.logprobs) == read_tokens(two.logprobs)
    assert len({each.text for each in loaded}) > 1
    assert re.fullmatch(rf"{re.escape(str(folder))} vllm-[\d.]+-\w+", answers[0].served_by)


STUDY = """\
study: engine
judges:
  - name: small
    model:
      adapter: vllm
      name: {folder}
      model_args: {{max_model_len: 4096, enforce_eager: true, dtype: float32, gpus: {gpus}}}
    decoding: {{max_tokens: 8}}
    answer: {{constrained: false}}
design: {{size: screen}}
concurrency: 64
"""


def command(tmp_path, *words):
    """Runs a command in a process of its own, as a person does."""
    done = subprocess.run(
        [sys.executable, "-m", "umpirical", *map(str, words)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("more", [(), ("--executor", "ray", "--processes", "2")])
def test_a_study_is_run_and_what_cannot_be_read_is_no_verdict(folder, tmp_path, more):
    lend_stimuli(tmp_path)
    (tmp_path / "umpirical.yaml").write_text(STUDY.format(folder=folder, gpus=0))
    code, out, err = command(tmp_path, "run", ".", "--yes", "--json", "--no-preflight")
    assert code == 2, err  # nobody has agreed to it
    assert f"loads the model {folder}" in err
    code, out, err = command(tmp_path, "run", ".", "--yes", "--json", "--no-preflight", "--trust", *more)
    [summary] = json.loads(out)
    assert summary["complete"], err
    assert (summary["failed"], summary["trials"]) == (0, CALLS)
    # Of letters at random, a very few spell a verdict.
    assert summary["unparsed"] >= 0.95 * CALLS


def test_a_cluster_without_gpus_is_not_waited_for(folder, tmp_path):
    lend_stimuli(tmp_path)
    (tmp_path / "umpirical.yaml").write_text(STUDY.format(folder=folder, gpus=1))
    code, _, err = command(tmp_path, "run", ".", "--yes", "--no-preflight", "--trust", "--executor", "ray")
    assert code == 2
    assert "1 actors with 1 GPUs each are needed, but the cluster has 0 GPUs" in err


def test_the_control_counts_what_serving_changes(folder, tmp_path):
    lend_stimuli(tmp_path)
    (tmp_path / "umpirical.yaml").write_text(STUDY.format(folder=folder, gpus=0))
    code, out, err = command(tmp_path, "load-check", ".", "--questions", "12", "--trust", "--json")
    assert code == 0, err
    [found] = json.loads(out)
    assert (found["amid"]["pairs"], found["again"]["texts"]) == (12, 0)
    assert found["cached"]["again"] > 0.5
    assert "vLLM" in found["served_by"][0]
