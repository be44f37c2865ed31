"""A server on loopback that speaks the OpenAI chat protocol. The test decides what it answers and how it fails."""

import asyncio
import json
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from aiohttp import web

from tests.servers.anthropic_server import message

Fault = Literal["rate-limit", "server-error", "malformed", "truncated", "hang", "reset"]
"""429 with Retry-After, 500, a body that is not JSON, a body cut short, no answer, a closed connection."""

Outage = Literal["unavailable"]
"""503, as of a server that is down."""


@dataclass(frozen=True)
class Said:
    """An answer with its log-probabilities."""

    tokens: tuple[tuple[str, float, dict[str, float]], ...]
    """Each token of the answer, its log-probability, and all tokens listed at its place, including itself."""

    @property
    def text(self) -> str:
        return "".join(text for text, *_ in self.tokens)

    def logprobs(self) -> dict[str, Any]:
        """Returns the log-probabilities in the form of the protocol."""
        return {
            "content": [
                {
                    "token": text,
                    "logprob": logprob,
                    "bytes": None,
                    "top_logprobs": [{"token": t, "logprob": p, "bytes": None} for t, p in listed.items()],
                }
                for text, logprob, listed in self.tokens
            ]
        }


Message = dict[str, Any]
"""An answer that is more than text, as in the protocol: `{"content": None, "tool_calls": [...]}`."""

Answer = Callable[[dict[str, Any]], str | Message]
"""Returns the text of the answer to a request body, or the whole message."""

TokenAnswer = Callable[[dict[str, Any]], Said]
"""Returns the tokens of the answer to a request body, with their log-probabilities."""

Misbehave = Callable[[str, int], Fault | Outage | None]
"""Returns how a call fails, if it does, given its request id and how often it has been asked (1 the first time)."""

HANG_SECONDS = 30.0

MESSAGES = "/v1/messages"
"""The address of Anthropic's protocol, in which a question sent there is answered, in text alone."""


@dataclass
class ChatServer:
    """Runs in a thread of its own, as a context manager; counts its requests."""

    answer: Answer | TokenAnswer
    misbehave: Misbehave = lambda _id, _times: None
    latency: float = 0.0
    """Seconds before each answer."""
    retry_after: float = 0.0
    """The Retry-After of a 429, in seconds."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    """The first requests as received, at most `keep_bodies`."""
    keep_bodies: int = 1000
    quoting: bool = False
    """Whether it refuses every request with 401, and quotes its headers."""
    address: tuple[str, int] = ("127.0.0.1", 0)
    """Where to listen; port 0 takes any free port."""
    path: str = "/v1"
    """Of its address."""
    layers: tuple[Any, ...] = ()
    """Middlewares of aiohttp's, which make another server of it."""
    tls: ssl.SSLContext | None = None
    """What an encrypted server needs."""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by id, answered or not."""
    answered: Counter[str] = field(default_factory=Counter)
    """Complete answers sent, by id."""
    faults: Counter[str] = field(default_factory=Counter)
    most_in_flight: int = 0

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="chat-server", daemon=True)
        self._ready = threading.Event()
        self._in_flight = 0
        self._port = self.address[1]

    @property
    def base_url(self) -> str:
        return f"http{'s' if self.tls else ''}://{self.address[0]}:{self._port}{self.path}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(timeout=120)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=120)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        # A handler that hangs on purpose would outlive its loop.
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _start(self) -> web.AppRunner:
        app = web.Application(client_max_size=64 * 1024 * 1024, middlewares=self.layers)
        app.router.add_post(f"{self.path}/chat/completions", self._complete)
        app.router.add_post(MESSAGES, self._complete)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, *self.address, ssl_context=self.tls)
        await site.start()
        assert runner.addresses  # it has just started
        self._port = runner.addresses[0][1]
        return runner

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            body = await request.json()
            name = request.headers.get("X-Client-Request-Id", "")
            self.asked[name] += 1
            if len(self.bodies) < self.keep_bodies:
                self.bodies.append(body)
            if self.latency:
                await asyncio.sleep(self.latency)
            if self.quoting:
                key = request.headers.get("Authorization", "").rpartition(" ")[2]
                said = {"message": f"wrong key {key}", "headers": dict(request.headers)}
                return web.json_response({"error": said}, status=401)
            if fault := self.misbehave(name, self.asked[name]):
                self.faults[fault] += 1
                return await self._fail(request, fault, body)
            self.answered[name] += 1
            return web.json_response(self._reply(request, body))
        finally:
            self._in_flight -= 1

    def _reply(self, request: web.Request, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.answer(body)
        return message(body, str(answer)) if request.path == MESSAGES else completion(body, answer)

    async def _fail(self, request: web.Request, fault: Fault | Outage, body: dict[str, Any]) -> web.StreamResponse:
        match fault:
            case "rate-limit":
                headers = {"Retry-After": f"{self.retry_after:g}"}
                return web.json_response({"error": {"message": "slow down"}}, status=429, headers=headers)
            case "server-error" | "unavailable":
                status = 500 if fault == "server-error" else 503
                return web.json_response({"error": {"message": "it broke"}}, status=status)
            case "malformed":
                return web.Response(text='{"choices": [{"message": ', content_type="application/json")
            case "truncated":
                whole = json.dumps(self._reply(request, body)).encode()
                cut = web.StreamResponse(headers={"Content-Length": str(len(whole))})
                await cut.prepare(request)
                await cut.write(whole[: len(whole) // 2])
                _close(request)
                return cut
            case "hang":
                await asyncio.sleep(HANG_SECONDS)
                return web.Response(status=504)
            case "reset":
                _close(request)
                return web.Response()


def completion(body: dict[str, Any], answer: str | Said | Message) -> dict[str, Any]:
    """Returns a chat completion, with log-probabilities if they were requested."""
    if isinstance(answer, dict):
        message, text = {"role": "assistant", **answer}, str(answer.get("content") or "")
    else:
        text = answer if isinstance(answer, str) else answer.text
        message = {"role": "assistant", "content": text}
    choice: dict[str, Any] = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
    }
    if body.get("logprobs"):
        token = {"token": text, "logprob": -0.1, "bytes": None, "top_logprobs": []}
        choice["logprobs"] = answer.logprobs() if isinstance(answer, Said) else {"content": [token]}
    words, said = len(prompt_text(body).split()), len(text.split())
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "system_fingerprint": "fp_loopback",
        "choices": [choice],
        "usage": {"prompt_tokens": words, "completion_tokens": said, "total_tokens": words + said},
    }


def prompt_text(body: dict[str, Any]) -> str:
    """Returns everything that a request says, message by message. A message is a text, or parts of which some are."""
    contents = [message.get("content") or "" for message in body["messages"]]
    texts = [
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        for content in contents
    ]
    return "\n\n".join(texts)


def _close(request: web.Request) -> None:
    """Drops the connection while the client is still waiting."""
    if request.transport is not None:
        request.transport.abort()
