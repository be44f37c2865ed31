"""Engines of vLLM in this process.

Every engine has a thread with an event loop of its own, which outlives the loop of whoever asks: the answers that show
whether a judge can be read, and all others, come from one engine. One that nobody uses is ended as soon as another
model is wanted, since both may not fit.
"""

import asyncio
import atexit
import hashlib
import os
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        """Runs a coroutine on the engine's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    @property
    def dead(self) -> bool:
        return bool(self.llm.errored)

    def end(self) -> None:
        """Ends the engine and its processes."""
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
        raise ValueError(f"there is a folder {spec.model} here; name it by its absolute path if it is meant")
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if spec.invariant is None:
        return
    wanted = "1" if spec.invariant else "0"
    if "vllm" in sys.modules and os.environ.get(INVARIANT, "0") != wanted:
        raise ValueError(
            f"batch_invariant: {str(spec.invariant).lower()} has to be known before vLLM is loaded, and another judge "
            "has loaded it; measure the two by commands of their own, with --judge"
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
