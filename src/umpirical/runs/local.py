"""The local executor: one process, one event loop, as many calls in flight as asked for."""

import asyncio
from collections.abc import Generator, Iterator, Sequence

from umpirical.domain.errors import StoreError
from umpirical.domain.judgments import Failed, Outcome
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.factory import Calling
from umpirical.judges.judge import Judge, Request, prompt_id
from umpirical.models.money import FREE, CapReached, Ledger, Meter
from umpirical.runs.call import CallSpec
from umpirical.runs.design import shown
from umpirical.runs.executor import Receipt, RunStopped, Watcher
from umpirical.runs.recorder import OpenShard, Recorder
from umpirical.store.journal import Journal
from umpirical.store.reuse import reused_answers
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
        recorder = Recorder(store)
        # Failures settle later than answers, so a sound run may end with all its failures in a row: as many as fly.
        asking = _Asking(judge, recorder, watcher, workers=workers, give_up_after=self._give_up_after + 2 * workers)
        questions = _questions(shards, call, store, recorder, watcher)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(asking.work(questions))
        except BaseExceptionGroup as several:
            # Every task fails for the same reason; the person needs it once.
            raise several.exceptions[0] from None
        finally:
            questions.close()
            # Also on Ctrl-C: what was answered is paid for, and is kept.
            receipts = recorder.close()
            await judge.close()
        if asking.cap_reached is not None:
            raise asking.cap_reached
        return receipts


_Question = tuple[OpenShard, Trial, Stimulus]


def _questions(
    shards: Sequence[int], call: CallSpec, store: RunStore, recorder: Recorder, watcher: Watcher
) -> Generator[_Question, None, None]:
    """Every trial that has no answer, in the order of the plan. All workers draw from this one generator."""
    stimuli, journal = call.open_stimuli(), store.open_journal()
    try:
        for number in shards:
            shard, pending = _open_shard(number, store, journal, watcher)
            if shard is None:
                continue
            if not pending:
                recorder.record(shard, None)
            for trial, part in pending:
                yield shard, trial, stimuli.part(part)[trial.stimulus_id]
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
    if generation == 0 and (reused := reused_answers(store, number)):
        # Into the journal, where they are sealed with the rest; what is there already stays as it is.
        journal.commit((number, 0, response) for response in reused)
    answers = store.responses(number, journal)
    answered = {trial_id for trial_id, response in answers.items() if response.failure is None}
    # One question may stand for several stimuli; it is asked once.
    pending = list({trial.id: (trial, part) for trial, part in reversed(plan) if trial.id not in answered}.values())
    pending.reverse()
    watcher.resumed(len(plan) - len(pending))
    return OpenShard(number, generation, len(pending)), pending


class _Asking:
    """What the workers share."""

    def __init__(self, judge: Judge, recorder: Recorder, watcher: Watcher, *, workers: int, give_up_after: int) -> None:
        self._judge, self._recorder, self._watcher, self._workers = judge, recorder, watcher, workers
        self._give_up_after = give_up_after
        self._failed_in_a_row = 0
        self._checked: set[int] = set()
        self.cap_reached: CapReached | None = None

    async def work(self, questions: Iterator[_Question]) -> None:
        """Asks until there is nothing left, or no money.

        At the cap nobody is cancelled: an answer that has just come in is paid for, and has still to be recorded.
        """
        try:
            await self._work(questions)
        except CapReached as error:
            self.cap_reached = error

    async def _work(self, questions: Iterator[_Question]) -> None:
        for shard, trial, stimulus in questions:
            way = trial.presentation
            request = self._judge.request(shown(stimulus, way.order, self._judge.kind), arm=way.arm, seed=way.seed)
            self._check_plan(shard, trial, request)
            response = await self._judge.ask(request, trial_id=trial.id)
            self._recorder.record(shard, response)
            outcome = self._judge.read(response)
            self._watcher.settled(outcome, response)
            await self._recorder.keep_up(self._workers)
            self._give_up_if_hopeless(outcome)

    def _check_plan(self, shard: OpenShard, trial: Trial, request: Request) -> None:
        """What is sent is what was planned: checked once a shard, since all that decides it is in the run's id."""
        if shard.number in self._checked:
            return
        self._checked.add(shard.number)
        if prompt_id(request) != trial.prompt_id:
            raise StoreError("the judge or its stimuli have changed since the run was planned", fix="run it anew")

    def _give_up_if_hopeless(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Failed):
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._give_up_after:
            count = self._failed_in_a_row
            message = f"{count} calls in a row failed, the last with {outcome.kind}: {outcome.detail}"
            raise RunStopped(message, fix="see that the judge answers, then run the same command again")
