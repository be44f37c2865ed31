"""Watching the desk for changes, so that every open page hears of them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from umpirical.review.desk import Desk
from umpirical.text.inert import inert

PAUSE_SECONDS = 0.5
"""Between two looks at the desk."""

log = logging.getLogger(__name__)


class DeskWatcher:
    """Looks at the desk at short intervals, and wakes all who wait when something has changed."""

    def __init__(self, desk: Desk, feed: Callable[[], int] | None) -> None:
        self.desk = desk
        self.feed = feed
        self.closed = False
        self.trouble = ""
        """Why new items could not be added; empty if nothing is wrong."""
        self.version = -1
        self._change = asyncio.Event()

    @property
    def may_come(self) -> bool:
        """Whether more items can arrive without anyone's doing."""
        return self.feed is not None and not self.trouble

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watches for as long as this is open."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self.close()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def next_change(self) -> asyncio.Event:
        """An event that is set by the next change. Take it before looking, so that no change falls in between."""
        return self._change

    def close(self) -> None:
        """Wakes all who wait, for the last time."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()

    async def _watch(self) -> None:
        while not self.closed:
            await asyncio.to_thread(self._add_items)
            version = await asyncio.to_thread(self._read_version)
            if version != self.version:
                self.version = version
                self._wake()
            await asyncio.sleep(PAUSE_SECONDS)

    def _add_items(self) -> None:
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
            log.warning("the review database could not be read: %s", inert(str(error)))
            return self.version
