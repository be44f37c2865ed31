"""Threads for judges that are not asynchronous: one per call in flight, and none that delays the exit.

The event loop's own pool has only a few threads more than there are cores, and the interpreter waits for all of them
when it exits. A judge that hangs in one would hang the process, and the others would have to queue.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

Work = Callable[[], None]

_idle: "queue.LifoQueue[queue.SimpleQueue[Work]]" = queue.LifoQueue()


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Calls a function in a thread of its own. If cancelled, leaves the thread to end by itself.

    It sees the context variables of the caller: some frameworks keep the client there that the user has set.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    future: asyncio.Future[T] = loop.create_future()

    def settle(answer: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(answer)  # type: ignore[arg-type]  # it is what the function returned
        else:
            future.set_exception(error)

    def work() -> None:
        answer: T | None = None
        failed: BaseException | None = None
        try:
            answer = context.run(function, *arguments)
        except StopIteration as error:
            # A future cannot carry a StopIteration: its awaiter would wait forever.
            failed = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:  # noqa: BLE001  # it is raised again where it is awaited
            failed = error
        # The loop may be closed by the time an abandoned judge answers.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, answer, failed)

    _inbox().put(work)
    return await future


def _inbox() -> "queue.SimpleQueue[Work]":
    """Returns the inbox of an idle thread, or of a new one."""
    try:
        return _idle.get_nowait()
    except queue.Empty:
        inbox: queue.SimpleQueue[Work] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="umpirical-judge", daemon=True).start()
        return inbox


def _serve(inbox: "queue.SimpleQueue[Work]") -> None:
    while True:
        inbox.get()()
        _idle.put(inbox)
