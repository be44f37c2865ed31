"""Batches through Inspect AI: each batch has its own Inspect model.

If a batch cannot be created, Inspect's batch worker ends, and calls that wait for another of its batches wait forever.
So calls are gathered here, and each group has its own model and worker: its calls are answered together or fail
together.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_ai.model import BatchConfig, Model

FILL_SECONDS = 15.0
"""How long a group waits for more calls. Providers take from minutes to a day."""


class Group:
    """The calls that go into one batch."""

    def __init__(self) -> None:
        self.members = 0
        self.left = 0
        self.sent = asyncio.Event()
        self.model: Model | None = None


class Batches:
    """Gathers calls into groups of at most `size`. For one event loop."""

    def __init__(self, open_model: "Callable[[], Model]", *, size: int, tick: float | None = None) -> None:
        """`tick` is how often a batch is polled, and how long a group waits for more calls; by default 15 seconds."""
        self._open_model = open_model
        self._size = size
        self._tick = tick
        self._filling: Group | None = None

    async def join(self) -> "tuple[Group, Model]":
        """Waits until the group is complete. A caller that joined must leave."""
        group = self._filling
        if group is None:
            group = self._filling = Group()
            asyncio.get_running_loop().call_later(self._tick or FILL_SECONDS, self._send, group)
        group.members += 1
        if group.members >= self._size:
            self._send(group)
        try:
            await group.sent.wait()
        except asyncio.CancelledError:
            group.members -= 1
            raise
        if group.model is None:
            group.model = self._open_model()
        return group, group.model

    async def leave(self, group: Group) -> None:
        """The last to leave closes the model."""
        group.left += 1
        if group.left >= group.members and group.model is not None:
            model, group.model = group.model, None
            await model.api.aclose()

    def config(self, group: Group) -> "BatchConfig":
        """Returns a config with which Inspect sends the batch once the whole group has asked."""
        from inspect_ai.model import BatchConfig

        return BatchConfig(size=group.members, tick=self._tick)

    def _send(self, group: Group) -> None:
        if self._filling is group:
            self._filling = None
        group.sent.set()
