"""The recorder: the only thread that writes responses, so that asking never waits for the disk."""

import asyncio
import queue
import threading
from dataclasses import dataclass

from umpirical.domain.responses import Response
from umpirical.store.runs import Receipt, RunStore

BATCH = 1000
"""Most responses per commit."""

GATHERING = 0.01
"""Seconds that a response may wait for others to be committed with it. Alone, it takes half the CPU of a call."""


@dataclass(slots=True)
class OpenShard:
    """A shard that is being asked."""

    number: int
    generation: int
    waiting: int
    """Number of trials whose response is not committed yet."""


class Recorder:
    """Commits responses in batches and seals a shard when its last response has arrived. For one event loop."""

    def __init__(self, store: RunStore, most: int) -> None:
        """At most `most` responses are accepted but not durable: a killed process loses those."""
        self._store = store
        self._most = most
        # Opened here, before the thread: two connections that open a new journal at once lock each other out.
        self._journal = store.open_journal()
        self._inbox: queue.SimpleQueue[tuple[OpenShard, Response | None] | None] = queue.SimpleQueue()
        self._due = threading.Event()
        self._receipts: list[Receipt] = []
        self._taken = self._committed = 0
        self._loop, self._saved = asyncio.get_running_loop(), asyncio.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="umpirical-recorder")
        self._thread.start()

    def record(self, shard: OpenShard, response: Response | None) -> None:
        """Takes a response, or None for a shard that only needs sealing. Raises the error of an earlier one."""
        if self._error is not None:
            raise self._error
        self._taken += 1
        self._inbox.put((shard, response))
        if 2 * (self._taken - self._committed) >= self._most and not self._due.is_set():
            self._due.set()

    async def keep_up(self) -> None:
        """Waits while too many responses are not durable."""
        while self._taken - self._committed > self._most and self._error is None:
            self._saved.clear()
            await self._saved.wait()

    def close(self) -> list[Receipt]:
        """Commits what is left and waits for it. Safe on every exit from a run."""
        self._inbox.put(None)
        self._due.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._receipts

    def _run(self) -> None:
        try:
            while batch := self._next_batch():
                self._commit(batch)
        except BaseException as error:  # noqa: BLE001  # a thread has nobody to raise to; record() and close() do
            self._error = error
        finally:
            self._journal.close()
            self._loop.call_soon_threadsafe(self._saved.set)

    def _commit(self, batch: list[tuple[OpenShard, Response | None]]) -> None:
        self._journal.commit((shard.number, shard.generation, r) for shard, r in batch if r is not None)
        self._committed += len(batch)
        self._loop.call_soon_threadsafe(self._saved.set)
        for shard, response in batch:
            shard.waiting -= response is not None
        for shard in {shard.number: shard for shard, _ in batch}.values():
            if shard.waiting == 0:
                self._seal(shard)
                self._journal.forget(shard.number, shard.generation)

    def _next_batch(self) -> list[tuple[OpenShard, Response | None]]:
        """Waits for the first response, and returns it with those that arrive soon after it. Empty when closed.

        It does not wait for more than half of what may be lost, so asking goes on meanwhile.
        """
        entry, batch = self._inbox.get(), []
        if entry is not None:
            self._due.wait(GATHERING)
            self._due.clear()
        while entry is not None:
            batch.append(entry)
            if len(batch) == BATCH or self._inbox.empty():
                return batch
            entry = self._inbox.get()
        if batch:
            # Put back, so that the next call sees the end.
            self._inbox.put(None)
        return batch

    def _seal(self, shard: OpenShard) -> None:
        # The rows are forgotten only after they have been read back from the sealed file.
        rows = self._journal.rows(shard.number, shard.generation)
        self._receipts.append(self._store.seal_rows(shard.number, shard.generation, rows))
