"""Connections, within bounds: so many at once, and so long until a request is there.

A browser opens a handful and asks at once. What opens hundreds and says little is something else, and must not keep the
others out: when there is no more room, a new connection takes the place of the one whose client has kept us waiting
longest. A connection whose request is being answered keeps its place.
"""

import asyncio
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

from umpirical.web.limits import BODY_SECONDS, HEAD_SECONDS, MOST_CONNECTIONS

OTHER_FILES = 128
"""Open files that are no connections: the database's, the program's own."""

PAUSE_SECONDS = 1.0
"""Between two looks at who keeps us waiting."""


def most_connections(most: int = MOST_CONNECTIONS) -> int:
    """How many connections there can be: as the system allows open files, which is raised if need be and possible."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return most
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(soft - OTHER_FILES, 16)
    return most


class Connections:
    """The open connections of a server, and since when each keeps it waiting."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: set[BoundedProtocol] = set()
        # In the order in which they began to wait: a dictionary keeps it.
        self._waiting: dict[BoundedProtocol, float] = {}
        self._watch: asyncio.TimerHandle | None = None

    def protocol(self) -> type[asyncio.Protocol]:
        """What makes the protocol of each connection. uvicorn asks for a class, and only ever calls it."""
        return cast("type[asyncio.Protocol]", partial(BoundedProtocol, of=self))

    def opened(self, connection: "BoundedProtocol") -> None:
        self._open.add(connection)
        self.waits(connection)
        if len(self._open) > self.most:
            # There is one at least: this one.
            self._drop(next(iter(self._waiting)))

    def closed(self, connection: "BoundedProtocol") -> None:
        self._open.discard(connection)
        self._waiting.pop(connection, None)

    def waits(self, connection: "BoundedProtocol") -> None:
        """From now on, the client is to go on."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = connection.loop.time()

    def works(self, connection: "BoundedProtocol") -> None:
        """The request is there, and we are to answer."""
        self._waiting.pop(connection, None)

    def watch(self) -> None:
        """Ends, again and again, what has kept us waiting too long."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection, since in list(self._waiting.items()):
            if now - since <= HEAD_SECONDS:
                break
            if not connection.sends_body or now - since > BODY_SECONDS:
                self._drop(connection)
        self._watch = loop.call_later(PAUSE_SECONDS, self.watch)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def _drop(self, connection: "BoundedProtocol") -> None:
        self.closed(connection)
        # At once: whoever does not read would keep a connection that is closed politely.
        connection.transport.abort()


class BoundedProtocol(H11Protocol):
    """HTTP on one connection, which tells when it waits for its client and when the client waits for it."""

    def __init__(self, *arguments: Any, of: Connections, **named: Any) -> None:  # noqa: ANN401  # uvicorn's
        super().__init__(*arguments, **named)
        self._all = of

    @property
    def sends_body(self) -> bool:
        """Whether the head of a request is there, and its body is not."""
        return self.cycle is not None and not self.cycle.response_complete and self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's is
        super().connection_made(transport)
        self._all.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._all.works(self)

    def on_response_complete(self) -> None:
        self._all.waits(self)
        # A request that was already there is begun within.
        super().on_response_complete()
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._all.works(self)
