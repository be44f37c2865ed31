"""Batches of Anthropic's protocol: questions that are sent with the batch, and one list of results.

A batch has no name or label there. So one whose id was never heard is recognized by its entries, which are seen in its
results alone: until every batch of that time and size has ended, nobody can tell.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import IO, Any

from umpirical.models.adapters.exchanges import Exchanges, encoded
from umpirical.models.adapters.protocols import ChatProtocol, ListedBatches
from umpirical.models.batches import BatchResult, BatchState, Undecided, checked_id, trial_of
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.recording import LARGEST
from umpirical.models.requests import ChatRequest

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
            raise CallFailed("malformed", "a batch without the time of its creation")
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
            raise CallFailed("malformed", "the state of another batch, or of none")
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
        raise CallFailed("malformed", f"an entry that is neither answered nor failed: {kind}")


def _state(batch: Mapping[str, Any]) -> BatchState:
    status, counts = batch.get("processing_status"), batch.get("request_counts")
    if not isinstance(status, str):
        raise CallFailed("malformed", "a batch without a status")
    waiting = counts.get("processing") if isinstance(counts, dict) else None
    total = _total(batch)
    return BatchState(status == "ended", status, total, total - waiting if type(waiting) is int else 0)


def _total(batch: Mapping[str, Any]) -> int:
    counts = batch.get("request_counts")
    found = [counts.get(key) for key in COUNTED] if isinstance(counts, dict) else []
    return sum(count for count in found if type(count) is int)
