"""An actor: asks a run together with others on a cluster, led by a process that may be on another machine.

    says     what settles; that it wants a shard, money or that a server asked for less; that it has delivered a shard;
             its last word
    hears    the shard, the money, that a server asked another one for less; that a delivery was taken; that it is to
             stop

It holds no file that two machines would write. Money is the leading process's to lend. Beside the leading process, its
journal is in the folder of the run, and is taken up if it is killed; on another machine it is in a temporary folder,
and what a kill leaves there is lost: the calls of the shards that it had not sealed. Where the machines share no
folder, it reads the run from a depot in object storage, and delivers there what it has sealed.

It ends when there is nothing left to take, when it is told to, and when nobody has fetched its words for a while. It
knows nothing of Ray, which only carries the words.
"""

import queue
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from umpirical.domain.bills import Bill
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Response
from umpirical.integrations.object_storage.depots import Access, Delivery, RemoteRun
from umpirical.models.pace import RelayedPushBacks
from umpirical.runs.assignments import Assignment, Ended, Resumed, Settled, ask_assigned, sendable
from umpirical.runs.loop import STOPPER, Stopper
from umpirical.store.budget import Booked
from umpirical.store.runs import RunStore
from umpirical.store.schemas import response_from_row

BEAT = 5.0
"""Seconds after which an actor that has nothing to say says so: the leading process fetches words again."""

SILENCE = 60.0
"""Seconds without anybody who fetches words, after which the leading process is taken to be gone."""


@dataclass(frozen=True)
class Posting:
    """What an actor is sent when it is made."""

    assignment: Assignment
    askers: int
    """How many ask the run."""
    leased: bool
    """Whether money is lent by the leading process."""
    beside: str
    """The machine of the leading process."""
    token: str
    """Name and text of a file in the folder of the run, by which an actor knows that it sees that folder."""
    path: tuple[str, ...]
    """Where the leading process finds modules."""
    depot: Access | None = None
    """Where the run is, if the machines do not share its folder."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """It has nothing left to ask, and wants a shard."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """It wants its lease to be renewed, as in `Lease.renew`."""

    bill: Bill
    least: Decimal
    want: Decimal


@dataclass(frozen=True, slots=True)
class PushedBack:
    """A server has asked for less, and for no call in so many seconds. Said by an actor, and told to the others."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Left:
    """Answers of shards that are not complete, from a journal that ends with the actor."""

    rows: tuple[tuple[int, int, Response], ...]


@dataclass(frozen=True, slots=True)
class Delivered:
    """It has put a sealed shard into the depot, and waits until that is taken."""

    delivery: Delivery


Word = Resumed | Settled | Wanted | Renewal | PushedBack | Delivered | Left | Ended


@dataclass(frozen=True, slots=True)
class Given:
    """A shard to ask; None if there is none left."""

    shard: int | None


@dataclass(frozen=True, slots=True)
class Held:
    """What the lease holds now, and what is booked apart from it; or what went wrong."""

    held: Decimal
    booked: Booked
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """It is to keep what it has, and end."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What it delivered is in the run's folder; or why not."""

    error: Exception | None = None


Answer = Given | Held | PushedBack | Taken | Stop


class Actor:
    """Asks in a thread of its own. `words` and `hear` may be called by any thread."""

    def __init__(self, posting: Posting, machine: str) -> None:
        """`machine` is where this one runs, by the same kind of name as `posting.beside`."""
        self._posting, self._beside = posting, machine == posting.beside
        self._says: queue.SimpleQueue[Word] = queue.SimpleQueue()
        self._shards: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._held: queue.SimpleQueue[Held | None] = queue.SimpleQueue()
        self._others = RelayedPushBacks(posting.askers, lambda seconds: self._says.put(PushedBack(seconds)))
        self._takes: queue.SimpleQueue[Taken | None] = queue.SimpleQueue()
        self._stopper, self._stopped, self._alone = Stopper(), threading.Event(), threading.Event()
        self._fetched_at = time.monotonic()
        # At the end: what this process finds by itself comes first.
        sys.path.extend(place for place in posting.path if place not in sys.path)
        threading.Thread(target=self._work, name="umpirical-actor", daemon=True).start()
        threading.Thread(target=self._watch, name="umpirical-actor-watch", daemon=True).start()

    def words(self) -> list[Word]:
        """Waits for something to say, and returns all of it; empty after a while without."""
        self._fetched_at = time.monotonic()
        said: list[Word] = []
        try:
            said.append(self._says.get(timeout=BEAT))
            while True:
                said.append(self._says.get_nowait())
        except queue.Empty:
            return said

    def hear(self, answer: Answer) -> None:
        match answer:
            case Given(shard):
                self._shards.put(shard)
            case Held():
                self._held.put(answer)
            case PushedBack(seconds):
                self._others.hear(seconds)
            case Taken():
                self._takes.put(answer)
            case Stop():
                self._stop()

    def _stop(self) -> None:
        self._stopped.set()
        self._stopper.stop()
        # Whoever waits for an answer waits no longer.
        self._shards.put(None)
        self._held.put(None)

    def _watch(self) -> None:
        while not self._stopped.wait(BEAT):
            if time.monotonic() - self._fetched_at > SILENCE:
                self._alone.set()
                self._stop()
                self._takes.put(None)

    def _work(self) -> None:
        STOPPER.set(self._stopper)
        try:
            with TemporaryDirectory(prefix="umpirical-journal-") as folder:
                ended = self._ask(Path(folder))
        except Exception as error:  # noqa: BLE001  # raised again in the leading process
            ended = Ended((), Bill(), sendable(error))
        self._says.put(ended)
        self._stopped.set()

    def _check_folder(self) -> None:
        """Raises if the run is not in the same folder here as where the leading process is."""
        token = self._posting.token
        file = self._posting.assignment.folder / token
        if not file.is_file() or file.read_text(encoding="utf-8") != token:
            raise UsageError(
                f"an actor cannot read the run folder {self._posting.assignment.folder}",
                fix="keep the study on a file system that all machines of the cluster share, under the same path",
            )

    def _ask(self, folder: Path) -> Ended:
        assignment, depot = self._posting.assignment, self._posting.depot
        if depot is not None:
            run = RemoteRun(folder, depot, process=assignment.process, deliver=self._deliver)
            here = replace(assignment, folder=run.folder, call=replace(assignment.call, stimuli=run.stimuli))
            return self._ask_apart(here, run, self._fetched(run))
        self._check_folder()
        journals = None if self._beside else folder
        store = RunStore(assignment.folder, process=assignment.process, journals=journals, once=True)
        if not self._beside:
            return self._ask_apart(assignment, store, self._taken())
        # A lock is of one machine.
        with store.joined():
            return self._ask_shards(assignment, store, self._taken())

    def _ask_apart(self, assignment: Assignment, store: RunStore, shards: Iterator[int]) -> Ended:
        """Asks with a journal that ends with the actor, and hands over what is left in it."""
        ended = self._ask_shards(assignment, store, shards)
        self._says.put(_left(store))
        return ended

    def _ask_shards(self, assignment: Assignment, store: RunStore, shards: Iterator[int]) -> Ended:
        lease = _RelayedLease(self._says, self._held, self._stopped) if self._posting.leased else None
        return ask_assigned(assignment, store, shards, others=self._others, lease=lease, say=self._says.put)

    def _taken(self) -> Iterator[int]:
        """Yields one shard after another, each when its turn comes.

        Everything waits for the answer, which takes some thousandths of a second; a shard is half a minute of work.
        """
        while not self._stopped.is_set():
            self._says.put(Wanted())
            if (shard := self._shards.get()) is None:
                return
            yield shard

    def _fetched(self, run: RemoteRun) -> Iterator[int]:
        for shard in self._taken():
            run.fetch_shard(shard)
            yield shard

    def _deliver(self, delivery: Delivery) -> None:
        """Waits until a delivery is taken, also when told to stop. Raises if it is refused.

        Without a leading process it is left where it is, and the next command takes it up.
        """
        if self._alone.is_set():
            return
        self._says.put(Delivered(delivery))
        answer = self._takes.get()
        if answer is not None and answer.error is not None:
            raise answer.error


class _RelayedLease:
    """A lease that the leading process holds."""

    def __init__(
        self, says: "queue.SimpleQueue[Word]", held: "queue.SimpleQueue[Held | None]", stopped: threading.Event
    ) -> None:
        self._says, self._answers, self._stopped = says, held, stopped

    def renew(self, bill: Bill, *, least: Decimal, want: Decimal, cap: Decimal | None) -> tuple[Decimal, Booked]:  # noqa: ARG002  # the leading process knows the cap
        if not self._stopped.is_set():
            self._says.put(Renewal(bill, least, want))
            if (answer := self._answers.get()) is not None:
                if answer.error is not None:
                    raise answer.error
                return answer.held, answer.booked
        # It is being stopped, and holds what it holds.
        return least, Booked()

    def close(self, bill: Bill) -> None:
        """The last word says what was billed."""


def _left(store: RunStore) -> Left:
    with closing(store.open_journal()) as journal:
        return Left(
            tuple(
                (shard, generation, response_from_row(row))
                for (shard, generation), rows in journal.unsealed().items()
                for row in rows
            )
        )
