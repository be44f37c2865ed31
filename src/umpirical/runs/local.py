"""The local executor: one process, one event loop, as many calls in flight as asked for."""

import asyncio
from collections.abc import Sequence

from umpirical.domain.errors import StoreError
from umpirical.domain.judgments import Failed, Outcome
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.building import Calling
from umpirical.judges.port import Judge, prompt_id
from umpirical.models.spending import FREE, Ledger, Meter
from umpirical.runs.call_spec import CallSpec
from umpirical.runs.design import shown
from umpirical.runs.executor import Receipt, RunStopped, Watcher
from umpirical.runs.recorder import OpenShard, Recorder
from umpirical.store.journal import Journal
from umpirical.store.runs import RunStore

__all__ = ["LocalExecutor"]


class LocalExecutor:
    """Asks in this process. Killed at any moment, it has lost at most the calls in flight and the commit under way."""

    def __init__(self, *, concurrency: int = 16, meter: Meter | None = None, give_up_after: int = 50) -> None:
        """`give_up_after` failures in a row stop the run: a server that is down is not asked ten thousand times."""
        self._concurrency = concurrency
        self._meter = meter or Meter(FREE, Ledger())
        self._give_up_after = give_up_after

    def run(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]:
        with store.locked():
            return asyncio.run(self._run(shards, call, store, watcher))

    async def _run(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]:
        judge = call.open_judge(Calling(self._concurrency, self._meter))
        workers = 1 if judge.capabilities.stateful else self._concurrency
        to_ask: _Questions = asyncio.Queue(maxsize=2 * workers)
        recorder = Recorder(store)
        # Failures settle later than answers, so a sound run may end with all its failures in a row: as many as fly.
        asking = _Asking(judge, recorder, watcher, self._give_up_after + 2 * workers)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(asking.work(to_ask))
                await _feed(shards, call, store, recorder, watcher, to_ask)
                for _ in range(workers):
                    await to_ask.put(None)
        except BaseExceptionGroup as several:
            # Every task fails for the same reason; the person needs it once.
            raise several.exceptions[0] from None
        finally:
            # Also on Ctrl-C: what was answered is paid for, and is kept.
            receipts = recorder.close()
            await judge.close()
        return receipts


_Questions = asyncio.Queue[tuple[OpenShard, Trial, Stimulus] | None]
"""What is to be asked next; None ends a worker."""


async def _feed(  # noqa: PLR0913, PLR0917  # the parts of a run, each once
    shards: Sequence[int], call: CallSpec, store: RunStore, recorder: Recorder, watcher: Watcher, to_ask: _Questions
) -> None:
    """Puts every trial that has no answer on the queue, in the order of the plan."""
    stimuli, journal = call.open_stimuli(), store.open_journal()
    try:
        for number in shards:
            shard, pending = _open_shard(number, store, journal, watcher)
            if shard is not None and not pending:
                recorder.record(shard, None)
            for trial, part in pending:
                assert shard is not None  # noqa: S101  # there is something to ask
                await to_ask.put((shard, trial, stimuli.part(part)[trial.stimulus_id]))
    finally:
        journal.close()


def _open_shard(
    number: int, store: RunStore, journal: Journal, watcher: Watcher
) -> tuple[OpenShard | None, list[tuple[Trial, int]]]:
    """A shard and what is left to ask of it; (None, []) if it is complete."""
    plan = list(store.plan_shard(number))
    generation, failed = store.state(number)
    if generation and not failed:
        watcher.resumed(len(plan))
        return None, []
    answers = store.responses(number, journal)
    answered = {trial_id for trial_id, response in answers.items() if response.failure is None}
    pending = [(trial, part) for trial, part in plan if trial.id not in answered]
    watcher.resumed(len(plan) - len(pending))
    return OpenShard(number, generation, len(pending)), pending


class _Asking:
    """What the workers share."""

    def __init__(self, judge: Judge, recorder: Recorder, watcher: Watcher, give_up_after: int) -> None:
        self._judge, self._recorder, self._watcher = judge, recorder, watcher
        self._give_up_after = give_up_after
        self._failed_in_a_row = 0

    async def work(self, to_ask: _Questions) -> None:
        while (question := await to_ask.get()) is not None:
            shard, trial, stimulus = question
            request = self._judge.request(shown(stimulus, trial.presentation.order), arm=trial.presentation.arm)
            if prompt_id(request) != trial.prompt_id:
                raise StoreError("the judge or its stimuli have changed since the run was planned", fix="run it anew")
            response = await self._judge.ask(request, trial_id=trial.id)
            self._recorder.record(shard, response)
            outcome = self._judge.read(response)
            self._watcher.settled(outcome)
            self._give_up_if_hopeless(outcome)

    def _give_up_if_hopeless(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Failed):
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._give_up_after:
            count = self._failed_in_a_row
            message = f"{count} calls in a row failed, the last with {outcome.kind}: {outcome.detail}"
            raise RunStopped(message, fix="see that the judge answers, then run the same command again")
