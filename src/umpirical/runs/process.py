"""One of several processes that ask a run together, started by the one that leads them.

It gets an assignment over a socket, asks with a journal and a lease of its own, and says what settles. It ends when
there is nothing left to take, when it is told to, and when the leading process is gone. However it ends, answers are
kept.
"""

import mmap
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from umpirical.models.pace import PushBacks
from umpirical.runs.assignments import Assignment, Resumed, Settled, ask_assigned
from umpirical.runs.loop import STOPPER, Stopper
from umpirical.store.budget import Lease
from umpirical.store.posix import fcntl
from umpirical.store.runs import RunStore

_COUNT = 8
"""Bytes of the number of shards that are taken."""


class ShardLeases:
    """Shards that processes take one after another, each of them once.

    All of them have the same file open, which holds how many are taken. A lock on it ends with the process that holds
    it, so one that is killed stops nobody. What it had taken is not given to another: the run is resumed for that.
    """

    def __init__(self, handle: int, shards: Sequence[int]) -> None:
        """`handle` is of an empty file that can be read and written; `shards` are the same in every process."""
        self._handle, self._shards = handle, shards

    def __iter__(self) -> Iterator[int]:
        while (place := self._take()) < len(self._shards):
            yield self._shards[place]

    def _take(self) -> int:
        # Of POSIX: handles that were inherited are of one opening, which `flock` would take for one owner.
        fcntl.lockf(self._handle, fcntl.LOCK_EX)
        try:
            taken = int.from_bytes(os.pread(self._handle, _COUNT, 0), "big")
            os.pwrite(self._handle, (taken + 1).to_bytes(_COUNT, "big"), 0)
        finally:
            fcntl.lockf(self._handle, fcntl.LOCK_UN)
        return taken


@dataclass(frozen=True)
class Joining:
    """What a process is sent when it joins in."""

    assignment: Assignment
    shards: tuple[int, ...]
    """Of which it takes one after another, as the other processes do."""
    processes: int
    lease: Lease | None


def main(socket: int, leases: int, memory: int) -> None:
    """Asks what is assigned over `socket`. The other two are shared by all processes of the run."""
    # Ctrl-C and SIGTERM are for the leading process, which tells the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Not SIG_IGN: programs that are started here would ignore it too.
    signal.signal(signal.SIGTERM, lambda *_: None)
    leader = Connection(socket)
    try:
        joining: Joining = leader.recv()
    except (EOFError, OSError):
        return
    assignment, stopper = joining.assignment, Stopper()
    STOPPER.set(stopper)

    def say(word: Resumed | Settled) -> None:
        # If nobody listens any more, this process is about to be stopped.
        with suppress(OSError):
            leader.send(word)

    with mmap.mmap(memory, PushBacks.size(joining.processes)) as shared:
        store = RunStore(assignment.folder, process=assignment.process)
        with store.joined():
            # A leading process that is gone by now may have a successor, which has not waited for this one.
            if leader.poll():
                return
            threading.Thread(target=_listen, args=(leader, stopper), daemon=True).start()
            others = PushBacks(shared, place=assignment.process, places=joining.processes)
            shards = ShardLeases(leases, joining.shards)
            ended = ask_assigned(assignment, store, shards, others=others, lease=joining.lease, say=say)
        with suppress(OSError):
            leader.send(ended)


def _listen(leader: Connection, stopper: Stopper) -> None:
    """Stops when the leading process says so; whatever it says means that, and so does its end."""
    with suppress(EOFError, OSError):
        leader.recv()
    stopper.stop()
