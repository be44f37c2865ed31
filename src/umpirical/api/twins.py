"""The awaitable form of a function."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from umpirical.runs.loop import STOPPER, Stopper

P = ParamSpec("P")
T = TypeVar("T")


def twin_of(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """The same function in a thread, so that the event loop is not blocked. If cancelled, answers so far are kept."""

    @wraps(function)
    async def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        stopper = Stopper()

        def work() -> T:
            STOPPER.set(stopper)
            return function(*args, **kwargs)

        working = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            stopper.stop()
            with suppress(BaseException):
                await working
            raise

    twin.__name__ = twin.__qualname__ = f"{function.__name__}_async"
    twin.__doc__ = f"The awaitable form of `{function.__name__}`. If cancelled, the answers received so far are kept."
    return twin
