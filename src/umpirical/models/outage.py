"""Outages: if a server has answered and goes down, all calls wait for it.

One of them asks again, less and less often. Its answer lets the others go on. If the outage lasts too long, calls fail.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0
"""Seconds between two calls that ask whether the server is back."""


class Outages:
    """What a caller knows of its server. For one event loop."""

    def __init__(self, patience: float, tell: Callable[[str], None] = lambda _: None) -> None:
        """`patience` is how long an outage is waited for, in seconds, and `tell` receives a sentence about each."""
        self.patience, self.tell = patience, tell
        self._answers, self._since = 0, 0.0
        self._first = asyncio.Lock()

    @property
    def answers(self) -> int:
        """How many calls were answered so far."""
        return self._answers

    def answered(self) -> None:
        self._answers += 1
        if self._since:
            self.tell("the server answers again")
        self._since = 0.0

    def waits(self, answers: int) -> bool:
        """Whether a call that could not be made is waited for. `answers` were there before its last attempt.

        A server that has never answered is more likely misspelt than down; one that answers others is not down.
        """
        if not self.patience or not answers or self._answers > answers:
            return False
        if not self._since:
            self._since = time.monotonic()
            self.tell(f"the server is not available; waiting up to {self.patience / 60:.3g} min for it")
        return self._left() > 0

    async def until_back(self, ask: Callable[[], Awaitable[T | None]]) -> T | None:
        """Asks in turn with the others that wait, until there is an answer; None if another one has it, or if nobody.

        `ask` returns None if the server is still not there.
        """
        before, wait = self._answers, FIRST_WAIT
        async with self._first:
            while self._answers == before and self._left() > 0:
                await asyncio.sleep(min(wait, self._left()))
                wait = min(2 * wait, LONGEST_WAIT)
                if (found := await ask()) is not None:
                    return found
        return None

    def _left(self) -> float:
        return self._since + self.patience - time.monotonic() if self._since else 0.0
