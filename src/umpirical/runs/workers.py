"""Workers: one task per call in flight, all drawing from one source until it is empty or the work must stop.

There are four ways to stop early: the spending cap, a row of failures without an answer between them, an interrupt,
and SIGTERM, which lets calls in flight finish.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from umpirical.domain.errors import Terminated, UmpiricalError
from umpirical.models.money import CapReached
from umpirical.runs.loop import told_to_end

T = TypeVar("T")


class RunStopped(UmpiricalError):
    """The run was abandoned before its end. All answers are kept, and it can be resumed."""

    exit_code = 5


class Workers:
    """Works through a source, and gives up on a server that is down."""

    def __init__(self, count: int, *, give_up_after: int, fix: str) -> None:
        """`give_up_after` failures in a row stop the work: a server that is down is not asked ten thousand times.

        `fix` tells a person what to do then.
        """
        self.count = count
        # Failures settle later than answers, so a healthy run may end with every call in flight failing in a row.
        self._give_up_after = give_up_after + 2 * count
        self._fix = fix
        self._failed_in_a_row = 0
        self._cap_reached: CapReached | None = None

    async def work_through(self, source: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
        """Calls `work` on everything in the source. Raises whatever stopped it, once."""
        items = iter(source)

        async def worker() -> None:
            try:
                for item in items:
                    if told_to_end():
                        return
                    await work(item)
            except CapReached as error:
                # No worker is cancelled at the cap: an answer that has just arrived is paid for and must be recorded.
                self._cap_reached = error

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.count):
                    group.create_task(worker())
        except BaseExceptionGroup as several:
            # Every task fails for the same reason; the person needs it once.
            raise several.exceptions[0] from None
        if self._cap_reached is not None:
            raise self._cap_reached
        if told_to_end():
            raise Terminated

    def settled(self, failure: str | None) -> None:
        """Records how each call ended: None for an answer, else what went wrong. Raises when going on is hopeless."""
        if failure is None:
            self._failed_in_a_row = 0
            return
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= self._give_up_after:
            message = f"{self._failed_in_a_row} calls in a row failed, the last with {failure}"
            raise RunStopped(message, fix=self._fix)
