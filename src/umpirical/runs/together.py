"""Asking one run together: what the leading process does, whether the others are processes or actors of a cluster."""

import asyncio
import pickle
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from umpirical.models.money import FREE, BoundBroken, CapReached, Ledger
from umpirical.models.prices import UNPRICED
from umpirical.models.spec import Calling
from umpirical.runs.assignments import Assignment, Ended, Resumed, Settled
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Watcher
from umpirical.runs.workers import RunStopped
from umpirical.store.budget import Lease
from umpirical.store.runs import Receipt, RunStore


class ProcessLost(RunStopped):
    """A process that asked was killed, or could not be started. The next command takes up what it had recorded."""


@dataclass(frozen=True)
class Together:
    """What is asked together, and by how many."""

    shards: tuple[int, ...]
    call: CallSpec
    store: RunStore
    calling: Calling
    processes: int
    give_up_after: int

    def part(self, place: int) -> Calling:
        """Returns the part of one of them: its share of the calls at a time."""
        share, more = divmod(self.calling.concurrency, self.processes)
        return replace(self.calling, concurrency=share + (place < more))

    def assignment(self, process: int, place: int) -> Assignment:
        meter = self.calling.meter
        return Assignment(
            _sent(self.call),
            self.store.folder,
            process,
            self.part(place).concurrency,
            meter.pricer,
            meter.ledger.cap,
            self.give_up_after,
            self.calling.outages.patience,
        )

    def begin(self) -> None:
        """Gives up the leases of processes that were killed, before others join in."""
        if isinstance(lease := self.calling.meter.ledger.lease, Lease):
            lease.begin()

    def lease(self, process: int) -> Lease | None:
        """Returns a lease for one process out of the budget of the study."""
        lease = self.calling.meter.ledger.lease
        return lease.beside(process) if isinstance(lease, Lease) else None


def why_alone(call: CallSpec, calling: Calling) -> str:
    """Says why a judge can only be asked in one process; empty if it can be asked in several."""
    ledger = calling.meter.ledger
    if call.judge.capabilities.stateful:
        return "its answers may depend on earlier calls, so calls are made one at a time"
    if call.found is not None:
        return "it is an object in this process and cannot be shared"
    if ledger.cap is not None and ledger.lease is None and calling.meter.pricer not in (FREE, UNPRICED):
        return "its budget is tracked only in this process"
    try:
        pickle.dumps((_sent(call), calling.meter.pricer))
    except Exception as error:  # noqa: BLE001  # whatever a plugin's price or spec raises
        return f"it cannot be sent to another process: {error}"
    return ""


def _sent(call: CallSpec) -> CallSpec:
    """Returns the spec as it is sent: without what this process has opened with it."""
    return replace(call)


def begun(together: Together) -> tuple[list[int], tuple[int, ...]]:
    """Returns the shards that the leading process has to ask itself, and the rest.

    Rows in a journal are sealed by the process whose journal it is.
    """
    with closing(together.store.open_journal()) as journal:
        found = {shard for shard, _ in journal.counts()}
    mine = [shard for shard in together.shards if shard in found]
    return mine, tuple(shard for shard in together.shards if shard not in found)


class Hearing:
    """Passes on what one of the others says. Called on the event loop of the leading process."""

    def __init__(self, number: int, watcher: Watcher, ledger: Ledger) -> None:
        self._number, self._watcher, self._ledger = number, watcher, ledger
        self.last: Ended | None = None

    def hear(self, word: Resumed | Settled | Ended) -> None:
        match word:
            case Resumed(trials):
                self._watcher.resumed(trials)
            case Settled(trials, bill):
                self._ledger.spent_beside(self._number, bill)
                for outcome, response in trials:
                    self._watcher.settled(outcome, response)
            case Ended():
                self._ledger.spent_beside(self._number, word.bill)
                self.last = word


class Asker(Protocol):
    """One of the others, as seen by the leading process."""

    receipts: "asyncio.Future[list[Receipt]]"

    def stop(self) -> None:
        """Lets it keep what it has, and end."""
        ...


async def until_all_end(own: "asyncio.Task[list[Receipt]]", others: Sequence[Asker]) -> list[Receipt]:
    """Waits for this process's own asking and for the others; returns the receipts of all of them.

    If the budget is used up for one of them, or one is killed, the rest goes on. Whatever else goes wrong stops all.
    """
    everyone = [own, *(asker.receipts for asker in others)]
    try:
        await _all_end(everyone)
    finally:
        own.cancel()
        for asker in others:
            asker.stop()
        # Also on Ctrl-C: answers are paid for, so they are kept.
        await asyncio.wait(everyone)
        for each in everyone:
            # Known by now, or of no more interest.
            _ = each.cancelled() or each.exception()
    return [receipt for each in everyone for receipt in each.result()]


async def _all_end(everyone: Sequence["asyncio.Future[list[Receipt]]"]) -> None:
    pending: set[asyncio.Future[list[Receipt]]] = set(everyone)
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            error = each.exception()
            contained = isinstance(error, CapReached | ProcessLost) and not isinstance(error, BoundBroken)
            if error is not None and not contained:
                raise error
    # One that was killed is named even if the budget was used up as well: there is something to take up.
    errors = [error for each in everyone if (error := each.exception()) is not None]
    if errors:
        raise min(errors, key=lambda error: not isinstance(error, ProcessLost))
