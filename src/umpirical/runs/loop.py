"""The event loop of this process: a single one, in its own thread, for everything that is asked.

A judge object may be bound to the loop it was first used in, and fail in a second one. So every run of a process, and
every cell of a notebook, uses the same loop. A notebook already has a running loop; in its own thread, this one does
not interfere with it.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["STOPPER", "Stopper", "run_on_loop"]

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


def run_on_loop(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine on the loop and waits for it. On an interrupt, cancels it and waits for its clean-up.

    Raises RuntimeError on the loop itself, which would wait for itself: a judge that measures another one has to be
    synchronous, or to await.
    """
    loop, done, tasks = _running_loop(), Future[T](), list[asyncio.Task[None]]()
    if threading.current_thread() is _thread:
        work.close()
        raise RuntimeError("this waits for the event loop that it runs on: await the asynchronous twin instead")

    async def settle() -> None:
        try:
            done.set_result(await work)
        except BaseException as error:  # noqa: BLE001  # raised again where it is waited for
            done.set_exception(error)

    def start() -> None:
        if not done.done():
            tasks.append(loop.create_task(settle()))
            tasks[0].add_done_callback(ended)

    def ended(_: asyncio.Task[None]) -> None:
        # A task that is cancelled before its first step never enters its coroutine, and settles nothing.
        if not done.done():
            work.close()
            done.set_exception(asyncio.CancelledError())

    def stop() -> None:
        for task in tasks:
            task.cancel()
        if not tasks and not done.done():
            work.close()
            done.set_exception(asyncio.CancelledError())

    def cancel() -> None:
        loop.call_soon_threadsafe(stop)

    stopper = STOPPER.get() or Stopper()
    try:
        # An interrupt may come between any two of these, and from the first on there is work to stop.
        loop.call_soon_threadsafe(start)
        stopper.watch(cancel)
        return done.result()
    except KeyboardInterrupt:
        cancel()
        # Answers are paid for, so they are stored before the process may exit.
        done.exception()
        raise
    finally:
        stopper.watch(None)


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _thread  # noqa: PLW0603  # there must be only one
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_serve, args=(_loop,), name="umpirical-loop", daemon=True)
            _thread.start()
        return _loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Runs the loop for as long as the process lives.

    A task that ends in SystemExit or KeyboardInterrupt, such as one that a judge has started, stops the loop that it
    runs on. Whoever awaits that task is told; all others would wait for ever.
    """
    while True:
        with suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()


def _forget() -> None:
    """Drops the loop after a fork: the child has none of its parent's threads, and needs its own loop."""
    global _loop  # noqa: PLW0603  # likewise
    _loop = None


os.register_at_fork(after_in_child=_forget)
