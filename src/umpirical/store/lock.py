"""Locks for one process at a time: two that ask the same questions would pay twice."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from umpirical.domain.errors import UsageError

__all__ = ["locked"]


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
