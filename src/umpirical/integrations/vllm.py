"""The adapter for vLLM's engine: the model is loaded on this machine, and no server stands before it.

vLLM is not among our dependencies and is imported when the first call is made: a study can be planned and its reports
be written where there is none.
"""

import asyncio
import atexit
import hashlib
import json
import math
import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import canonical_json
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.money import counted_usage
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.spec import Calling, ModelAdapter

if TYPE_CHECKING:
    from umpirical.models.spec import ModelSpec


GPUS = "gpus"
"""GPUs of one actor of a Ray cluster."""

BATCH_INVARIANT = "batch_invariant"

FLAGS = frozenset(
    {"attention_backend", "block_size", "dtype", "enable_chunked_prefill", "enable_prefix_caching", "enforce_eager"}
    | {"gpu_memory_utilization", "kv_cache_dtype", "max_model_len", "max_num_batched_tokens", "max_num_seqs"}
    | {"pipeline_parallel_size", "quantization", "revision", "seed", "tensor_parallel_size"}
)
"""Arguments of vLLM's engine that a study may set. None of them names code, a file, an address or a token."""

ON_THE_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
IN_A_FOLDER = re.compile(r"/[^\0\r\n]+")


class _Vllm(ModelAdapter):
    """Models in a folder of this machine, or on the Hugging Face hub."""

    loads = True

    def check(self, spec: "ModelSpec") -> None:
        if spec.base_url or spec.api_key_env or spec.batch:
            raise ValueError("a vllm model runs on this machine: remove base_url, api_key_env and batch")
        if not ON_THE_HUB.fullmatch(spec.name) and not IN_A_FOLDER.fullmatch(spec.name):
            raise ValueError(
                "name a vllm model by the absolute path of its folder, or by its Hugging Face name: owner/model"
            )
        if unknown := spec.model_args.keys() - FLAGS - {GPUS, BATCH_INVARIANT}:
            raise ValueError(
                f"model_args: unsupported argument {min(unknown)}; choose one of: {', '.join(sorted(FLAGS))}, {GPUS}, "
                f"{BATCH_INVARIANT}"
            )
        gpus = spec.model_args.get(GPUS, 0)
        if isinstance(gpus, str | bool) or not 0 <= gpus <= 64:
            raise ValueError(f"model_args: {GPUS} must be a number from 0 (none) to 64")
        if spec.model_args.get(BATCH_INVARIANT, False) not in (True, False):
            raise ValueError(f"model_args: {BATCH_INVARIANT} must be true or false")

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:  # noqa: ARG002  # left to the caller
        flags = {name: value for name, value in spec.model_args.items() if name in FLAGS}
        invariant = spec.model_args.get(BATCH_INVARIANT)
        engine = EngineSpec(spec.name, flags, None if invariant is None else bool(invariant))
        return VllmConnection(engine, timeout=spec.timeout)

    def is_downloaded(self, spec: "ModelSpec") -> bool:
        return ON_THE_HUB.fullmatch(spec.name) is not None

    def gpus(self, spec: "ModelSpec") -> float:
        given = spec.model_args.get(GPUS)
        if given is not None:
            return float(given)
        return float(_size(spec.model_args, "tensor_parallel_size") * _size(spec.model_args, "pipeline_parallel_size"))

    def release(self) -> None:
        ENGINES.end_idle()


ADAPTER = _Vllm()


def _size(arguments: Mapping[str, str | int | float | bool], name: str) -> int:
    size = arguments.get(name, 1)
    return size if type(size) is int else 1


# Engines of vLLM in this process.
#
# Every engine has a thread with an event loop of its own, which outlives the loop of whoever asks: the answers that
# show whether a judge can be read, and all others, come from one engine. One that nobody uses is ended as soon as
# another model is wanted, since both may not fit.


FIXED: Mapping[str, Any] = {
    "trust_remote_code": False,
    # The other formats may hold pickles.
    "load_format": "safetensors",
    # What a model's folder says about sampling must not take the place of what the judge leaves out.
    "generation_config": "vllm",
    "disable_log_stats": True,
}
"""What no study decides."""

ENVIRONMENT = {
    # Standard output is for results.
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # Nothing is reported about this use of vLLM.
    "VLLM_NO_USAGE_STATS": "1",
}
"""What vLLM reads when it is imported, unless the person has set it."""

SECONDS_TO_END = 30.0
"""How long an engine's thread is waited for."""

INVARIANT = "VLLM_BATCH_INVARIANT"

SMALL = 2**24
"""Bytes of a file that is read whole for the digest of a model; of a larger one, the beginning and the size."""


@dataclass(frozen=True)
class EngineSpec:
    """What an engine is started with."""

    model: str
    flags: Mapping[str, Any] = field(default_factory=dict)
    invariant: bool | None = None
    """Whether answers must not depend on what else is asked at the time; None leaves it to the environment."""

    @property
    def key(self) -> str:
        return repr((self.model, sorted(self.flags.items()), self.invariant))


class Engine:
    """One model, loaded. Its methods are called from other threads; `llm` is used only on `loop`."""

    def __init__(self, spec: EngineSpec) -> None:
        """Loads the model, which takes from a minute to several. Raises whatever vLLM raises."""
        self.spec, self.users = spec, 0
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="umpirical-vllm", daemon=True)
        self._thread.start()
        try:
            self.llm: Any = self.call(_start(spec)).result()
            self.facts: Mapping[str, Any] = facts_of(self.llm, spec)
        except BaseException:
            self._stop_loop()
            raise

    def call(self, work: Any) -> "Future[Any]":  # noqa: ANN401  # a coroutine
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    @property
    def dead(self) -> bool:
        return bool(self.llm.errored)

    def end(self) -> None:
        if (reading := getattr(self.llm, "output_handler", None)) is not None:
            # Otherwise it would report the end as the death of the engine.
            self.loop.call_soon_threadsafe(reading.cancel)
        try:
            self.llm.shutdown()
        finally:
            self._stop_loop()

    def _stop_loop(self) -> None:
        with suppress(TimeoutError):
            self.call(_cancel_others()).result(timeout=SECONDS_TO_END)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=SECONDS_TO_END)
        if not self._thread.is_alive():
            self.loop.close()


class Engines:
    """The engines of this process, each started once for all who ask the same model. Called from any thread."""

    def __init__(self) -> None:
        self._engines: dict[str, Engine] = {}
        self._lock = threading.Lock()

    def lend(self, spec: EngineSpec) -> Engine:
        """Returns the engine for a spec, started if need be; whoever has it gives it back."""
        with self._lock:
            engine = self._engines.get(spec.key)
            if engine is not None and engine.dead:
                self._engines.pop(spec.key).end()
                engine = None
            if engine is None:
                self._end_idle()
                engine = self._engines[spec.key] = Engine(spec)
                # What is registered last is called first: before the processes of the engine are ended from under it.
                atexit.unregister(self.end_all)
                atexit.register(self.end_all)
            engine.users += 1
            return engine

    def give_back(self, engine: Engine) -> None:
        with self._lock:
            engine.users -= 1

    def end_idle(self) -> None:
        """Ends the engines that nobody uses, and so frees their memory."""
        with self._lock:
            self._end_idle()

    def _end_idle(self) -> None:
        for key, engine in list(self._engines.items()):
            if not engine.users:
                self._engines.pop(key).end()

    def end_all(self) -> None:
        with self._lock:
            while self._engines:
                self._engines.popitem()[1].end()


ENGINES = Engines()


async def _cancel_others() -> None:
    """Ends what is left on a loop that is about to stop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _start(spec: EngineSpec) -> Any:  # noqa: ANN401  # vLLM is not there when types are checked
    _prepare(spec)
    from vllm import AsyncEngineArgs
    from vllm.v1.engine.async_llm import AsyncLLM

    return AsyncLLM.from_engine_args(AsyncEngineArgs(**{"model": spec.model, **spec.flags, **FIXED}))


def _prepare(spec: EngineSpec) -> None:
    """Sets what vLLM reads once and for all. Raises ValueError for what this process cannot do any more."""
    if not spec.model.startswith("/") and Path(spec.model).exists():
        # vLLM would load it in place of the one on the hub, whoever has put it there.
        raise ValueError(f"there is also a local folder {spec.model}; to use it, give its absolute path")
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if spec.invariant is None:
        return
    wanted = "1" if spec.invariant else "0"
    if "vllm" in sys.modules and os.environ.get(INVARIANT, "0") != wanted:
        raise ValueError(
            f"batch_invariant: {str(spec.invariant).lower()} must be set before vLLM is loaded, and another judge has "
            "already loaded it. Run the two judges in separate commands, with --judge"
        )
    os.environ[INVARIANT] = wanted


def facts_of(llm: Any, spec: EngineSpec) -> Mapping[str, Any]:  # noqa: ANN401  # as above
    """Returns what an answer may depend on besides the question: version, device and flags, as they came to be."""
    import vllm
    from vllm import envs
    from vllm.platforms import current_platform

    config = llm.vllm_config
    return {
        "version": vllm.__version__,
        "device": str(current_platform.device_type),
        "dtype": str(config.model_config.dtype).removeprefix("torch."),
        "quantization": config.model_config.quantization,
        "max_model_len": config.model_config.max_model_len,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
        "enable_prefix_caching": bool(config.cache_config.enable_prefix_caching),
        "kv_cache_dtype": str(config.cache_config.cache_dtype),
        "tensor_parallel_size": config.parallel_config.tensor_parallel_size,
        "pipeline_parallel_size": config.parallel_config.pipeline_parallel_size,
        "batch_invariant": bool(envs.VLLM_BATCH_INVARIANT),
        "flags": dict(sorted(spec.flags.items())),
        "files": files_digest(Path(spec.model)) if spec.model.startswith("/") else "",
    }


def files_digest(folder: Path) -> str:
    """Returns a digest that tells one model in a folder from another without reading all of its weights."""
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.iterdir() if file.is_file()):
        size = file.stat().st_size
        digest.update(f"{file.name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as opened:
            digest.update(opened.read(SMALL))
    return digest.hexdigest()[:16]


# One model in an engine of vLLM: renders a conversation, asks for one answer, and reads what comes out.


MOST_STARTS = 3
"""How often an engine that died is started again: a question that brings it down does so every time."""

LEAST_LOGPROB = -9999.0
"""What vLLM's own server says of a token that cannot come: JSON has no word for minus infinity."""


class VllmConnection(Connection):
    """Starts the engine with the first question, and gives it back when it is closed."""

    # The engine has a queue of its own, and computes together whatever is in it.
    gathers = True

    def __init__(self, spec: EngineSpec, *, timeout: float, engines: Engines = ENGINES) -> None:
        """`timeout` is in seconds, for one answer; loading the model is not part of it."""
        self._spec, self._timeout, self._engines = spec, timeout, engines
        self._starting: asyncio.Task[Engine] | None = None
        self._starts = 0
        self._numbers = count()

    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        engine = await self._started()
        # The same question may be in flight twice.
        name = f"{trial_id}-{next(self._numbers)}"
        answering = asyncio.wrap_future(engine.call(_answer(engine, request, name)))
        try:
            async with asyncio.timeout(self._timeout):
                output, read = await answering
        except TimeoutError:
            raise CallFailed("timeout", f"no reply within {self._timeout:g} s") from None
        except Exception as error:  # noqa: BLE001  # whatever it is, it is recorded as the outcome
            raise _failure(error, dead=engine.dead) from None
        sent = {**_parameters(request.decoding, request.answer_schema), "engine": engine.facts}
        served_by = _served_by(self._spec, engine.facts)
        return _reply(output, read, served_by=served_by, sent=canonical_json(sent))

    def parameters(self, request: ChatRequest) -> str:
        return canonical_json(_parameters(request.decoding, request.answer_schema))

    async def close(self) -> None:
        starting, self._starting = self._starting, None
        if starting is not None:
            [engine] = await asyncio.gather(starting, return_exceptions=True)
            if isinstance(engine, Engine):
                await asyncio.to_thread(self._engines.give_back, engine)

    async def _started(self) -> Engine:
        if self._starting is not None and self._starting.done() and self._has_died(self._starting):
            await self.close()
        if self._starting is None:
            self._starts += 1
            self._starting = asyncio.create_task(self._start(self._starts))
        # Whoever gives up waiting does not stop it for the others.
        return await asyncio.shield(self._starting)

    def _has_died(self, starting: "asyncio.Task[Engine]") -> bool:
        return not starting.cancelled() and starting.exception() is None and starting.result().dead

    async def _start(self, number: int) -> Engine:
        if number > MOST_STARTS:
            raise CallFailed("rejected", f"the vLLM engine stopped {MOST_STARTS} times", lasting=True)
        try:
            return await asyncio.to_thread(self._engines.lend, self._spec)
        except ModuleNotFoundError as error:
            why = "vLLM is not installed: pip install vllm" if error.name == "vllm" else str(error)
            raise CallFailed("rejected", why, lasting=True) from None
        except Exception as error:
            why = f"vLLM could not load {self._spec.model}: {type(error).__name__}: {error}"
            raise CallFailed("rejected", why, lasting=True) from error


def _parameters(decoding: Decoding, answer_schema: str) -> dict[str, Any]:
    schema = {"structured_outputs": {"json": json.loads(answer_schema)}} if answer_schema else {}
    return {**decoding.sent(), **schema}


def _served_by(spec: EngineSpec, facts: Mapping[str, Any]) -> str:
    """Returns the engine in words; the name of the model last, since a long one is cut."""
    cached = "prefix caching" if facts["enable_prefix_caching"] else "no prefix caching"
    invariant = "batch-invariant" if facts["batch_invariant"] else "not batch-invariant"
    model = f"{spec.model} {facts['files']}".strip()
    return f"vLLM {facts['version']} on {facts['device']}, {facts['dtype']}, {cached}, {invariant}: {model}"


async def _answer(engine: Engine, request: ChatRequest, name: str) -> "tuple[Any, int]":
    """Returns vLLM's output and the number of tokens of the question. Runs on the engine's loop."""
    from vllm.inputs import tokens_input

    tokens = _tokens(engine.llm.get_tokenizer(), request)
    output = None
    async for output in engine.llm.generate(tokens_input(tokens), _sampling(request), name):  # noqa: B007  # the last
        pass
    return output, len(tokens)


def _tokens(tokenizer: Any, request: ChatRequest) -> list[int]:  # noqa: ANN401  # one of several classes
    """Returns the conversation in the model's own template, as tokens; the template has the special ones in it."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _sampling(request: ChatRequest) -> Any:  # noqa: ANN401  # vLLM is not there when types are checked
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    decoding = request.decoding
    asked: dict[str, Any] = {"max_tokens": decoding.max_tokens, "output_kind": RequestOutputKind.FINAL_ONLY}
    asked |= {
        name: value
        for name, value in (
            ("temperature", decoding.temperature),
            ("top_p", decoding.top_p),
            ("seed", decoding.seed),
            ("logprobs", decoding.top_logprobs),
        )
        if value is not None
    }
    if request.answer_schema:
        asked["structured_outputs"] = StructuredOutputsParams(json=request.answer_schema)
    return SamplingParams(**asked)


def _reply(output: Any, read: int, *, served_by: str, sent: str) -> Reply:  # noqa: ANN401  # as above
    """Returns the answer in an output, or raises CallFailed for one that the model did not end."""
    if output is None or len(output.outputs) != 1:
        raise CallFailed("malformed", "the engine did not return exactly one output")
    [said] = output.outputs
    usage = counted_usage(read, len(said.token_ids), cached=output.num_cached_tokens)
    if said.finish_reason not in ("stop", "length"):
        raise CallFailed("server-error", f"the engine stopped the answer: {said.finish_reason}", usage=usage, sent=sent)
    return Reply(
        said.text,
        finish_reason=said.finish_reason,
        usage=usage,
        logprobs=_logprobs(said.token_ids, said.logprobs),
        served_by=served_by,
        sent=sent,
    )


def _logprobs(tokens: Sequence[int], places: Sequence[Mapping[int, Any]] | None) -> str:
    """Returns log-probabilities in the form of the OpenAI protocol, which is what readers of answers know."""
    if places is None:
        return ""
    content = []
    for token, place in zip(tokens, places, strict=True):
        ranked = sorted(place.items(), key=lambda entry: entry[1].rank or math.inf)
        alternatives = [_spelled(each) for _, each in ranked]
        content.append({**_spelled(place[token]), "top_logprobs": alternatives})
    return json.dumps({"content": content})


def _spelled(entry: Any) -> dict[str, Any]:  # noqa: ANN401  # as above
    text = entry.decoded_token or ""
    return {"token": text, "logprob": max(entry.logprob, LEAST_LOGPROB), "bytes": list(_bytes(text))}


@lru_cache(maxsize=4096)
def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _failure(error: Exception, *, dead: bool) -> CallFailed:
    """Returns what is recorded of a question without an answer."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, CallFailed):
        return error
    if dead:
        return CallFailed("server-error", f"the engine stopped: {said}")
    # A question that is too long, a template that refuses a message, a schema that cannot be enforced.
    refused = isinstance(error, ValueError) or any(base.__name__ == "VLLMClientError" for base in type(error).__mro__)
    return CallFailed("rejected" if refused else "server-error", said, turned_down=refused)
