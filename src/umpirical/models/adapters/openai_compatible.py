"""The adapter for servers that speak the OpenAI chat protocol (vLLM, SGLang, llama.cpp, proxies), on aiohttp."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import FailureKind, Response, Usage
from umpirical.models.attempts import CallFailed, CallRecord, Retrying, persist
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.pace import Pace
from umpirical.models.requests import ChatRequest, Decoding

if TYPE_CHECKING:
    import aiohttp

__all__ = ["OpenAICompatibleModel", "request_body"]

TURNED_DOWN: frozenset[FailureKind] = frozenset({"rate-limited", "server-error", "rejected"})
"""The server answered that it did not do the work, so it is not billed."""


class OpenAICompatibleModel:
    """One model behind one server, over kept connections, at the pace the server can keep."""

    def __init__(  # noqa: PLR0913  # each by its name
        self,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout: float = 120.0,
        retrying: Retrying | None = None,
        pace: Pace | None = None,
        meter: Meter | None = None,
    ) -> None:
        """`timeout` is in seconds, for one attempt."""
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout = timeout
        self._retrying = retrying or Retrying()
        self._pace = pace or Pace(16)
        self._meter = meter or Meter(FREE, Ledger())
        self._session: aiohttp.ClientSession | None = None

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        call = CallRecord()
        answer = await persist(lambda: self._attempt(request, trial_id, call), self._retrying, trial_id)
        sent = _parameters(request.decoding, request.answer_schema)[1]
        return replace(call.complete(answer, self._meter), sent=sent)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _attempt(self, request: ChatRequest, trial_id: str, call: CallRecord) -> Response:
        """One request: in its turn, under the cap, and booked whatever becomes of it."""
        call.attempts += 1
        mark = await self._pace.enter()
        latency, reservation = None, None
        try:
            reservation = await self._meter.reserve(request)
            start = time.perf_counter()
            reply = _read_body(await self._post(request_body(request), trial_id))
            latency = time.perf_counter() - start
            call.book(reservation, _usage(reply.get("usage")))
            return _read_completion(reply, trial_id)
        except CallFailed as failed:
            call.rate_limited += failed.kind == "rate-limited"
            if failed.busy:
                failed.slow_down(self._pace, mark)
            if reservation is not None and failed.kind in TURNED_DOWN:
                reservation.not_billed()
            raise
        finally:
            call.let_go(reservation)
            self._pace.leave(latency=latency)

    async def _post(self, body: Mapping[str, Any], trial_id: str) -> bytes:
        import aiohttp

        try:
            # The id lets a server's log be matched with ours; it says nothing about the stimulus.
            headers = {"X-Client-Request-Id": trial_id}
            async with self._open().post(self._url, json=body, headers=headers) as http:
                raw = await http.read()
                if http.status != 200:
                    raise _status_failure(http.status, raw, http.headers)
        except TimeoutError:
            raise CallFailed("timeout", f"no answer within {self._timeout:g} s") from None
        except aiohttp.ClientPayloadError as error:
            raise CallFailed("malformed", f"truncated reply: {error}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise CallFailed("connection", f"{type(error).__name__}: {error}") from None
        return raw

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            # Concurrency is the pace's to limit; the pool must not be a second, hidden limit.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                headers=self._headers,
            )
        return self._session


def request_body(request: ChatRequest) -> dict[str, Any]:
    """The request as it goes over the wire."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return {"model": request.model, "messages": messages, **_parameters(request.decoding, request.answer_schema)[0]}


@lru_cache(maxsize=64)
def _parameters(decoding: Decoding, answer_schema: str) -> tuple[dict[str, Any], str]:
    """Everything but model and messages, as a dictionary and as the JSON that is recorded. Never to be changed."""
    sent: dict[str, Any] = dict(decoding.sent())
    if "top_logprobs" in sent:
        sent["logprobs"] = True
    if answer_schema:
        schema = json.loads(answer_schema)
        sent["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        }
    return sent, canonical_json(sent)


def _read_body(raw: bytes) -> dict[str, Any]:
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise CallFailed("malformed", f"not a chat completion: {raw[:200]!r}")
    return reply


def _read_completion(reply: Mapping[str, Any], trial_id: str) -> Response:
    """A completion, or CallFailed: whatever is not of the protocol is `malformed`, never an empty answer."""
    try:
        choice = reply["choices"][0]
        message, finish = choice["message"], str(choice.get("finish_reason") or "")
        text = message.get("content")
    except (LookupError, TypeError, AttributeError):
        raise CallFailed("malformed", f"not a chat completion: {str(reply)[:200]}") from None
    if message.get("refusal") or finish == "content_filter":
        raise CallFailed("refused", str(message.get("refusal") or "stopped by the content filter"))
    if not isinstance(text, str):
        raise CallFailed("malformed", f"message content is {type(text).__name__}, expected text")
    served_by = " ".join(str(reply[key]) for key in ("model", "system_fingerprint") if reply.get(key))
    logprobs = json.dumps(choice["logprobs"]) if choice.get("logprobs") else ""
    return Response(trial_id, text, finish_reason=finish, logprobs=logprobs, served_by=served_by)


def _usage(usage: Any) -> Usage:  # noqa: ANN401  # foreign JSON
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    # A count no disk format holds is no count.
    return Usage(*(count if isinstance(count, int) and 0 <= count < 2**63 else None for count in counts))


def _status_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> CallFailed:
    detail = f"HTTP {status}: {raw[:200].decode('utf-8', 'replace')}"
    retry_after = _seconds(headers.get("Retry-After"))
    if status == 429:
        return CallFailed("rate-limited", detail, retry_after=retry_after, busy=True)
    if status == 408 or status >= 500:
        return CallFailed("server-error", detail, retry_after=retry_after, busy=status in (503, 529))
    return CallFailed("rejected", detail)


def _seconds(header: str | None) -> float | None:
    """Retry-After in seconds; a date there is rare enough to fall back on our own backoff."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None
