"""A server on loopback that writes bytes as they are: whatever a server can do to a client, it can do."""

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True)
class Asked:
    """One request, as it was received."""

    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    """Which connection it came over, counted from 1."""

    @property
    def text(self):
        return json.loads(self.body)["messages"][-1]["content"]


@dataclass
class RawServer:
    """Runs in a thread of its own, as a context manager. `answer(asked, writer)` writes what it likes."""

    answer: object
    asked: list[Asked] = field(default_factory=list)
    paths: Counter = field(default_factory=Counter)
    connections: int = 0
    port: int = 0

    def __enter__(self) -> Self:
        self._loop, self._ready = asyncio.new_event_loop(), threading.Event()
        self._thread = threading.Thread(target=self._serve, name="raw-server", daemon=True)
        self._thread.start()
        assert self._ready.wait(timeout=30)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def _serve(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**24))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _connected(self, reader, writer):
        self.connections += 1
        number = self.connections
        try:
            while (asked := await _read(reader, number)) is not None:
                self.asked.append(asked)
                self.paths[asked.path] += 1
                await self.answer(asked, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The other side is gone, or the server is being closed, which a stream's own task must not be told.
            return
        finally:
            writer.close()


async def _read(reader, number):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ValueError):
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(first.split()[1], headers, body, number)


def completion(text="1", *, finish="stop", **changes):
    """A whole reply of the chat protocol, with its parts changed as told."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage} | changes


def http(body, *, status="200 OK", headers=(), length=None):
    """A whole HTTP reply."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    lines.append(f"Content-Length: {len(raw) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + raw
