"""The adapter for vLLM's engine: the model is loaded on this machine, and no server stands before it.

vLLM is not among our dependencies and is imported when the first call is made: a study can be planned and its reports
be written where there is none.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from umpirical.models.adapters.catalogue import Calling, ModelAdapter
from umpirical.models.adapters.vllm.connection import VllmConnection
from umpirical.models.adapters.vllm.engines import ENGINES, EngineSpec
from umpirical.models.caller import Connection

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
            raise ValueError("a vllm model is loaded on this machine: leave out base_url, api_key_env and batch")
        if not ON_THE_HUB.fullmatch(spec.name) and not IN_A_FOLDER.fullmatch(spec.name):
            raise ValueError(
                "a vllm model is named by the absolute path of its folder, or as on the Hugging Face hub: owner/model"
            )
        if unknown := spec.model_args.keys() - FLAGS - {GPUS, BATCH_INVARIANT}:
            raise ValueError(
                f"model_args: {min(unknown)} cannot be set here; what can: {', '.join(sorted(FLAGS))}, {GPUS}, "
                f"{BATCH_INVARIANT}"
            )
        gpus = spec.model_args.get(GPUS, 0)
        if isinstance(gpus, str | bool) or not 0 <= gpus <= 64:
            raise ValueError(f"model_args: {GPUS} is a number from 0, for none, to 64")
        if spec.model_args.get(BATCH_INVARIANT, False) not in (True, False):
            raise ValueError(f"model_args: {BATCH_INVARIANT} is true or false")

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
