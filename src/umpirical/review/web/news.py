"""What changes at the desk, told to every screen that is open."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from umpirical.review.desk import Desk
from umpirical.text.inert import inert

__all__ = ["News"]

PAUSE_SECONDS = 0.5
"""Between two looks at the desk."""

log = logging.getLogger(__name__)


class News:
    """Looks at the desk again and again, and wakes all who wait when something is new."""

    def __init__(self, desk: Desk, feed: Callable[[], int] | None) -> None:
        self.desk = desk
        self.feed = feed
        self.closed = False
        self.trouble = ""
        """Why no new items could be brought; empty if nothing is wrong."""
        self.version = -1
        self._stir = asyncio.Event()

    @property
    def may_come(self) -> bool:
        """Whether more items can arrive by themselves."""
        return self.feed is not None and not self.trouble

    @asynccontextmanager
    async def gathered(self) -> AsyncIterator[None]:
        """The looking goes on while this is open."""
        looking = asyncio.create_task(self._look())
        try:
            yield
        finally:
            self.close()
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    def next_change(self) -> asyncio.Event:
        """Set when something is new after this call. Taken before looking, so that nothing falls in between."""
        return self._stir

    def close(self) -> None:
        """Lets all go who wait, for good."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        stirred, self._stir = self._stir, asyncio.Event()
        stirred.set()

    async def _look(self) -> None:
        while not self.closed:
            await asyncio.to_thread(self._bring)
            version = await asyncio.to_thread(self._read_version)
            if version != self.version:
                self.version = version
                self._wake()
            await asyncio.sleep(PAUSE_SECONDS)

    def _bring(self) -> None:
        if self.feed is None:
            return
        try:
            self.feed()
            self.trouble = ""
        except Exception as error:  # noqa: BLE001  # people go on reviewing what is there
            if not self.trouble:
                log.warning("new items could not be read: %s", inert(str(error)))
            self.trouble = f"{type(error).__name__}: {error}"

    def _read_version(self) -> int:
        try:
            return self.desk.version()
        except Exception as error:  # noqa: BLE001  # a database that is away may come back
            log.warning("the desk could not be read: %s", inert(str(error)))
            return self.version
