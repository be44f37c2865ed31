"""What those that ask one server together tell each other: that it asked for less, and until when.

Processes of one machine have a place each in memory that all of them see, and write nowhere else. So none waits for
another, and one that is killed leaves nothing locked. Where there is no such memory, a message says the same.
"""

import mmap
import struct
import time
from collections.abc import Callable
from typing import Protocol


class Others(Protocol):
    """The others that ask the same server."""

    @property
    def places(self) -> int:
        """How many ask it, together with this one."""
        ...

    def tell(self, resume_at: float) -> None:
        """Tells the others that the server asked for less; `resume_at` is 0 if it did not say for how long."""
        ...

    def heard(self) -> tuple[int, float]:
        """Returns how often the others were told to slow down, and when the last of them may start calls again."""
        ...


_PLACE = struct.Struct("=qd")
"""How often a process was told, and when calls may start again, by the machine's monotonic clock."""


class PushBacks:
    """The place of one process, and its view of the others'."""

    def __init__(self, memory: mmap.mmap, *, place: int, places: int) -> None:
        self.places = places
        self._memory = memory
        self._own = place * _PLACE.size
        self._others = [at * _PLACE.size for at in range(places) if at != place]

    @staticmethod
    def size(places: int) -> int:
        """Returns the bytes of memory that so many processes need; all of them zero at first."""
        return places * _PLACE.size

    def tell(self, resume_at: float) -> None:
        times, before = _PLACE.unpack_from(self._memory, self._own)
        _PLACE.pack_into(self._memory, self._own, times + 1, max(before, resume_at))

    def heard(self) -> tuple[int, float]:
        times, resume_at = 0, 0.0
        for at in self._others:
            told, until = _PLACE.unpack_from(self._memory, at)
            times, resume_at = times + told, max(resume_at, until)
        return times, resume_at


class RelayedPushBacks:
    """The same by messages, which say for how many seconds: the clocks of two machines have nothing in common."""

    def __init__(self, places: int, send: Callable[[float], None]) -> None:
        """`send` takes the seconds until calls may start again to the others."""
        self.places = places
        self._send = send
        self._heard = (0, 0.0)

    def tell(self, resume_at: float) -> None:
        self._send(max(0.0, resume_at - time.monotonic()) if resume_at else 0.0)

    def hear(self, seconds: float) -> None:
        """Takes what another one has told. Any thread may call it, and one at a time does."""
        times, resume_at = self._heard
        self._heard = times + 1, max(resume_at, time.monotonic() + seconds if seconds else 0.0)

    def heard(self) -> tuple[int, float]:
        return self._heard
