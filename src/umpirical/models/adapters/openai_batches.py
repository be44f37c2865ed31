"""Batches of OpenAI's protocol: a file of questions, a batch made from it, files of answers and of errors."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any

from umpirical.models.adapters.exchanges import encoded, status_failure
from umpirical.models.adapters.protocols import ListedBatches
from umpirical.models.batches import BatchResult, BatchState, checked_id
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.requests import ChatRequest

MOST_ENTRIES = 50_000
MOST_BYTES = 200_000_000
"""By OpenAI's reference of `POST /v1/batches`: "up to 50,000 requests, and can be up to 200 MB in size"."""

LABEL = "umpirical"
"""The key of our name in the metadata of a batch."""

OVER = frozenset({"completed", "failed", "expired", "cancelled"})


class OpenAIBatches(ListedBatches):
    """Batches of chat completions, on a server of OpenAI's protocol."""

    most_entries = MOST_ENTRIES
    most_bytes = MOST_BYTES
    place = "/batches"
    cursor = "after"

    def entry(self, request: ChatRequest, custom_id: str) -> bytes:
        body = self.protocol.body(request)
        return encoded({"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body})

    async def upload(self, name: str, file: IO[bytes]) -> str:
        said = await self.exchanges.upload("/files", {"purpose": "batch"}, file, f"{LABEL}-{name}.jsonl")
        return checked_id(said.get("id"))

    async def create(self, name: str, file: IO[bytes], uploaded: str) -> str:  # noqa: ARG002  # it was uploaded
        made = await self.exchanges.post(
            "/batches",
            {
                "input_file_id": uploaded,
                "endpoint": "/v1/chat/completions",
                "completion_window": "24h",
                "metadata": {LABEL: name},
            },
        )
        return checked_id(made.get("id"))

    async def find(self, name: str, *, since: datetime, entries: int) -> str | None:  # noqa: ARG002  # it has a name
        async for batch in self.listed(since):
            metadata = batch.get("metadata")
            if isinstance(metadata, dict) and metadata.get(LABEL) == name:
                return checked_id(batch.get("id"))
        return None

    def made_at(self, batch: Mapping[str, Any]) -> datetime | None:
        created = batch.get("created_at")
        return datetime.fromtimestamp(created, UTC) if type(created) is int and 0 < created < 2**37 else None

    async def state(self, batch: str) -> BatchState:
        said = await self.exchanges.get(f"/batches/{batch}")
        status = said.get("status")
        if said.get("id") != batch or not isinstance(status, str):
            raise CallFailed("malformed", "the state of another batch, or of none")
        counts = said.get("request_counts")
        total, done, failed = (_count(counts, key) for key in ("total", "completed", "failed"))
        files = [said.get(key) for key in ("output_file_id", "error_file_id")]
        results = tuple(f"/files/{checked_id(file)}/content" for file in files if file)
        why = _errors(said.get("errors"))
        return BatchState(
            status in OVER,
            f"{status}: {why}" if why else status,
            total,
            done + failed,
            results,
            # "The input file has failed the validation process."
            unworked=status == "failed" and not results and not done,
        )

    async def results(
        self,
        batch: str,  # noqa: ARG002  # they are in files
        state: BatchState,
        *,
        most: int,
        entries: int,
    ) -> AsyncIterator[BatchResult]:
        for path in state.results:
            async for result in self.results_at(path, most=most, entries=entries):
                yield result

    def read_line(self, said: Mapping[str, Any]) -> Reply:
        response, error = said.get("response"), said.get("error")
        if not isinstance(response, dict):
            expired = isinstance(error, dict) and error.get("code") == "batch_expired"
            raise CallFailed("timeout" if expired else "server-error", f"an entry without a response: {error}")
        status, body = response.get("status_code"), response.get("body")
        if error:
            raise CallFailed("malformed", f"an entry with a response and an error: {error}")
        if type(status) is not int or not isinstance(body, dict):
            raise CallFailed("malformed", "the response of an entry has no status and body")
        if status != 200:
            raise status_failure(status, json.dumps(body).encode(), {})
        return self.protocol.read(body)


def _count(counts: object, key: str) -> int:
    found = counts.get(key) if isinstance(counts, dict) else None
    return found if type(found) is int and found >= 0 else 0


def _errors(errors: object) -> str:
    data = errors.get("data") if isinstance(errors, dict) else None
    said = [str(error.get("message")) for error in data if isinstance(error, dict)] if isinstance(data, list) else []
    return "; ".join(said[:3])
