"""Batches of Anthropic's protocol: questions that are sent with the batch, and one list of results.

A batch has no name or label there. So one whose id was never heard is recognized by its entries, which are seen in its
results alone: until every batch of that time and size has ended, nobody can tell.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import IO, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import FailureKind, Usage
from umpirical.models.adapters.exchanges import Exchanges, encoded
from umpirical.models.adapters.protocols import ChatAdapter, ChatProtocol, ListedBatches
from umpirical.models.batches import BatchForm, BatchResult, BatchState, Undecided, checked_id, trial_of
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.money import counted_usage
from umpirical.models.recording import LARGEST
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.spec import ModelSpec, key_of

MOST_ENTRIES = 100_000
MOST_BYTES = 256_000_000
"""By Anthropic's guide to message batches: "100,000 Message requests or 256 MB in size, whichever is reached first"."""

COUNTED = ("processing", "succeeded", "errored", "canceled", "expired")


class AnthropicBatches(ListedBatches):
    """Batches of messages, on a server of Anthropic's protocol."""

    most_entries = MOST_ENTRIES
    most_bytes = MOST_BYTES
    head = b'{"requests":['
    between = b","
    tail = b"]}"

    place = ""
    cursor = "after_id"

    def __init__(
        self,
        protocol: ChatProtocol,
        exchanges: Exchanges,
        api_key: str | None,
        reported: Callable[[Mapping[str, Any]], CallFailed],
    ) -> None:
        """`reported` returns the failure that the body of an error reports."""
        super().__init__(protocol, exchanges, api_key)
        self._reported = reported

    def entry(self, request: ChatRequest, custom_id: str) -> bytes:
        return encoded({"custom_id": custom_id, "params": self.protocol.body(request)})

    async def create(self, name: str, file: IO[bytes], uploaded: str) -> str:  # noqa: ARG002  # neither is said
        return checked_id((await self.exchanges.post_file("", file)).get("id"))

    async def find(self, name: str, *, since: datetime, entries: int) -> str | None:
        undecided = False
        async for batch in self.listed(since):
            if self.is_before(batch, since) or _total(batch) != entries:
                continue
            found, state = checked_id(batch.get("id")), _state(batch)
            if not state.over:
                undecided = True
            elif await self._is_named(found, state, name):
                return found
        if undecided:
            raise Undecided
        return None

    def made_at(self, batch: Mapping[str, Any]) -> datetime:
        try:
            moment = datetime.fromisoformat(str(batch.get("created_at")))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise CallFailed("malformed", "the batch has no creation time")
        return moment

    async def _is_named(self, batch: str, state: BatchState, name: str) -> bool:
        """Whether the entries of a batch are of ours: all have its name, so the first result is enough."""
        results = self.results(batch, state, most=LARGEST, entries=state.total)
        try:
            async for result in results:
                return trial_of(result.custom_id, name) is not None
        finally:
            await results.aclose()  # type: ignore[attr-defined]  # it is a generator
        return False

    async def state(self, batch: str) -> BatchState:
        said = await self.exchanges.get(f"/{batch}")
        if said.get("id") != batch:
            raise CallFailed("malformed", "the state belongs to another batch, or is missing")
        return _state(said)

    def results(
        self,
        batch: str,
        state: BatchState,  # noqa: ARG002  # there is one list
        *,
        most: int,
        entries: int,
    ) -> AsyncIterator[BatchResult]:
        # The address is ours: the one that the server gives might be anywhere.
        return self.results_at(f"/{batch}/results", most=most, entries=entries)

    def read_line(self, said: Mapping[str, Any]) -> Reply:
        result = said.get("result")
        if not isinstance(result, dict):
            result = {}
        kind, message, error = result.get("type"), result.get("message"), result.get("error")
        if kind == "succeeded" and isinstance(message, dict):
            return self.protocol.read(message)
        if kind == "errored" and isinstance(error, dict):
            raise self._reported(error)
        if kind in ("expired", "canceled"):
            raise CallFailed("timeout" if kind == "expired" else "server-error", f"the entry was {kind}")
        raise CallFailed("malformed", f"an entry has neither an answer nor an error: {kind}")


def _state(batch: Mapping[str, Any]) -> BatchState:
    status, counts = batch.get("processing_status"), batch.get("request_counts")
    if not isinstance(status, str):
        raise CallFailed("malformed", "the batch has no status")
    waiting = counts.get("processing") if isinstance(counts, dict) else None
    total = _total(batch)
    return BatchState(status == "ended", status, total, total - waiting if type(waiting) is int else 0)


def _total(batch: Mapping[str, Any]) -> int:
    counts = batch.get("request_counts")
    found = [counts.get(key) for key in COUNTED] if isinstance(counts, dict) else []
    return sum(count for count in found if type(count) is int)


# The adapter for servers that speak Anthropic's Messages protocol, on aiohttp: single calls, and batches.


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


def request_body(request: ChatRequest) -> dict[str, Any]:
    """The request as it goes over the wire. Raises CallFailed for what the protocol has no words for."""
    decoding = request.decoding
    if missing := sorted(decoding.sent().keys() - set(SENT)):
        raise CallFailed("rejected", f"never sent: the Anthropic API does not support {missing[0]}", turned_down=True)
    if decoding.max_tokens is None:
        raise CallFailed("rejected", "never sent: the Anthropic API requires max_tokens", turned_down=True)
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
        raise CallFailed("malformed", "not an assistant message", usage=usage)
    if reason == "refusal":
        raise CallFailed("refused", "the model refused to answer", usage=usage)
    texts, unread = list[str](), list[str]()
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else None
        words = block.get("text" if kind == "text" else "thinking") if isinstance(block, dict) else None
        if kind not in ("text", "thinking", "redacted_thinking") or (kind == "text" and not isinstance(words, str)):
            raise CallFailed("malformed", "the message contains more than text", usage=usage)
        if isinstance(words, str):
            (texts if kind == "text" else unread).append(words)
    if not texts:
        raise CallFailed("malformed", "the message has no text", usage=usage)
    return Reply(
        "".join(texts),
        finish_reason="" if reason is None or reason == "" else str(reason),
        usage=usage,
        served_by=str(body.get("model") or ""),
        unread="".join(unread),
    )


def reported(body: Mapping[str, Any]) -> CallFailed:
    error = body.get("error")
    kind = error.get("type") if isinstance(error, dict) else None
    failure = KINDS.get(kind, "rejected") if isinstance(kind, str) else "server-error"
    busy = kind in ("rate_limit_error", "overloaded_error")
    return CallFailed(failure, f"an error instead of a message: {error}", busy=busy, turned_down=failure == "rejected")


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


class _Anthropic(ChatAdapter):
    protocol = PROTOCOL
    path = "/v1/messages"
    example = "https://api.anthropic.com"
    key_header: Mapping[str, str] = {"x-api-key": "{{key}}"}
    headers: Mapping[str, str] = {"anthropic-version": VERSION}

    def batches(self, spec: ModelSpec) -> BatchForm:
        exchanges = self.exchanges(spec, f"{self.path}/batches")
        return AnthropicBatches(PROTOCOL, exchanges, key_of(spec), reported)


ADAPTER = _Anthropic()


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
