"""The batch executor: questions go to the provider in files, at its price for batches, and answers come within a day.

    record    what a batch will ask, durable in the run's folder before anything is sent
    hold      its worst case, in the study's budget
    submit    by a name of ours: if this process dies before it hears the provider's id, the next one finds the batch
    poll      until the provider is through with it
    settle    results are read as replies of single calls are: responses into the journal, the bill, then the record
    seal      shards of which everything has come back

Killed at any moment, the same command goes on from the last of these. A trial is asked once by a command: what failed
is left to a later one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import chain
from tempfile import TemporaryFile
from typing import IO, TypeVar

from umpirical.domain.bills import Bill
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.responses import FailureKind
from umpirical.domain.trials import Trial
from umpirical.judges.judge import Judge, prompt_id
from umpirical.judges.spec import JudgeSpec
from umpirical.models.batches import BatchForm, BatchState, Settlement, Undecided, custom_id, trial_of
from umpirical.models.caller import CallFailed, Reply
from umpirical.models.money import BatchMoney, CapReached, Pricer
from umpirical.models.prices import batch_pricer
from umpirical.models.recording import Recording, largest_body
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ADAPTERS, Calling, secrets_of
from umpirical.runs.asking import CHANGED, open_shard
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Told, Watcher
from umpirical.runs.loop import run_on_loop
from umpirical.runs.plan import request_for
from umpirical.runs.workers import RunStopped
from umpirical.store.batches import BatchRecord, BatchRecords
from umpirical.store.journal import Journal
from umpirical.store.runs import Receipt, RunStore
from umpirical.store.snapshots import RunSnapshot

T = TypeVar("T")

NO_SUCH_ADDRESS = ("HTTP 404", "HTTP 405")
"""How the refusal of a server without batches begins."""

GO_ON = "the batches continue at the provider; run the same command again to collect their results"


@dataclass(frozen=True, slots=True)
class Polling:
    """How often a provider is asked how far it is, in seconds. Each wait is longer than the one before."""

    first: float = 10.0
    growth: float = 1.5
    longest: float = 300.0
    patience: int = 10
    """Failures in a row after which the provider is left alone: the next command takes up its results."""


class BatchExecutor:
    """Asks through a provider's batches. If killed, it loses nothing, and nothing is submitted twice."""

    in_batches = True

    @staticmethod
    def check(judge: JudgeSpec) -> None:
        """Raises UsageError for a judge that is no model with batches, or whose answers depend on their order."""
        why = ""
        if judge.model is None:
            why = "only a language model can be called in batches"
        elif ADAPTERS.get(judge.model.adapter).batches(judge.model) is None:
            why = f"the adapter {judge.model.adapter} does not support batches (openai-compatible and anthropic do)"
        elif judge.capabilities.stateful:
            why = "it is stateful, and the entries of a batch have no order"
        if why:
            raise UsageError(f"judge {judge.name}: {why}", fix="use --executor local")

    @staticmethod
    def price(single: Pricer) -> Pricer:
        return batch_pricer(single)

    def __init__(self, calling: Calling, *, polling: Polling | None = None, most_entries: int | None = None) -> None:
        """`most_entries` makes batches smaller than the provider's limit."""
        self._calling, self._polling, self._most = calling, polling or Polling(), most_entries

    def run(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]:
        self.check(call.judge)
        with store.locked():
            store.tidy()
            return run_on_loop(self._ask(shards, call, store, watcher))

    async def _ask(self, shards: Sequence[int], call: CallSpec, store: RunStore, watcher: Watcher) -> list[Receipt]:
        assert call.judge.model is not None  # noqa: S101  # checked
        form = ADAPTERS.get(call.judge.model.adapter).batches(call.judge.model)
        assert form is not None  # noqa: S101  # likewise
        judge, journal = call.open_judge(), store.open_journal()
        asking = _Asking(self._calling, self._polling, call, store, watcher, form, judge, journal)
        asking.most = min(form.most_entries, self._most or form.most_entries)
        try:
            return await asking.ask(shards)
        except asyncio.CancelledError:
            if asking.flying:
                asking.tell(GO_ON)
            raise
        finally:
            journal.close()
            await form.close()
            await judge.close()


Question = tuple[Trial, ChatRequest, tuple[int, int]]
"""A trial, what is sent for it, and its shard and generation."""


class _Draft:
    """A batch that is being written."""

    def __init__(self, form: BatchForm, file: IO[bytes], name: str) -> None:
        self._form, self.file, self._name = form, file, name
        self.entries: dict[str, tuple[int, int]] = {}
        self.worst: list[Decimal] = []
        self._ends: list[int] = []
        file.write(form.head)

    def add(self, question: Question, worst: Decimal) -> bool:
        """Adds a question; returns False if it does not fit any more."""
        trial, request, place = question
        try:
            entry = self._form.entry(request, custom_id(trial.id, self._name))
        except CallFailed as failed:
            raise UsageError(f"trial {trial.id} cannot be sent: {failed.detail}", fix="change the judge") from None
        whole = self._form.between * bool(self._ends) + entry
        if self._ends and self.file.tell() + len(whole) + len(self._form.tail) > self._form.most_bytes:
            return False
        self.file.write(whole)
        self._ends.append(self.file.tell())
        self.entries[trial.id] = place
        self.worst.append(worst)
        return True

    def cut(self, room: Decimal) -> None:
        """Drops the last entries until the worst case of the rest fits."""
        total = sum(self.worst, Decimal(0))
        while self.worst and total > room:
            total -= self.worst.pop()
            self._ends.pop()
            self.entries.popitem()
        self.file.seek(self._ends[-1] if self._ends else len(self._form.head))
        self.file.truncate()

    def finish(self) -> None:
        self.file.write(self._form.tail)
        self.file.flush()


@dataclass
class _Asking:
    """One command that asks one run in batches."""

    calling: Calling
    polling: Polling
    call: CallSpec
    store: RunStore
    watcher: Watcher
    form: BatchForm
    judge: Judge
    journal: Journal
    most: int = 1
    flying: dict[str, BatchRecord] = field(default_factory=dict)
    """The batches that are not settled, by name."""
    receipts: list[Receipt] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._records = BatchRecords(self.store.folder)
        self._records.tidy()
        self._pricer = self.calling.meter.pricer
        assert self.call.judge.model is not None  # noqa: S101  # it has batches
        self._recording = Recording((*self.form.secrets, *secrets_of(self.call.judge.model)))
        self._moneys: dict[str, BatchMoney] = {}
        self._said = ""
        self._stopped: Exception | None = None

    async def ask(self, shards: Sequence[int]) -> list[Receipt]:
        self.flying = {record.name: record for record in self._records.in_flight()}
        self._seal()
        pending = self._pending(shards)
        if self.flying or pending:
            await self._reach()
        await self._take_up()
        await self._submit_all(pending)
        await self._wait()
        if self._stopped is not None:
            raise self._stopped
        return self.receipts

    def tell(self, sentence: str) -> None:
        if isinstance(self.watcher, Told) and sentence != self._said:
            self._said = sentence
            self.watcher.told(sentence)

    # What is left to ask

    def _pending(self, shards: Sequence[int]) -> list[tuple[int, int, list[str]]]:
        """Returns shard, generation and trials that nobody asks yet. The watcher is told about all the others."""
        before = RunSnapshot(self.store, self.journal)
        flying = {trial_id for record in self.flying.values() for trial_id in record.entries}
        found = []
        for number in shards:
            shard, pending = open_shard(number, before, self.journal, self.watcher)
            if shard is None:
                continue
            left = [trial.id for trial, _ in pending if trial.id not in flying]
            if left:
                found.append((number, shard.generation, left))
            elif not pending:
                self._seal_shard(number, shard.generation)
        return found

    def _questions(self, shard: int, generation: int, trials: Sequence[str]) -> Iterator[Question]:
        """Renders trials of a shard, in the order of the plan."""
        wanted, checked = set(trials), False
        for trial, part in self.store.plan_shard(shard):
            if trial.id not in wanted:
                continue
            wanted.remove(trial.id)
            stimulus = self.call.stimulus_set.part(part)[trial.stimulus_id]
            request = request_for(self.judge, stimulus, trial.presentation)
            assert isinstance(request, ChatRequest)  # noqa: S101  # it is asked of a model
            if not checked and prompt_id(request) != trial.prompt_id:
                raise StoreError(CHANGED, fix="start a fresh run")
            checked = True
            yield trial, request, (shard, generation)

    def _entries(self, record: BatchRecord) -> Iterator[Question]:
        """Renders the entries of a batch again, in the same order."""
        for shard, generation in record.shards.items():
            trials = [trial_id for trial_id, place in record.entries.items() if place[0] == shard]
            yield from self._questions(shard, generation, trials)

    # Submitting

    async def _reach(self) -> None:
        """Raises unless the provider has batches."""
        try:
            await self._patiently(self.form.check)
        except CallFailed as failed:
            if failed.detail.startswith(NO_SUCH_ADDRESS) and not self.flying:
                said = self._recording.detail(failed.detail)
                raise UsageError(
                    f"judge {self.judge.name}: the server does not accept batches: {said}", fix="use --executor local"
                ) from None
            raise self._unreachable(failed) from None

    async def _take_up(self) -> None:
        """Goes on with batches of which an earlier command did not hear the id."""
        for record in list(self.flying.values()):
            if record.id:
                continue
            try:
                found = await self._patiently(partial(self._find, record))
            except Undecided:
                # It is looked for again while the others are waited for.
                continue
            except CallFailed as failed:
                raise self._unreachable(failed) from None
            if found is None:
                await self._resubmit(record)

    async def _find(self, record: BatchRecord) -> str | None:
        found = await self.form.find(record.name, since=record.moment, entries=len(record.entries))
        if found is not None:
            self._keep(record, id=found)
        return found

    async def _resubmit(self, record: BatchRecord) -> None:
        """Submits a batch that a killed process had only recorded."""
        with TemporaryFile() as file:
            draft = _Draft(self.form, file, record.name)
            for question in self._entries(record):
                draft.add(question, self._pricer.worst(question[1]))
            worst, money = sum(draft.worst, Decimal(0)), self._money(record.name)
            if await money.hold(worst) < worst:
                self._stopped = money.reached(worst)
                self._drop(record)
                return
            draft.finish()
            await self._submit(record, draft)

    async def _submit_all(self, pending: Sequence[tuple[int, int, list[str]]]) -> None:
        """Composes batches out of all that is left, as long as the budget has room, and submits them."""
        questions = chain.from_iterable(self._questions(*part) for part in pending)
        waiting: Question | None = next(questions, None)
        while waiting is not None:
            record = BatchRecord.new({})
            with TemporaryFile() as file:
                draft = _Draft(self.form, file, record.name)
                while waiting is not None and len(draft.entries) < self.most:
                    if not draft.add(waiting, self._pricer.worst(waiting[1])):
                        break
                    waiting = next(questions, None)
                if not await self._hold(record, draft):
                    return
                try:
                    await self._submit(self.flying[record.name], draft)
                except RunStopped as stopped:
                    # What is at the provider already is waited for.
                    self._stopped = stopped
            if self._stopped is not None:
                return

    async def _hold(self, record: BatchRecord, draft: _Draft) -> bool:
        """Records a draft, and holds its worst case. Without room for all of it, as much as there is room for.

        Returns whether there is anything to submit. What does not fit stops the command once all else is settled.
        """
        money, first, whole = self._money(record.name), draft.worst[0], sum(draft.worst, Decimal(0))
        self._keep(BatchRecord(record.name, record.written_at, dict(draft.entries)))
        room = await money.hold(whole)
        if room < whole:
            draft.cut(room)
            self._stopped = money.reached(first)
            if not draft.entries:
                self._drop(self.flying[record.name])
                return False
            self._keep(BatchRecord(record.name, record.written_at, dict(draft.entries)))
            await money.hold(sum(draft.worst, Decimal(0)))
        draft.finish()
        return True

    async def _submit(self, record: BatchRecord, draft: _Draft) -> None:
        """Sends a batch whose record is durable and whose worst case is held."""
        try:
            if not record.uploaded:
                uploaded = await self._patiently(partial(self.form.upload, record.name, draft.file))
                record = self._keep(record, uploaded=uploaded)
        except CallFailed as failed:
            self._drop(record)
            raise self._unreachable(failed) from None
        try:
            await self._create(record, draft)
        except CallFailed as failed:
            if failed.turned_down:
                # There is nothing at the provider that works or is billed.
                self._drop(record)
            raise self._unreachable(failed) from None
        self.tell(f"batch {record.name} submitted: {len(record.entries):,} questions")

    async def _create(self, record: BatchRecord, draft: _Draft) -> None:
        """Creates a batch. If it is not known whether that was done, the provider is asked before it is tried again."""
        for turn in range(1, self.polling.patience + 1):
            try:
                self._keep(record, id=await self.form.create(record.name, draft.file, record.uploaded))
            except CallFailed as failed:
                if turn == self.polling.patience or (failed.turned_down and failed.kind == "rejected"):
                    raise
                await asyncio.sleep(self._pause(turn))
                if not failed.turned_down and await self._found_by_now(record):
                    return
            else:
                return

    async def _found_by_now(self, record: BatchRecord) -> bool:
        """Whether a batch is at the provider. Waits until that can be told."""
        turn = 1
        while True:
            try:
                return await self._patiently(partial(self._find, record)) is not None
            except Undecided:
                await asyncio.sleep(self._pause(turn))
                turn += 1

    # Waiting

    async def _wait(self) -> None:
        """Polls until every batch is settled. One that cannot be read does not keep the others."""
        turn, given_up = 1, dict[str, CallFailed]()
        while waiting := [record for name, record in self.flying.items() if name not in given_up]:
            done = total = 0
            for record in waiting:
                try:
                    state = await self._patiently(partial(self._look, record))
                except Undecided:
                    continue
                except CallFailed as failed:
                    given_up[record.name] = failed
                    continue
                done, total = done + state.done, total + len(record.entries)
            if still := len(self.flying) - len(given_up):
                batches = "1 batch is" if still == 1 else f"{still} batches are"
                self.tell(f"{batches} at the provider, {done:,} of {total:,} questions done. After Ctrl-C, {GO_ON}")
                await asyncio.sleep(self._pause(turn))
                turn += 1
        for name, why in given_up.items():
            raise self._unreachable(why, name)

    async def _look(self, record: BatchRecord) -> BatchState:
        if not record.id:
            if await self._find(record) is None:
                await self._resubmit(record)
            if record.name not in self.flying:
                return BatchState(over=True, said="not submitted")
            record = self.flying[record.name]
        state = await self.form.state(record.id)
        if state.over:
            await self._settle(record, state)
        return state

    def _pause(self, turn: int) -> float:
        return min(self.polling.longest, self.polling.first * self.polling.growth ** min(turn - 1, 100))

    # Settling

    async def _settle(self, record: BatchRecord, state: BatchState) -> None:
        """Records every result of a batch that is over. Done again from the start if it is interrupted."""
        found = await self._results(record, state)
        settlement = Settlement(self.form, self._pricer, record.written_at, self._recording)
        settled = []
        for trial, request, place in self._entries(record):
            response = settlement.response(request, trial.id, found.get(trial.id) or _missing(state))
            settled.append((place, trial.presentation, response))
        self.journal.commit((*place, response) for place, _, response in settled)
        self._money(record.name).settle(settlement.ledger.bill)
        self._records.write(record, settled=state.said[:200])
        del self.flying[record.name]
        for _, presentation, response in settled:
            self.watcher.settled(self.judge.read(response, presentation), response)
        self._seal()
        try:
            settlement.ledger.check()
        except CapReached as broken:
            self._stopped = broken

    async def _results(self, record: BatchRecord, state: BatchState) -> dict[str, Reply | CallFailed]:
        """Reads the results. What is not about a trial of this batch is nothing, and what comes twice is no answer."""
        found: dict[str, Reply | CallFailed] = {}
        strays = 0
        most = largest_body(self.call.judge.decoding)
        async for result in self.form.results(record.id, state, most=most, entries=len(record.entries)):
            trial_id = trial_of(result.custom_id, record.name)
            if trial_id is None or trial_id not in record.entries:
                strays += 1
            elif trial_id in found:
                found[trial_id] = CallFailed("malformed", "the batch has two results for this trial")
            else:
                found[trial_id] = result.found
        if strays:
            self.tell(f"batch {record.name} has {strays:,} results for unknown entries; they are ignored")
        return found

    def _seal(self) -> None:
        """Seals every shard in the journal that is neither in flight nor lacks a response."""
        flying = {shard for record in self.flying.values() for shard in record.shards}
        before = RunSnapshot(self.store, self.journal)
        for shard, generation in self.journal.counts():
            if shard in flying:
                continue
            asked = {trial.id for trial, _ in self.store.plan_shard(shard)} - self.store.asked_elsewhere(shard).keys()
            if asked <= before.own_responses(shard).keys():
                self._seal_shard(shard, generation)

    def _seal_shard(self, shard: int, generation: int) -> None:
        rows = self.journal.rows(shard, generation)
        self.receipts.append(self.store.seal_rows(shard, generation, rows))
        # Forgotten only after they have been read back from the sealed file.
        self.journal.forget(shard, generation)

    # What goes wrong

    async def _patiently(self, exchange: Callable[[], Awaitable[T]]) -> T:
        """Tries an exchange again that may succeed later. Only for what does the same if it is done twice."""
        turn = 1
        while True:
            try:
                return await exchange()
            except CallFailed as failed:
                if turn == self.polling.patience or failed.kind == "rejected" or failed.lasting:
                    raise
                await asyncio.sleep(self._pause(turn))
                turn += 1

    def _money(self, name: str) -> BatchMoney:
        return self._moneys.setdefault(name, BatchMoney(self.calling.meter.ledger, name))

    def _keep(self, record: BatchRecord, **changes: str) -> BatchRecord:
        now = self.flying[record.name] = self._records.write(record, **changes)
        return now

    def _drop(self, record: BatchRecord) -> None:
        """Forgets a batch that is not at the provider, after giving back what is held for it."""
        self._money(record.name).settle(Bill())
        self._records.drop(record)
        self.flying.pop(record.name, None)

    def _unreachable(self, failed: CallFailed, name: str = "") -> RunStopped:
        said = self._recording.detail(f"{failed.kind}: {failed.detail}")
        fix = "run the same command again, with the same key"
        if name:
            fix += f"; if the provider has lost the batch, remove batches/{name}.json to repeat its calls"
        return RunStopped(f"judge {self.judge.name}: cannot read batch {name}: {said}" if name else said, fix=fix)


def _missing(state: BatchState) -> CallFailed:
    """Returns the failure of an entry without a result: the provider may have worked on it, unless it took nothing."""
    kind: FailureKind = "rejected" if state.unworked else "timeout" if "expired" in state.said else "malformed"
    return CallFailed(kind, f"the batch has no result for this trial: {state.said}", turned_down=state.unworked)
