"""Locks: two processes that ask the same questions would pay twice, and two that write the same file would collide."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umpirical.domain.errors import UsageError

__all__ = ["locked", "one_at_a_time"]


@contextmanager
def locked(folder: Path, *, held: str) -> Iterator[None]:
    """Holds the lock of a folder. If another process has it, raises at once with the message `held`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(held, fix="wait for it to end") from None
        yield


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
