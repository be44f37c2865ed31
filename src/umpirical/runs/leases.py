"""Leases of shards: which process asks which, when several ask one run together."""

import os
from collections.abc import Iterator, Sequence

from umpirical.store.posix import fcntl

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
