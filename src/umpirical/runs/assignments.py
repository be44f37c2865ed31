"""What one of several askers of a run is told, and what it says: the same for processes and for actors of a cluster."""

import asyncio
import pickle
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from umpirical.domain.bills import Bill
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.models.money import Ledger, Meter, Pricer
from umpirical.models.outage import Outages
from umpirical.models.pace import Others
from umpirical.models.spec import Calling
from umpirical.runs.asking import ask_shards
from umpirical.runs.call import CallSpec
from umpirical.runs.loop import run_on_loop
from umpirical.store.budget import Lending
from umpirical.store.runs import Receipt, RunStore

SECONDS_BETWEEN_WORDS = 0.1
"""How long settled trials may wait until the leading process is told: each by itself would cost as much as a call."""


@dataclass(frozen=True)
class Assignment:
    """What one asker is to ask, and with what. Its shards it takes one after another."""

    call: CallSpec
    folder: Path
    """Of the run."""
    process: int
    """Its number among those that ask the run together."""
    concurrency: int
    """Its part of the calls at a time."""
    pricer: Pricer
    cap: Decimal | None
    give_up_after: int
    patience: float = 0.0


@dataclass(frozen=True, slots=True)
class Resumed:
    """So many trials had already been answered."""

    trials: int


@dataclass(frozen=True, slots=True)
class Settled:
    """Trials that have settled since the last word, and what has been spent so far."""

    trials: tuple[tuple[Outcome, Response], ...]
    bill: Bill


@dataclass(frozen=True, slots=True)
class Ended:
    """The last word."""

    receipts: tuple[Receipt, ...]
    bill: Bill
    error: BaseException | None = None


def ask_assigned(
    assignment: Assignment,
    store: RunStore,
    shards: Iterable[int],
    *,
    others: Others,
    lease: Lending | None,
    say: Callable[[Resumed | Settled], None],
) -> Ended:
    """Asks until there is no shard left to take, or until it is stopped; returns the last word."""
    ledger = Ledger(assignment.cap, lease=lease)
    calling = Calling(
        assignment.concurrency, Meter(assignment.pricer, ledger), others=others, outages=Outages(assignment.patience)
    )
    watcher = Teller(say, ledger)
    receipts: list[Receipt] = []
    error: BaseException | None = None
    try:
        asking = ask_shards(
            shards, assignment.call, store, watcher, calling=calling, give_up_after=assignment.give_up_after
        )
        receipts = run_on_loop(asking)
    except asyncio.CancelledError:
        # It was told to stop, and whoever told it knows why.
        pass
    except Exception as raised:  # noqa: BLE001  # raised again in the leading process
        error = sendable(raised)
    finally:
        ledger.close()
    watcher.tell()
    return Ended(tuple(receipts), ledger.bill, error)


def sendable(error: Exception) -> Exception:
    """Returns an error that can be sent, with the place where it was raised."""
    trace = "".join(traceback.format_exception(error))
    try:
        same: Exception = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    except Exception:  # noqa: BLE001  # one that cannot be made again from its parts
        same = RuntimeError(str(error))
    same.add_note(f"in a worker process:\n{trace}")
    return same


class Teller:
    """A watcher that tells the leading process, some trials at a time."""

    def __init__(self, say: Callable[[Resumed | Settled], None], ledger: Ledger) -> None:
        self._say, self._ledger = say, ledger
        self._settled: list[tuple[Outcome, Response]] = []
        self._told_at = time.monotonic()

    def resumed(self, trials: int) -> None:
        self._say(Resumed(trials))

    def settled(self, outcome: Outcome, response: Response) -> None:
        self._settled.append((outcome, response))
        if time.monotonic() - self._told_at >= SECONDS_BETWEEN_WORDS:
            self.tell()

    def tell(self) -> None:
        if self._settled:
            self._say(Settled(tuple(self._settled), self._ledger.bill))
        self._settled, self._told_at = [], time.monotonic()
