"""The event loop of this process: a single one, in its own thread, for everything that is asked.

A judge object may be bound to the loop it was first used in, and fail in a second one. So every run of a process, and
every cell of a notebook, uses the same loop. A notebook already has a running loop; in its own thread, this one does
not interfere with it.
"""

import asyncio
import atexit
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from umpirical.domain.errors import Terminated

T = TypeVar("T")


class Stopper:
    """Stops, from another thread, what runs on the loop. Answers received by then are kept."""

    def __init__(self) -> None:
        self._stopped = False
        self._cancel: Callable[[], object] | None = None

    def stop(self) -> None:
        self._stopped = True
        if self._cancel is not None:
            self._cancel()

    def watch(self, cancel: Callable[[], object] | None) -> None:
        """Receives the function that cancels the current work; None when nothing is running."""
        self._cancel = cancel
        if self._stopped and cancel is not None:
            cancel()


STOPPER: ContextVar[Stopper | None] = ContextVar("umpirical_stopper", default=None)
"""Set by a caller that works in a thread and may want to stop the work."""

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_ending = threading.Event()

SECONDS_TO_END = 5.0
"""How long the process waits for the loop at its end, before it ends without."""


GRACE = 10.0
"""Seconds that calls in flight get to finish after SIGTERM. Kubernetes kills after 30."""

OURS = {"umpirical", "ray"}
"""Whose handlers of SIGTERM give way while calls are made."""

_told_to_end = threading.Event()


def told_to_end() -> bool:
    """Whether this process has been told to end: then nothing more is asked."""
    return _told_to_end.is_set()


def run_on_loop(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on the loop and waits for it. On an interrupt, cancels it and waits for its clean-up.

    On SIGTERM, calls in flight may finish for a while; then it raises Terminated.

    Raises RuntimeError on the loop itself, which would wait for itself: a judge that measures another one has to be
    synchronous, or to await.
    """
    loop = _running_loop()
    if threading.current_thread() is _thread:
        work.close()
        raise RuntimeError("this call would wait for its own event loop: await the asynchronous version instead")
    job, stopper = _Job(work, loop), STOPPER.get() or Stopper()
    try:
        # An interrupt may come between any two of these, and from the first on there is work to stop.
        with _ending_on_sigterm(job.cancel):
            loop.call_soon_threadsafe(job.start)
            stopper.watch(job.cancel)
            return job.done.result()
    except KeyboardInterrupt:
        job.cancel()
        # Answers are paid for, so they are stored before the process may exit.
        job.done.exception()
        raise
    finally:
        stopper.watch(None)


@contextmanager
def _ending_on_sigterm(cancel: Callable[[], None]) -> Iterator[None]:
    """On SIGTERM, has the work end by itself, cancels it if it takes too long, and raises Terminated.

    A program that handles SIGTERM itself goes on doing so. Ray's own handler would end the process at once.
    """
    before = signal.getsignal(signal.SIGTERM)
    theirs = before is not signal.SIG_DFL and str(getattr(before, "__module__", "")).partition(".")[0] not in OURS
    if theirs or threading.current_thread() is not threading.main_thread():
        yield
        return
    timer = threading.Timer(GRACE, cancel)
    timer.daemon = True

    def end(*_: object) -> None:
        if not _told_to_end.is_set():
            _told_to_end.set()
            timer.start()

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    except asyncio.CancelledError:
        if not told_to_end():
            raise
    finally:
        timer.cancel()
        signal.signal(signal.SIGTERM, before)
        told = told_to_end()
        # What else this process does, if it lives on, is something new.
        _told_to_end.clear()
    if told:
        raise Terminated


class _Job(Generic[T]):
    """A coroutine on the loop. All but `cancel` is called there."""

    def __init__(self, work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self.done = Future[T]()
        self._work, self._loop = work, loop
        self._task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)

    def start(self) -> None:
        if not self.done.done():
            self._task = self._loop.create_task(self._settle())
            # A task that is cancelled before its first step never enters its coroutine, and settles nothing.
            self._task.add_done_callback(lambda _: self._give_up())

    def _stop(self) -> None:
        if self._task is None:
            self._give_up()
        else:
            self._task.cancel()

    def _give_up(self) -> None:
        if not self.done.done():
            self._work.close()
            self.done.set_exception(asyncio.CancelledError())

    async def _settle(self) -> None:
        try:
            self.done.set_result(await self._work)
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            self.done.set_exception(error)


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread  # noqa: PLW0603  # there must be only one
    with _lock:
        if _loop is None:
            _loop = _new_loop()
            _thread = threading.Thread(target=_serve, args=(_loop,), name="umpirical-loop", daemon=True)
            _thread.start()
        return _loop


def _new_loop() -> asyncio.AbstractEventLoop:
    """Returns a loop of uvloop's, which takes a fifth less of a processor for a call; where there is none, asyncio's.

    This loop is Umpirical's own: the loop of a notebook or of a user's program stays what it is.
    """
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    made: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return made


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Runs the loop for as long as the process lives.

    A task that ends in SystemExit or KeyboardInterrupt, such as one that a judge has started, stops the loop that it
    runs on. Whoever awaits that task is told; all others would wait for ever.
    """
    while not _ending.is_set():
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


def _end() -> None:
    """Stops the loop before the interpreter ends: uvloop crashes if it is still running then."""
    if _loop is None or _thread is None:
        return
    _ending.set()
    _loop.call_soon_threadsafe(_loop.stop)
    _thread.join(SECONDS_TO_END)


def _forget() -> None:
    """Drops the loop after a fork: the child has none of its parent's threads, and needs its own loop."""
    global _loop  # noqa: PLW0603  # likewise
    _loop = None


os.register_at_fork(after_in_child=_forget)
atexit.register(_end)
