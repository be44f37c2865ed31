"""The adapter for vLLM's engine, as far as it goes without vLLM: what a study may say, and what a person is asked."""

import importlib.util
import json
import os
import re
import sys
from types import ModuleType

import pytest
from pydantic import ValidationError

from tests.cases import each
from tests.stimuli.built import lend_stimuli
from umpirical.domain.errors import NotTrusted, UsageError
from umpirical.integrations.vllm import FIXED, FLAGS, MOST_STARTS, Engines, EngineSpec, VllmConnection, files_digest
from umpirical.judges.spec import JudgeSpec
from umpirical.models.caller import CallFailed
from umpirical.models.money import FREE
from umpirical.models.prices import PricedModel, pricer_for
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import ADAPTERS, Calling, ModelSpec
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import EXECUTORS
from umpirical.runs.processes import helpful_processes
from umpirical.study.file import load_study
from umpirical.study.trust import agree_to_none, powers_of_judges

NAME = "/models/judge-7b"

absent = pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed")


def spec(name=NAME, **options):
    return ModelSpec(adapter="vllm", name=name, **options)


def judge(**options):
    return JudgeSpec(name="local", model=spec(**options))


def request():
    return ChatRequest(NAME, (Message("user", "Which is better?"),), Decoding(max_tokens=8))


# What a study may say.


@pytest.mark.parametrize("name", ["/models/judge-7b", "Qwen/Qwen2.5-7B-Instruct", "/models/with blanks/x"])
def test_a_model_is_named_by_its_folder_or_as_on_the_hub(name):
    assert spec(name).name == name


@pytest.mark.parametrize(
    "name", ["judge", "./judge", "../judge", "~/judge", "a/b/c", "s3://a/b", "-x/y", "../x", "/", ""]
)
def test_a_name_that_depends_on_where_one_stands_is_refused(name):
    with pytest.raises(ValidationError, match="absolute path"):
        spec(name)


HARMFUL = [
    "trust_remote_code", "load_format", "hf_token", "download_dir", "tokenizer", "hf_config_path", "worker_cls",
    "worker_extension_cls", "scheduler_cls", "logits_processors", "io_processor_plugin", "reasoning_parser_plugin",
    "hf_overrides", "additional_config", "generation_config", "model", "code_revision", "otlp_traces_endpoint",
    "model_loader_extra_config", "allowed_local_media_path", "served_model_name", "distributed_executor_backend",
]  # fmt: skip


@each("flag", HARMFUL)
def test_a_study_sets_nothing_that_names_code_files_addresses_or_tokens(flag):
    assert flag not in FLAGS
    with pytest.raises(ValidationError, match="model_args"):
        spec(model_args={flag: "x"})


def test_what_no_study_decides_wins_over_all_flags():
    assert FIXED["trust_remote_code"] is False
    assert FIXED["load_format"] == "safetensors"
    assert not FIXED.keys() & FLAGS


@pytest.mark.parametrize(
    "arguments", [{"gpus": -1}, {"gpus": True}, {"gpus": "2"}, {"gpus": 65}, {"batch_invariant": "yes"}]
)
def test_arguments_of_our_own_are_checked(arguments):
    with pytest.raises(ValidationError, match="model_args"):
        spec(model_args=arguments)


@pytest.mark.parametrize("more", [{"base_url": "http://127.0.0.1:1/v1"}, {"api_key_env": "KEY"}, {"batch": True}])
def test_what_is_about_a_server_is_refused(more):
    with pytest.raises(ValidationError, match="runs on this machine"):
        spec(**more)


# What is asked of a person.


def test_loading_a_model_has_to_be_agreed_to():
    words = [power.words for power in powers_of_judges([judge(model_args={"dtype": "float32"})], None)]
    assert words == [f"loads the model {NAME} with vllm on this machine", f"passes dtype = 'float32' to {NAME}"]
    [hub] = powers_of_judges([judge(name="Qwen/Qwen2.5-7B-Instruct")], None)
    assert "from the Hugging Face hub, with your token" in hub.words


def test_a_stranger_s_study_loads_nothing(tmp_path):
    lend_stimuli(tmp_path)
    file = tmp_path / "umpirical.yaml"
    file.write_text(
        f"study: theirs\njudges:\n  - name: theirs\n    model: {{adapter: vllm, name: {tmp_path}}}\n"
        "design: {size: screen}\n"
    )
    with pytest.raises(NotTrusted, match=re.escape(f"loads the model {tmp_path}")):
        load_study(file, agree_to_none)


# Money, processes, GPUs.


def test_it_costs_no_money():
    assert pricer_for(PricedModel.of(spec()), {}) is FREE


def test_one_process_asks_however_many_calls_there_are(tmp_path):
    call = CallSpec(judge(), tmp_path, tmp_path, 1)
    assert helpful_processes(call, calls=10**6, concurrency=4096, simulated=False) == 1


@pytest.mark.parametrize(
    ("arguments", "gpus"),
    [
        ({}, 1),
        ({"tensor_parallel_size": 4}, 4),
        ({"tensor_parallel_size": 4, "pipeline_parallel_size": 2}, 8),
        ({"gpus": 0}, 0),
        ({"tensor_parallel_size": 2, "gpus": 0.5}, 0.5),
    ],
)
def test_an_actor_has_as_many_gpus_as_the_model_is_spread_over(arguments, gpus):
    assert ADAPTERS.get("vllm").gpus(spec(model_args=arguments)) == gpus


def test_a_judge_on_a_server_needs_no_gpu():
    served = ModelSpec(adapter="openai-compatible", name="m", base_url="http://127.0.0.1:1/v1")
    assert ADAPTERS.get("openai-compatible").gpus(served) == 0


def test_actors_without_their_gpus_are_refused_and_not_waited_for():
    from umpirical.integrations.ray import executor

    class Cluster:
        def cluster_resources(self):
            return {"CPU": 8.0, "GPU": 2.0}

    there, executor.ray = executor.ray, Cluster()
    try:
        executor._check_gpus(1.0, 2)
        with pytest.raises(UsageError, match="3 actors with 1 GPUs each are needed, but the cluster has 2 GPUs"):
            executor._check_gpus(1.0, 3)
    finally:
        executor.ray = there
    assert EXECUTORS.get("ray") is executor.RayExecutor


# Failures are outcomes.


@absent
async def test_without_vllm_every_call_says_so_and_is_no_verdict():
    model = ADAPTERS.get("vllm").open(spec(), Calling(4))
    response = await model.generate(request(), trial_id="t")
    await model.close()
    assert (response.failure, response.text, response.attempts) == ("rejected", None, 1)
    assert response.failure_detail == "vLLM is not installed: pip install vllm"


@absent
def test_a_study_is_planned_where_there_is_no_vllm(umpirical, tmp_path):
    lend_stimuli(tmp_path)
    file = tmp_path / "umpirical.yaml"
    file.write_text(
        f"study: mine\njudges:\n  - name: mine\n    model: {{adapter: vllm, name: {NAME}}}\ndesign: {{size: screen}}\n"
    )
    assert umpirical("plan", file)[0] == 0
    code, _, err = umpirical("run", file)
    assert code == 5
    assert "vLLM is not installed: pip install vllm" in err
    assert "the folder or name of the model" in err


class Failing(Engines):
    """Engines that cannot be started."""

    def __init__(self, error):
        super().__init__()
        self.error, self.started = error, 0

    def lend(self, spec):  # noqa: ARG002
        self.started += 1
        raise self.error


async def test_an_engine_that_cannot_start_is_started_once():
    engines = Failing(ValueError("no such folder"))
    connection = VllmConnection(EngineSpec(NAME), timeout=5, engines=engines)
    for _ in range(2 * MOST_STARTS):
        with pytest.raises(CallFailed, match="could not load /models/judge-7b: ValueError: no such folder") as failed:
            await connection.send(request(), trial_id="t")
        assert failed.value.kind == "rejected"
        assert failed.value.lasting
    assert engines.started == 1
    await connection.close()
    await connection.close()


async def test_a_folder_that_stands_in_for_a_model_of_the_hub_is_not_loaded(tmp_path, monkeypatch):
    (tmp_path / "Qwen" / "judge").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    connection = VllmConnection(EngineSpec("Qwen/judge"), timeout=5, engines=Engines())
    with pytest.raises(CallFailed, match="give its absolute path"):
        await connection.send(request(), trial_id="t")
    await connection.close()


class Loaded:
    """What stands for an engine where only the lending of engines is of interest."""

    def __init__(self, spec):
        self.spec, self.users, self.dead, self.ended = spec, 0, False, False

    def end(self):
        self.ended = True


def test_engines_are_shared_while_used_and_ended_when_another_model_is_wanted(monkeypatch):
    monkeypatch.setattr("umpirical.integrations.vllm.Engine", Loaded)
    engines = Engines()
    first = engines.lend(EngineSpec("/models/one"))
    assert engines.lend(EngineSpec("/models/one")) is first
    assert engines.lend(EngineSpec("/models/one", {"dtype": "float16"})) is not first
    engines.end_idle()
    assert not first.ended
    engines.give_back(first)
    engines.give_back(first)
    # It is kept for the run that comes after the preflight, until another model needs its place.
    assert engines.lend(EngineSpec("/models/one")) is first
    engines.give_back(first)
    second = engines.lend(EngineSpec("/models/two"))
    assert first.ended
    second.dead = True
    assert engines.lend(EngineSpec("/models/two")) is not second
    assert second.ended
    engines.end_all()


def test_actors_find_the_memory_free_that_a_preflight_has_used(monkeypatch):
    monkeypatch.setattr("umpirical.integrations.vllm.Engine", Loaded)
    monkeypatch.setattr("umpirical.integrations.vllm.ENGINES", engines := Engines())
    idle, used = engines.lend(EngineSpec("/models/one")), engines.lend(EngineSpec("/models/two"))
    engines.give_back(idle)
    ADAPTERS.get("vllm").release()
    assert (idle.ended, used.ended) == (True, False)
    engines.end_all()


async def test_what_vllm_reads_once_cannot_be_changed_for_a_second_judge(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", ModuleType("vllm"))
    monkeypatch.setenv("VLLM_BATCH_INVARIANT", "0")
    connection = VllmConnection(EngineSpec(NAME, {}, True), timeout=5, engines=Engines())
    with pytest.raises(
        CallFailed, match=r"another judge has already loaded it\. Run the two judges in separate commands"
    ):
        await connection.send(request(), trial_id="t")
    await connection.close()
    assert os.environ["VLLM_BATCH_INVARIANT"] == "0"


def test_parameters_are_announced_as_json():
    connection = VllmConnection(EngineSpec(NAME), timeout=5)
    asked = ChatRequest(NAME, (Message("user", "?"),), Decoding(temperature=0.5, seed=3), '{"type": "object"}')
    assert json.loads(connection.parameters(asked)) == {
        "temperature": 0.5,
        "max_tokens": 256,
        "seed": 3,
        "structured_outputs": {"json": {"type": "object"}},
    }


def test_a_digest_tells_models_in_one_folder_apart(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"0" * 64)
    first = files_digest(tmp_path)
    assert files_digest(tmp_path) == first
    (tmp_path / "model.safetensors").write_bytes(b"1" * 64)
    assert files_digest(tmp_path) != first
