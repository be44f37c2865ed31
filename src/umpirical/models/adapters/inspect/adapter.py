"""The adapter for Inspect AI. Inspect itself is an extra, and is imported only when a model is opened."""

import re
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from umpirical.domain.errors import UsageError
from umpirical.models.adapters.catalogue import Calling, ModelAdapter, key_of
from umpirical.models.caller import Connection

if TYPE_CHECKING:
    from umpirical.models.spec import ModelSpec

BATCHED = frozenset({"anthropic", "google", "grok", "openai", "together"})
"""Providers whose batch interface Inspect uses. Others would silently be asked one by one, at full price."""

OWN_ARGUMENTS = {"api_key", "base_url", "config", "default", "memoize", "model", "required", "role"}
"""Arguments of Inspect's `get_model` that are given elsewhere in the spec or not at all."""


class _Inspect(ModelAdapter):
    """Every provider that Inspect knows, by its name there."""

    names_provider = True
    client_retries = 2

    def check(self, spec: "ModelSpec") -> None:
        if not re.fullmatch(r"[\w.-]+/.+", spec.name):
            raise ValueError("an inspect model is named by provider and model, such as openai/gpt-4o")
        if taken := OWN_ARGUMENTS & spec.model_args.keys():
            raise ValueError(f"model_args: {min(taken)} is not allowed here; a key goes into api_key_env")

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:
        key = key_of(spec)
        _need_inspect(spec.name)
        if spec.batch and spec.name.partition("/")[0] not in BATCHED:
            raise UsageError(
                f"Inspect has no batches for {spec.name}, only for {', '.join(sorted(BATCHED))}", fix="leave batch out"
            )
        from umpirical.models.adapters.inspect.connection import InspectConnection, Provider

        provider = Provider(
            spec.name, base_url=spec.base_url, api_key=key, model_args=spec.model_args, batch=spec.batch
        )
        return InspectConnection(provider, timeout=spec.timeout, concurrency=calling.concurrency)


ADAPTER = _Inspect()


def _need_inspect(name: str) -> None:
    try:
        import inspect_ai  # noqa: F401

        version("inspect-ai")
    except (ImportError, PackageNotFoundError):
        raise UsageError(
            f"{name} is asked through Inspect AI, which is not installed", fix="pip install 'umpirical[inspect]'"
        ) from None
