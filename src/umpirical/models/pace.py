"""What those that ask one server together tell each other: that it asked for less, and until when.

Processes of one machine have a place each in memory that all of them see, and write nowhere else. So none waits for
another, and one that is killed leaves nothing locked. Where there is no such memory, a message says the same.
"""

import asyncio
import mmap
import struct
import time
from collections import deque
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


# Pace: how many calls are in flight. Starts low, grows while the server keeps up, shrinks when it pushes back.


SHRINK = 0.7
"""Share of the limit that remains after the server pushed back."""

SLOW = 4.0
"""Latency may rise to this multiple of the best before growth stops: more in flight would only wait in a queue."""

NEVER_SLOW = 0.25
"""Seconds; a server this quick never counts as slow."""

SMOOTHING = 0.1

FIRST = 8
"""Calls in flight at first, by all processes together."""


class Pace:
    """A limit on calls in flight that finds its own value, up to `most`. For one event loop."""

    def __init__(self, most: int, *, first: int = FIRST, others: Others | None = None) -> None:
        """`others` are the processes that ask the same server."""
        self.most = most
        self._others, self._heard = others, 0
        self._step = 1 / others.places if others else 1.0
        self._shrunk_at = float("-inf")
        self.limit = float(min(max(1, int(first * self._step)), most))
        self.in_flight = 0
        self.pushed_back = 0
        """How often the server asked for less: 429s and 503s."""
        self._doubling = True
        self._since_change = 0
        self._changes = 0
        self._latency = 0.0
        self._best = float("inf")
        self._resume_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Waits for a place; returns a mark of the limit that was in force."""
        while self._must_wait():
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                self._wake()
                raise
        self.in_flight += 1
        return self._changes

    def _must_wait(self) -> bool:
        if self._others is not None:
            self._listen(self._others)
        return self.in_flight >= int(self.limit) or time.monotonic() < self._resume_at

    def leave(self, *, latency: float | None = None) -> None:
        """Gives a place back. `latency` is that of an answer; None if there was none."""
        self.in_flight -= 1
        if latency is not None:
            self._answered(latency)
        self._wake()

    def push_back(self, mark: int, *, retry_after: float | None) -> None:
        """Lowers the limit because the server asked for less; only once for calls sent under the same limit."""
        self.pushed_back += 1
        if retry_after:
            self._pause(time.monotonic() + retry_after)
        if mark == self._changes:
            self._shrink()
            if self._others is not None:
                self._others.tell(self._resume_at)

    def _listen(self, others: Others) -> None:
        """Shrinks if another process was pushed back, unless this one was for the same reason a moment ago."""
        times, resume_at = others.heard()
        if times == self._heard:
            return
        self._heard = times
        self._pause(resume_at)
        if time.monotonic() - self._shrunk_at > self._latency:
            self._shrink()

    def _shrink(self) -> None:
        self._doubling = False
        self._shrunk_at = time.monotonic()
        self._change(max(1.0, self.limit * SHRINK))

    def _answered(self, latency: float) -> None:
        self._latency += SMOOTHING * (latency - self._latency) if self._latency else latency
        self._best = min(self._best, self._latency)
        self._since_change += 1
        keeps_up = self._latency <= max(NEVER_SLOW, SLOW * self._best)
        if self._since_change >= self.limit and self.limit < self.most and keeps_up:
            self._change(min(float(self.most), self.limit * 2 if self._doubling else self.limit + self._step))

    def _change(self, limit: float) -> None:
        self.limit = limit
        self._since_change = 0
        self._changes += 1

    def _pause(self, until: float) -> None:
        """Lets no call start before the time that the server named."""
        if until > self._resume_at:
            self._resume_at = until
            asyncio.get_running_loop().call_later(max(0.0, until - time.monotonic()) + 0.001, self._wake)

    def _wake(self) -> None:
        free = int(self.limit) - self.in_flight
        while self._waiting and free > 0:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                free -= 1
