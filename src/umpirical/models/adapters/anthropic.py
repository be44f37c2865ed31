"""The adapter for servers that speak Anthropic's Messages protocol, on aiohttp: single calls, and batches."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import FailureKind, Usage
from umpirical.models.adapters.anthropic_batches import AnthropicBatches
from umpirical.models.adapters.catalogue import Calling, ModelAdapter, key_of
from umpirical.models.adapters.exchanges import Exchanges, Tls
from umpirical.models.adapters.protocols import ChatConnection, ChatProtocol
from umpirical.models.batches import BatchForm
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.tokens import counted_usage

if TYPE_CHECKING:
    from umpirical.models.spec import ModelSpec

VERSION = "2023-06-01"
"""Of the protocol, as the header `anthropic-version` says it."""

SENT = ("temperature", "top_p", "max_tokens")
"""The decoding parameters that the protocol has."""

KINDS: Mapping[str, FailureKind] = {
    "rate_limit_error": "rate-limited",
    "overloaded_error": "server-error",
    "api_error": "server-error",
    "timeout_error": "server-error",
}
"""Types of errors after which the same request may be answered; all others refuse the request as it is."""


class _Anthropic(ModelAdapter):
    """Any server that speaks the protocol, by its address."""

    takes_tls = True

    def check(self, spec: "ModelSpec") -> None:
        super().check(spec)
        if not spec.base_url:
            raise ValueError("an anthropic model needs base_url, such as https://api.anthropic.com")

    def connect(self, spec: "ModelSpec", calling: Calling) -> Connection:  # noqa: ARG002  # left to the caller
        return AnthropicConnection(base_url=_origin(spec), api_key=key_of(spec), timeout=spec.timeout, tls=spec.tls)

    def batches(self, spec: "ModelSpec") -> BatchForm:
        key = key_of(spec)
        url = f"{_origin(spec)}/v1/messages/batches"
        exchanges = Exchanges(url, headers=_headers(key), timeout=spec.timeout, tls=spec.tls)
        return AnthropicBatches(PROTOCOL, exchanges, key, reported)


ADAPTER = _Anthropic()


class AnthropicConnection(ChatConnection):
    """One model behind a server of this protocol."""

    def __init__(
        self, *, base_url: str, api_key: str | None = None, timeout: float = 120.0, tls: Tls | None = None
    ) -> None:
        """`timeout` is in seconds, for one attempt."""
        url = f"{base_url}/v1/messages"
        super().__init__(PROTOCOL, Exchanges(url, headers=_headers(api_key), timeout=timeout, tls=tls), api_key)


def request_body(request: ChatRequest) -> dict[str, Any]:
    """The request as it goes over the wire. Raises CallFailed for what the protocol has no words for."""
    decoding = request.decoding
    if missing := sorted(decoding.sent().keys() - set(SENT)):
        raise CallFailed("rejected", f"never sent: Anthropic's protocol has no {missing[0]}", turned_down=True)
    if decoding.max_tokens is None:
        raise CallFailed("rejected", "never sent: Anthropic's protocol needs max_tokens", turned_down=True)
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    messages = [
        {"role": message.role, "content": message.content} for message in request.messages if message.role != "system"
    ]
    said: dict[str, Any] = {"model": request.model, "messages": messages}
    if system:
        said["system"] = system
    return {**said, **_parameters(decoding, request.answer_schema)[0]}


def read_message(body: Mapping[str, Any]) -> Reply:
    """Returns a message or raises CallFailed: a reply outside the protocol is `malformed`, never an empty answer.

    Either way the server has done work, so its usage is included.
    """
    usage = _usage(body.get("usage"))
    if body.get("type") == "error" or body.get("error"):
        failed = reported(body)
        failed.usage, failed.turned_down = usage, False
        raise failed
    blocks, reason = body.get("content"), body.get("stop_reason")
    if body.get("type") != "message" or body.get("role") != "assistant" or not isinstance(blocks, list):
        raise CallFailed("malformed", "not a message of an assistant", usage=usage)
    if reason == "refusal":
        raise CallFailed("refused", "stopped by the model's own refusal", usage=usage)
    texts, unread = list[str](), list[str]()
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        words = block.get("text" if kind == "text" else "thinking") if isinstance(block, dict) else None
        if kind not in ("text", "thinking", "redacted_thinking") or (kind == "text" and not isinstance(words, str)):
            raise CallFailed("malformed", "the message is not in text alone", usage=usage)
        if isinstance(words, str):
            (texts if kind == "text" else unread).append(words)
    if not texts:
        raise CallFailed("malformed", "a message without text", usage=usage)
    return Reply(
        "".join(texts),
        finish_reason="" if reason is None or reason == "" else str(reason),
        usage=usage,
        served_by=str(body.get("model") or ""),
        unread="".join(unread),
    )


def reported(body: Mapping[str, Any]) -> CallFailed:
    """Returns the failure that the body of an error reports."""
    error = body.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    failure = KINDS.get(kind, "rejected") if isinstance(kind, str) else "server-error"
    busy = kind in ("rate_limit_error", "overloaded_error")
    return CallFailed(failure, f"an error in place of a message: {error}", busy=busy, turned_down=failure == "rejected")


@lru_cache(maxsize=64)
def _parameters(decoding: Decoding, answer_schema: str) -> tuple[dict[str, Any], str]:
    """Everything but model and messages, as a dictionary and as the JSON that is recorded. Must not be modified."""
    sent: dict[str, Any] = dict(decoding.sent())
    if answer_schema:
        sent["output_config"] = {"format": {"type": "json_schema", "schema": json.loads(answer_schema)}}
    return sent, canonical_json(sent)


def _sent(request: ChatRequest) -> str:
    return _parameters(request.decoding, request.answer_schema)[1]


PROTOCOL = ChatProtocol(request_body, _sent, read_message)


def _usage(usage: Any) -> Usage:  # noqa: ANN401  # foreign JSON
    """Reads the usage. Anthropic counts cached tokens separately; here they are part of the input."""
    if not isinstance(usage, dict):
        return Usage()
    cached = usage.get("cache_read_input_tokens")
    found = (usage.get("input_tokens"), cached or 0, usage.get("cache_creation_input_tokens") or 0)
    parts = [part for part in found if type(part) is int and part >= 0]
    if len(parts) < len(found):
        return Usage()
    return counted_usage(sum(parts), usage.get("output_tokens"), cached=cached)


def _headers(key: str | None) -> dict[str, str]:
    return {"anthropic-version": VERSION, **({"x-api-key": key} if key else {})}


def _origin(spec: "ModelSpec") -> str:
    assert spec.base_url is not None  # noqa: S101  # checked with the spec
    return spec.base_url.rstrip("/").removesuffix("/v1")
