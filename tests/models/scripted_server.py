"""A server in the test's own loop whose every reply is written out in the test: status, headers and body."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass(frozen=True)
class Reply:
    body: object
    """JSON, or bytes as they are."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Scripted:
    """What the server was asked."""

    base_url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    peers: set[int] = field(default_factory=set)


def completion(message=None, **changes):
    message = {"role": "assistant", "content": "1"} if message is None else message
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"} | changes]}


@asynccontextmanager
async def serve(*replies):
    """Gives the replies one after the other, and the last one for ever."""
    asked, waiting = Scripted(), list(replies)

    async def answer(request):
        await request.read()
        asked.headers.append(dict(request.headers))
        asked.peers.add(request.transport.get_extra_info("peername")[1])
        reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        return web.Response(body=raw, status=reply.status, headers=reply.headers)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    asked.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield asked
    finally:
        await runner.cleanup()
