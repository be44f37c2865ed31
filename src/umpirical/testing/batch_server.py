"""A server on loopback that speaks the batch protocols of OpenAI and of Anthropic."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from umpirical.testing.anthropic_server import message
from umpirical.testing.chat_server import Answer, completion

__all__ = ["BatchServer"]


@dataclass
class BatchServer:
    """Runs in the caller's event loop, as an asynchronous context manager. A batch is ready soon after creation."""

    answer: Answer
    refuse_batches: int = 0
    """How many attempts to create a batch fail, with status 503."""
    unanswered: Callable[[dict[str, Any]], bool] = lambda _body: False
    """Which questions of a batch end in an error."""
    batches: list[list[dict[str, Any]]] = field(default_factory=list)
    """The questions of every batch, as request bodies."""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by method and route."""
    origin: str = ""

    async def __aenter__(self) -> Self:
        self._uploads: list[str] = []
        self._results: list[str] = []
        self._polls: Counter[str] = Counter()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        for method, path, handler in (
            ("POST", "/v1/files", self._upload),
            ("GET", "/v1/files/{id}/content", self._download),
            ("POST", "/v1/batches", self._create),
            ("GET", "/v1/batches/{id}", self._retrieve),
            ("POST", "/v1/messages/batches", self._create_messages),
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

    def _counted(self, name: str, handler: "Callable[[web.Request], web.Response | None]") -> Any:  # noqa: ANN401
        async def counted(request: web.Request) -> web.Response:
            self.asked[name] += 1
            multipart = request.content_type == "multipart/form-data"
            self._form = await request.post() if multipart else {}
            self._body = b"" if multipart else await request.read()
            return handler(request) or web.json_response({"error": {"message": "busy"}}, status=503)

        return counted

    # OpenAI: a file of questions, a batch made from it, a file of answers.

    def _upload(self, _request: web.Request) -> web.Response:
        uploaded: Any = self._form["file"]
        self._uploads.append(uploaded.file.read().decode())
        name = f"file-{len(self._uploads) - 1}"
        return web.json_response(
            {"id": name, "object": "file", "bytes": 1, "created_at": 1, "filename": "b.jsonl", "purpose": "batch"}
        )

    def _create(self, _request: web.Request) -> web.Response | None:
        if self._refused():
            return None
        source = json.loads(self._body)["input_file_id"]
        questions = [json.loads(line) for line in self._uploads[int(source.removeprefix("file-"))].splitlines()]
        self.batches.append([question["body"] for question in questions])
        self._results.append("\n".join(json.dumps(self._line(question)) for question in questions))
        return web.json_response(self._batch(len(self._results) - 1, "validating"))

    def _line(self, question: dict[str, Any]) -> dict[str, Any]:
        if self.unanswered(question["body"]):
            body = {
                "error": {"message": "it is too long", "type": "invalid_request_error", "param": None, "code": None}
            }
            return {"custom_id": question["custom_id"], "response": {"status_code": 400, "body": body}, "error": None}
        body = completion(question["body"], self.answer(question["body"])) | {"created": 1}
        return {"custom_id": question["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}

    def _retrieve(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        self._polls[name] += 1
        return web.json_response(self._batch(_number(name), "completed" if self._polls[name] > 1 else "in_progress"))

    def _batch(self, number: int, status: str) -> dict[str, Any]:
        done = status == "completed"
        count = len(self.batches[number])
        return {
            "id": f"batch-{number}",
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file-0",
            "completion_window": "24h",
            "status": status,
            "created_at": 1,
            "output_file_id": f"results-{number}" if done else None,
            "request_counts": {"total": count, "completed": count if done else 0, "failed": 0},
        }

    def _download(self, request: web.Request) -> web.Response:
        return web.Response(text=self._results[_number(request.match_info["id"])], content_type="application/x-jsonl")

    # Anthropic: a batch of questions, and its results.

    def _create_messages(self, _request: web.Request) -> web.Response | None:
        if self._refused():
            return None
        questions = json.loads(self._body)["requests"]
        self.batches.append([question["params"] for question in questions])
        lines = []
        for question in questions:
            params = question["params"]
            result: dict[str, Any] = {"type": "succeeded", "message": message(params, str(self.answer(params)))}
            if self.unanswered(params):
                result = {"type": "expired"}
            lines.append(json.dumps({"custom_id": question["custom_id"], "result": result}))
        self._results.append("\n".join(lines))
        return web.json_response(self._message_batch(len(self._results) - 1, "in_progress"))

    def _retrieve_messages(self, request: web.Request) -> web.Response:
        return web.json_response(self._message_batch(_number(request.match_info["id"]), "ended"))

    def _message_batch(self, number: int, status: str) -> dict[str, Any]:
        count = len(self.batches[number])
        return {
            "id": f"batch-{number}",
            "type": "message_batch",
            "processing_status": status,
            "request_counts": {"processing": 0, "succeeded": count, "errored": 0, "canceled": 0, "expired": 0},
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.origin}/v1/messages/batches/batch-{number}/results" if status == "ended" else None,
        }

    def _refused(self) -> bool:
        self.refuse_batches -= 1
        return self.refuse_batches >= 0


def _number(name: str) -> int:
    return int(name.rpartition("-")[2])
