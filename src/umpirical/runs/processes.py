"""Several processes of one machine that ask one run together.

    leads    this process: holds the lock of the run, starts the others, asks too, and passes on what settles anywhere
    asks     every process: takes shards one after another, with a journal and a lease out of the study's budget each
    slows    every process, as soon as a server has asked one of them for less

The journals of the others are taken up into that of the leading process at the end, or by the next command if a process
was killed. Each of them notices when the leading process is gone, and ends.
"""

import asyncio
import mmap
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from multiprocessing.connection import Connection
from tempfile import TemporaryFile

from umpirical.models.pace import PushBacks
from umpirical.runs.asking import ask_shards
from umpirical.runs.call import CallSpec
from umpirical.runs.executor import Watcher
from umpirical.runs.process import Joining, ShardLeases
from umpirical.runs.together import Hearing, ProcessLost, Together, begun, until_all_end
from umpirical.store.runs import Receipt

WORTH_STARTING = 20_000
"""Calls from which a second process saves more time than it takes to start."""

CALLS_PER_PROCESS = 128
"""Calls in flight that one process keeps up with at any latency."""


def helpful_processes(call: CallSpec, *, calls: int, concurrency: int, simulated: bool) -> int:
    """Returns how many processes help, if nobody says how many.

    One process makes some thousand calls a second, and providers allow far fewer. More than one helps where answers are
    computed here, which takes a processor for each, and where more calls are in flight than one process keeps up with.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if simulated:
        return cores if calls >= WORTH_STARTING else 1
    if call.judge.loads_model:
        return 1
    # The user's own function may keep something between calls, although it does not say so.
    served = call.judge.model is not None or call.judge.http is not None
    return max(1, min(cores, concurrency // CALLS_PER_PROCESS)) if served and calls >= WORTH_STARTING else 1


async def ask_together(together: Together, watcher: Watcher) -> list[Receipt]:
    """Asks in this process and in others, and returns the receipts of all of them."""
    store = together.store
    together.begin()
    mine, rest = begun(together)
    with _shared_by_all(together.processes) as (leases, memory, others):
        started = [
            _Process(together, number, rest, (leases, memory), watcher) for number in range(1, together.processes)
        ]
        calling = replace(together.part(0), others=others)
        shards = chain(mine, ShardLeases(leases, rest))
        own = asyncio.create_task(
            ask_shards(shards, together.call, store, watcher, calling=calling, give_up_after=together.give_up_after)
        )
        try:
            return await until_all_end(own, started)
        finally:
            store.take_up_journals()


@contextmanager
def _shared_by_all(processes: int) -> Iterator[tuple[int, int, PushBacks]]:
    """Lends the handles of what all processes share: the shards that are taken, and what a server has asked for."""
    size = PushBacks.size(processes)
    with TemporaryFile() as leases, TemporaryFile() as memory:
        memory.truncate(size)
        with mmap.mmap(memory.fileno(), size) as shared:
            yield leases.fileno(), memory.fileno(), PushBacks(shared, place=0, places=processes)


class _Process:
    """One of the other processes, as seen by the leading one. Called on the event loop, apart from `_read`."""

    def __init__(
        self, together: Together, number: int, shards: tuple[int, ...], shared: tuple[int, int], watcher: Watcher
    ) -> None:
        self._number = number
        self._hearing = Hearing(number, watcher, together.calling.meter.ledger)
        self._loop = asyncio.get_running_loop()
        self.receipts: asyncio.Future[list[Receipt]] = self._loop.create_future()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = _started(theirs.fileno(), *shared)
        self._connection = Connection(ours.detach())
        with suppress(OSError):
            assignment = together.assignment(number, place=number)
            self._connection.send(Joining(assignment, shards, together.processes, together.lease(number)))
        threading.Thread(target=self._read, name=f"umpirical-process-{number}", daemon=True).start()

    def stop(self) -> None:
        """Lets it keep what it has, and end."""
        if not self.receipts.done():
            with suppress(OSError):
                self._connection.send(None)

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._loop.call_soon_threadsafe(self._hearing.hear, self._connection.recv())
        code = self._process.wait()
        self._loop.call_soon_threadsafe(self._settle, code)

    def _settle(self, code: int) -> None:
        self._connection.close()
        last = self._hearing.last
        if last is None:
            how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
            self.receipts.set_exception(
                ProcessLost(
                    f"worker process {self._number} {how}",
                    fix="run the same command again; recorded answers are kept",
                )
            )
        elif last.error is not None:
            self.receipts.set_exception(last.error)
        else:
            self.receipts.set_result(list(last.receipts))


def _started(*handles: int) -> "subprocess.Popen[bytes]":
    """Starts a process. Not through multiprocessing, which runs a user's script again in each."""
    # It finds modules where this one does, and never in the folder that it happens to be started in.
    program = (
        "import sys; sys.path[:] = sys.argv[4:]; from umpirical.runs.process import main; "
        "main(*map(int, sys.argv[1:4]))"
    )
    path = [place for place in sys.path if place]
    return subprocess.Popen(  # noqa: S603  # this Python, with our own words
        [sys.executable, "-P", "-c", program, *map(str, handles), *path],
        pass_fds=handles,
        stdin=subprocess.DEVNULL,
        # A judge may print; standard output is for results.
        stdout=2,
        # Ctrl-C in a terminal is for the leading process alone.
        start_new_session=True,
    )
