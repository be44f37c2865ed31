"""The server: bound to this machine alone unless told otherwise, and gone at once when told to stop."""

import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from umpirical.domain.errors import UsageError
from umpirical.web.connections import Connections, most_connections
from umpirical.web.limits import LONGEST_HEAD, MOST_ACCEPTED, MOST_KNOCKING

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


FORWARD = "leave out --host and forward a port (ssh -L)"


def listen(
    host: str = "127.0.0.1", port: int = 0, *, expose: bool = False, what: str = "review", fix: str = FORWARD
) -> socket.socket:
    """A listening socket; port 0 takes a free one. Only with `expose` can other machines reach it.

    `what` is served, and `fix` is what to do instead of exposing it.
    """
    if not expose and not _is_loopback(host):
        raise UsageError(
            f"Refusing to expose the {what} at {host}: anyone who reaches that address could try to read it.", fix=fix
        )
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=MOST_KNOCKING)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen at {host}:{port}: {error}", fix="choose another --port, or 0 for any"
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
