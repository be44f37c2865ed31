"""Asking: every trial of some shards that has no answer yet, on this process's event loop."""

import asyncio
import queue
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from umpirical.domain.errors import StoreError
from umpirical.domain.judgments import Failed
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.judge import Judge, Request, prompt_id
from umpirical.models.spec import Calling
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Told, Watcher
from umpirical.runs.plan import request_for
from umpirical.runs.workers import Workers
from umpirical.store.journal import Journal
from umpirical.store.reuse import reused_answers
from umpirical.store.runs import Receipt, RunStore
from umpirical.store.snapshots import RunSnapshot

GIVE_UP_AFTER = 50
"""Failures in a row after which a judge is given up, as in `Workers`."""

CHANGED = "the judge or its test cases have changed since the run was planned"

REQUESTS_KEPT = 64
"""Rendered requests that are kept for the repeats of the same question, which the plan has close to each other."""


# The recorder: the only thread that writes responses, so that asking never waits for the disk.


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


# Asking.


async def ask_shards(
    shards: Iterable[int],
    call: CallSpec,
    store: RunStore,
    watcher: Watcher,
    *,
    calling: Calling,
    give_up_after: int = GIVE_UP_AFTER,
) -> list[Receipt]:
    """Asks and seals shards, and returns their receipts. A shard is taken from the source when its turn comes."""
    if isinstance(watcher, Told):
        calling.outages.tell = watcher.told
    judge = call.open_judge(calling)
    workers = Workers(
        1 if judge.capabilities.stateful else calling.concurrency,
        give_up_after=give_up_after,
        fix="check that the judge answers, then run the same command again",
    )
    recorder = Recorder(store, workers.count)
    questions = _questions(shards, call, store, recorder, watcher)
    receipts: list[Receipt] = []
    try:
        await workers.work_through(questions, _Asking(judge, recorder, watcher, workers).ask)
    finally:
        questions.close()
        try:
            # Also on Ctrl-C: answers are paid for, so they are kept.
            receipts = recorder.close()
        finally:
            await judge.close()
    return receipts


_Question = tuple[OpenShard, Trial, Stimulus]


def _questions(
    shards: Iterable[int], call: CallSpec, store: RunStore, recorder: Recorder, watcher: Watcher
) -> Generator[_Question, None, None]:
    """Yields every trial without an answer, in the order of the plan. All workers draw from this one generator."""
    stimuli, journal = call.stimulus_set, store.open_journal()
    try:
        for number in shards:
            shard, pending = open_shard(number, RunSnapshot(store, journal), journal, watcher)
            if shard is None:
                continue
            if not pending:
                recorder.record(shard, None)
            for trial, part in pending:
                yield shard, trial, stimuli.part(part)[trial.stimulus_id]
    finally:
        journal.close()


def open_shard(
    number: int, before: RunSnapshot, journal: Journal, watcher: Watcher
) -> tuple[OpenShard | None, list[tuple[Trial, int]]]:
    """Returns a shard and what is left to ask in it, in the order of the plan; (None, []) if it is complete."""
    store = before.store
    plan, elsewhere = list(store.plan_shard(number)), store.asked_elsewhere(number)
    # Several stimuli may share one question; it is asked once, in the first shard that has it.
    asked = {trial.id: (trial, part) for trial, part in reversed(plan) if trial.id not in elsewhere}
    generation = before.next_generation(number)
    if generation and sum(receipt.answered for receipt in before.receipts(number)) == len(asked):
        watcher.resumed(len(plan))
        return None, []
    answered = {trial_id for trial_id, response in before.responses(number).items() if response.failure is None}
    if generation == 0 and (reused := [a for a in reused_answers(store, number) if a.trial_id in asked]):
        # They go into the journal, where they are sealed with the rest; existing entries stay as they are.
        journal.commit((number, 0, response) for response in reused)
        answered.update(response.trial_id for response in reused)
    pending = [entry for trial_id, entry in reversed(asked.items()) if trial_id not in answered]
    watcher.resumed(len(plan) - len(pending))
    if generation and not pending:
        return None, []
    return OpenShard(number, generation, len(pending)), pending


class _Asking:
    """The state that the workers share."""

    def __init__(self, judge: Judge, recorder: Recorder, watcher: Watcher, workers: Workers) -> None:
        self._judge, self._recorder, self._watcher, self._workers = judge, recorder, watcher, workers
        self._checked: set[int] = set()
        self._requests: dict[str, Request] = {}

    async def ask(self, question: _Question) -> None:
        shard, trial, stimulus = question
        request = self._request(trial, stimulus)
        self._check_plan(shard, trial, request)
        response = await self._judge.ask(request, trial_id=trial.id)
        self._recorder.record(shard, response)
        outcome = self._judge.read(response, trial.presentation)
        self._watcher.settled(outcome, response)
        await self._recorder.keep_up()
        self._workers.settled(f"{outcome.kind}: {outcome.detail}" if isinstance(outcome, Failed) else None)

    def _request(self, trial: Trial, stimulus: Stimulus) -> Request:
        """Returns what is sent for a trial. Repeats of one question have one prompt id, and are rendered once."""
        if (known := self._requests.get(trial.prompt_id)) is not None:
            return known
        if len(self._requests) == REQUESTS_KEPT:
            del self._requests[next(iter(self._requests))]
        made = self._requests[trial.prompt_id] = request_for(self._judge, stimulus, trial.presentation)
        return made

    def _check_plan(self, shard: OpenShard, trial: Trial, request: Request) -> None:
        """Checks that what is sent is what was planned; once per shard, since the run's id covers what decides it."""
        if shard.number in self._checked:
            return
        self._checked.add(shard.number)
        if prompt_id(request) != trial.prompt_id:
            raise StoreError(CHANGED, fix="start a fresh run")
