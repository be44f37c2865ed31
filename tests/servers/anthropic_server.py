"""A server on loopback that speaks Anthropic's Messages protocol. The test decides what it answers and how it fails."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from aiohttp import web

AnthropicFault = Literal[
    "rate-limit", "server-error", "overloaded", "malformed", "truncated", "hang", "reset", "refusal", "too-long"
]
"""429 with Retry-After, 500, 529, a body that is not JSON, a body cut short, no answer, a closed connection, an answer
that the model declined to give, and a prompt longer than the model reads."""

Answer = Callable[[dict[str, Any]], str]
"""Returns the text of the answer to a request body."""

HANG_SECONDS = 30.0


@dataclass
class AnthropicServer:
    """Runs in the caller's event loop, as an asynchronous context manager; counts its requests."""

    answer: Answer
    misbehave: Callable[[int], AnthropicFault | None] = lambda _times: None
    """Returns how a call fails, if it does, given how often the server has been asked (1 the first time)."""
    retry_after: float = 0.0
    """The Retry-After of a 429, in seconds."""
    stop_reason: str = "end_turn"
    """Why every answer stops."""
    cached: int = 0
    """Input tokens that every answer reports as read from the cache."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    base_url: str = ""
    """Without /v1, which Anthropic's client adds."""

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/messages", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        fault = self.misbehave(len(self.bodies))
        if fault is None:
            whole = message(body, self.answer(body), cached=self.cached, stop_reason=self.stop_reason)
            return web.json_response(whole)
        self.faults[fault] += 1
        return await self._fail(request, fault, body)

    async def _fail(self, request: web.Request, fault: AnthropicFault, body: dict[str, Any]) -> web.StreamResponse:
        if fault in ERRORS:
            status, kind, said = ERRORS[fault]
            headers = {"Retry-After": f"{self.retry_after:g}"} if status == 429 else {}
            return web.json_response(error(kind, said), status=status, headers=headers)
        if fault == "malformed":
            return web.Response(text='{"content": [{"type": ', content_type="application/json")
        if fault == "refusal":
            return web.json_response(message(body, "I will not judge this.", stop_reason="refusal"))
        if fault == "hang":
            await asyncio.sleep(HANG_SECONDS)
        if fault == "truncated":
            whole = json.dumps(message(body, self.answer(body))).encode()
            cut = web.StreamResponse(headers={"Content-Length": str(len(whole))})
            await cut.prepare(request)
            await cut.write(whole[: len(whole) // 2])
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


ERRORS: dict[AnthropicFault, tuple[int, str, str]] = {
    "rate-limit": (429, "rate_limit_error", "slow down"),
    "server-error": (500, "api_error", "it broke"),
    "overloaded": (529, "overloaded_error", "overloaded"),
    "too-long": (400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"),
}


def error(kind: str, said: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": said}, "request_id": "req_loopback"}


def message(body: dict[str, Any], text: str, *, cached: int = 0, stop_reason: str = "end_turn") -> dict[str, Any]:
    """Returns an answer of the Messages protocol. Input is counted in words, and cached input separately."""
    usage = {"input_tokens": len(json.dumps(body["messages"]).split()), "output_tokens": len(text.split())}
    return {
        "id": "msg_loopback",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": usage | {"cache_creation_input_tokens": 0, "cache_read_input_tokens": cached},
    }
