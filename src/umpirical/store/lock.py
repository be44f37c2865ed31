"""Locks: two processes that ask the same questions would pay twice, and two that write the same file would collide.

A run is asked by one process, or by several of which one leads and has started the others. The leading one holds the
lock of the folder. If it is killed, the others notice and end; until then, they hold a lock of their own.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.store.posix import fcntl

PATIENCE = 30.0
"""Seconds to wait for processes whose leading one was killed: they keep what they have, and end."""

JOINED = "lock.joined"


@contextmanager
def locked(folder: Path, *, held: str) -> Iterator[None]:
    """Holds the lock of a folder. If another process has it, raises at once with the message `held`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(held, fix="wait for it to finish") from None
        _wait_for_others(folder, held)
        yield


@contextmanager
def joined(folder: Path) -> Iterator[None]:
    """Holds the lock that processes share while another one leads them."""
    with (folder / JOINED).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield


def _wait_for_others(folder: Path, held: str) -> None:
    """Waits for the processes of one that was killed."""
    if not (folder / JOINED).exists():
        return
    deadline = time.monotonic() + PATIENCE
    with (folder / JOINED).open("w") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() > deadline:
                    raise UsageError(held, fix="wait for it to finish") from None
                time.sleep(0.05)
            else:
                return


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Waits until no other thread or process holds the same folder. The folder itself is locked."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
