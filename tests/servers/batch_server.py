"""A server on loopback that speaks the protocols of OpenAI and of Anthropic, for batches and for single calls."""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self

from aiohttp import BodyPartReader, web

from tests.servers.anthropic_server import message
from tests.servers.chat_server import Answer, completion

BatchEnd = Literal["completed", "expired", "cancelled", "failed"]
"""How batches end, in OpenAI's words."""

Hook = Callable[[str], None]
"""Receives the method and the route of a request."""


def _nothing(_route: str) -> None: ...


@dataclass
class BatchServer:
    """Runs in the caller's event loop, as an asynchronous context manager; as an ordinary one, in a thread of its own.

    A batch is ready soon after creation.
    """

    answer: Answer
    refuse_batches: int = 0
    """How many attempts to create a batch fail, with status 503."""
    unanswered: Callable[[dict[str, Any]], bool] = lambda _body: False
    """Which questions of a batch end in an error."""
    end: BatchEnd = "completed"
    rewrite: Callable[[list[str]], str] = "\n".join
    """Makes a file of results out of its lines, as they should be."""
    polls: int = 1
    """How often a batch is said to be in progress before it has ended."""
    before: Hook = _nothing
    """Called with each request, before anything is done."""
    after: Hook = _nothing
    """Called once it is done, before the reply."""
    batches: list[list[dict[str, Any]]] = field(default_factory=list)
    """The questions of every batch, as request bodies."""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by method and route."""
    worked: Counter[str] = field(default_factory=Counter)
    """How often each question was put into a batch, by its trial."""
    singles: int = 0
    """Single calls that were answered."""
    origin: str = ""

    @property
    def base_url(self) -> str:
        """Of OpenAI's protocol."""
        return f"{self.origin}/v1"

    async def __aenter__(self) -> Self:
        self._uploads: list[str] = []
        self._results: list[list[str]] = []
        self._names: list[dict[str, str]] = []
        self._created: list[datetime] = []
        self._polls: Counter[str] = Counter()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for method, path, handler in (
            ("POST", "/v1/chat/completions", self._complete),
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{id}/content", self._download),
            ("POST", "/v1/batches", self._create),
            ("GET", "/v1/batches", self._list),
            ("GET", "/v1/batches/{id}", self._retrieve),
            ("POST", "/v1/messages", self._message),
            ("POST", "/v1/messages/batches", self._create_messages),
            ("GET", "/v1/messages/batches", self._list_messages),
            ("GET", "/v1/messages/batches/{id}", self._retrieve_messages),
            ("GET", "/v1/messages/batches/{id}/results", self._download),
        ):
            app.router.add_route(method, path, self._counted(f"{method} {path}", handler))
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.origin = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="batch-server", daemon=True)
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self.__aenter__(), self._loop).result(timeout=120)

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.__aexit__(), self._loop).result(timeout=120)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=120)
        self._loop.close()

    def _counted(self, name: str, handler: "Callable[[web.Request], web.Response | None]") -> Any:
        async def counted(request: web.Request) -> web.Response:
            self.asked[name] += 1
            self.before(name)
            multipart = request.content_type == "multipart/form-data"
            # Set and read before anything else is awaited: requests may overlap.
            self._body = await _file_of(request) if multipart else await request.read()
            reply = handler(request) or web.json_response({"error": {"message": "busy"}}, status=503)
            self.after(name)
            return reply

        return counted

    # Single calls.

    def _complete(self, _request: web.Request) -> web.Response:
        body = json.loads(self._body)
        self.singles += 1
        return web.json_response(completion(body, self.answer(body)))

    def _message(self, _request: web.Request) -> web.Response:
        body = json.loads(self._body)
        self.singles += 1
        return web.json_response(message(body, str(self.answer(body))))

    # OpenAI: a file of questions, a batch made from it, a file of answers.

    def _upload(self, _request: web.Request) -> web.Response:
        self._uploads.append(self._body.decode())
        name = f"file-{len(self._uploads) - 1}"
        return web.json_response(
            {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "b.jsonl", "purpose": "batch"}
        )

    def _create(self, _request: web.Request) -> web.Response | None:
        if self._refused():
            return None
        said = json.loads(self._body)
        source = said["input_file_id"]
        questions = [json.loads(line) for line in self._uploads[int(source.removeprefix("file-"))].splitlines()]
        self._add([question["body"] for question in questions], questions, said.get("metadata") or {})
        self._results.append([json.dumps(self._line(question)) for question in questions])
        return web.json_response(self._batch(len(self._results) - 1, "validating"))

    def _line(self, question: dict[str, Any]) -> dict[str, Any]:
        if self.unanswered(question["body"]):
            body = {
                "error": {"message": "it is too long", "type": "invalid_request_error", "param": None, "code": None}
            }
            return {"custom_id": question["custom_id"], "response": {"status_code": 400, "body": body}, "error": None}
        body = completion(question["body"], self.answer(question["body"])) | {"created": 1}
        return {"custom_id": question["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}

    def _list(self, _request: web.Request) -> web.Response:
        # The newest first, as OpenAI does.
        data = [self._batch(number, "in_progress") for number in reversed(range(len(self.batches)))]
        return web.json_response({"object": "list", "data": data, "has_more": False})

    def _retrieve(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        return web.json_response(self._batch(_number(name), self.end if self._is_over(name) else "in_progress"))

    def _batch(self, number: int, status: str) -> dict[str, Any]:
        done = status in ("completed", "expired", "cancelled")
        count = len(self.batches[number])
        return {
            "id": f"batch-{number}",
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file-0",
            "completion_window": "24h",
            "status": status,
            "created_at": int(self._created[number].timestamp()),
            "output_file_id": f"results-{number}" if done else None,
            "request_counts": {"total": count, "completed": count if done else 0, "failed": 0},
            "metadata": self._names[number],
        }

    def _download(self, request: web.Request) -> web.Response:
        lines = self._results[_number(request.match_info["id"])]
        return web.Response(text=self.rewrite(lines), content_type="application/x-jsonl")

    # Anthropic: a batch of questions, and its results.

    def _create_messages(self, _request: web.Request) -> web.Response | None:
        if self._refused():
            return None
        questions = json.loads(self._body)["requests"]
        self._add([question["params"] for question in questions], questions, {})
        lines = []
        for question in questions:
            params = question["params"]
            result: dict[str, Any] = {"type": "succeeded", "message": message(params, str(self.answer(params)))}
            if self.unanswered(params):
                result = {"type": "expired"}
            lines.append(json.dumps({"custom_id": question["custom_id"], "result": result}))
        self._results.append(lines)
        return web.json_response(self._message_batch(len(self._results) - 1, "in_progress"))

    def _list_messages(self, _request: web.Request) -> web.Response:
        numbers = reversed(range(len(self.batches)))
        data = [self._message_batch(n, "ended" if self._is_over(f"batch-{n}") else "in_progress") for n in numbers]
        return web.json_response({"data": data, "has_more": False, "last_id": data[-1]["id"] if data else None})

    def _retrieve_messages(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        return web.json_response(self._message_batch(_number(name), "ended" if self._is_over(name) else "in_progress"))

    def _message_batch(self, number: int, status: str) -> dict[str, Any]:
        count, over = len(self.batches[number]), status == "ended"
        counts = {"processing": 0 if over else count, "succeeded": count if over else 0}
        return {
            "id": f"batch-{number}",
            "type": "message_batch",
            "processing_status": status,
            "request_counts": {**counts, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": self._created[number].isoformat(),
            "expires_at": "2126-01-02T00:00:00Z",
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.origin}/v1/messages/batches/batch-{number}/results" if over else None,
        }

    def _add(self, bodies: list[dict[str, Any]], questions: list[dict[str, Any]], names: dict[str, str]) -> None:
        self.batches.append(bodies)
        self.worked.update(question["custom_id"].partition("-")[0] for question in questions)
        self._names.append(names)
        self._created.append(datetime.now(UTC))

    def _is_over(self, name: str) -> bool:
        self._polls[name] += 1
        return self._polls[name] > self.polls

    def _refused(self) -> bool:
        self.refuse_batches -= 1
        return self.refuse_batches >= 0


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])


async def _file_of(request: web.Request) -> bytes:
    """Reads an uploaded file part by part: `Request.post` would leave a temporary file to the garbage collector."""
    async for part in await request.multipart():
        if isinstance(part, BodyPartReader) and part.name == "file":
            return bytes(await part.read())
    return b""
