"""The server: bound to this machine alone unless told otherwise, and gone at once when told to stop.

With it: limits on connections, and the file through which a browser opens its address.
"""

import asyncio
import ipaddress
import os
import shutil
import signal
import socket
import stat
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from umpirical.domain.errors import UsageError
from umpirical.web.guard import (
    BODY_SECONDS,
    HEAD_SECONDS,
    LONGEST_HEAD,
    MOST_ACCEPTED,
    MOST_CONNECTIONS,
    MOST_KNOCKING,
)

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


# The server: bound to this machine alone unless told otherwise, and gone at once when told to stop.


GRACE_SECONDS = 3
"""How long a running request may still take once the server is told to stop."""


class WebServer(uvicorn.Server):
    """A server that first closes its event streams when it stops, and then returns instead of dying of the signal.

    The application says how its streams are closed, in `state.close`.
    """

    def __init__(self, app: Starlette, *, ready: Callable[[], None] = lambda: None) -> None:
        connections = Connections(most_connections())
        super().__init__(
            uvicorn.Config(
                app,
                http=connections.protocol(),
                h11_max_incomplete_event_size=LONGEST_HEAD,
                backlog=MOST_ACCEPTED,
                # Requests are not logged, because an address may contain a one-time link.
                access_log=False,
                log_config=None,
                # Nor are those that are none: whoever sends them would fill the terminal.
                log_level="error",
                server_header=False,
                # Headers in which a proxy names the client are not trusted.
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._close = app.state.close
        self._ready = ready
        self._connections = connections

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            # asyncio has made the queue as short as the number it accepts in one go.
            listening.listen(MOST_KNOCKING)
        self._connections.watch()
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._connections.close()
        self._close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._stop) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


FORWARD = "remove --host and forward a port instead (ssh -L)"


def listen(
    host: str = "127.0.0.1", port: int = 0, *, expose: bool = False, what: str = "review", fix: str = FORWARD
) -> socket.socket:
    """A listening socket; port 0 takes a free one. Only with `expose` can other machines reach it.

    `what` is served, and `fix` is what to do instead of exposing it.
    """
    if not expose and not _is_loopback(host):
        raise UsageError(
            f"will not expose the {what} at {host}: anyone who can reach that address could try to read it", fix=fix
        )
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=MOST_KNOCKING)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen at {host}:{port}: {error}", fix="choose another --port, or 0 for any free port"
        ) from None
    return listening


def hosts_of(listening: socket.socket, *, names: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names by which a browser may address the server: its address, `localhost` if that reaches it, and `names`.

    A name without a port gets the port of the socket; one with a port, such as a proxy's, stays as it is. Browsers
    leave out ports 80 and 443, so names with these are also allowed without the port.
    """
    address, port = listening.getsockname()[:2]
    own = {_bracketed(address)} if not ipaddress.ip_address(address).is_unspecified else {"127.0.0.1"}
    if _is_loopback(address) or ipaddress.ip_address(address).is_unspecified:
        own.add("localhost")
    given = {name.lower() if _has_port(name) else f"{name.lower()}:{port}" for name in names}
    named = {f"{name}:{port}" for name in own} | given
    return frozenset(named | {name.rpartition(":")[0] for name in named if name.endswith((":80", ":443"))})


def url_of(listening: socket.socket) -> str:
    """The address of the pages, without a slash at the end."""
    address, port = listening.getsockname()[:2]
    is_open = ipaddress.ip_address(address).is_unspecified
    return f"http://{'127.0.0.1' if is_open else _bracketed(address)}:{port}"


def serve(app: Starlette, listening: socket.socket, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serves until SIGINT or SIGTERM, then returns. Calls `ready` once it answers requests and handles signals."""
    WebServer(app, ready=ready).run(sockets=[listening])


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")


# A file that leads a browser to a link, and that its owner alone can read.


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}"><title>Umpirical</title></head>
<body><p><a href="{link}" rel="noreferrer">Go on</a></p></body></html>
"""


@contextmanager
def redirect_file(folder: Path, link: str) -> Iterator[Path]:
    """A file in a new folder within `folder`, both gone at the end. Raises if others can read it nevertheless."""
    # Not in the system's temporary folder: browsers that are packaged apart from the system do not see that.
    made = Path(mkdtemp(prefix="opening-", dir=folder))
    try:
        path = made / "link.html"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as page:
            # Asked before the link is in it: on some drives every file is open to everyone.
            if os.name == "posix" and not (_is_private(os.fstat(handle)) and _is_private(made.stat())):
                raise UsageError(f"other users can read files in {folder}", fix="open the link yourself")
            page.write(PAGE.format(link=escape(link)))
        yield path
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _is_private(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
