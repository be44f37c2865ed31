"""Channels: persistent HTTP/1.1 connections to one address, with one exchange at a time on each.

A judge is asked over these a million times, and a general client takes as much of a processor for that as everything
else together. Here is what asking needs: a question is posted, and its answer is read, within a time and a size. There
is no redirect, cookie, proxy or compression. The grammar of HTTP is llhttp's, in C.
"""

import asyncio
import base64
import re
import socket
import ssl
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import NamedTuple, cast
from urllib.parse import quote, unquote, urlsplit

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from umpirical.models.adapters.bodies import check_head, too_large
from umpirical.models.caller import CallFailed

KEPT_SECONDS = 15.0
"""How long a channel may lie idle. Servers close them after a while, and a question that meets that is lost."""

LONGEST_VALUE = 8190
"""Bytes of a header's name and of its value: what web servers themselves allow."""

MOST_HEADERS = 128

LONGEST_HEAD = 2**16
"""Bytes of an answer besides its body: the status, all headers, and those of interim answers before it."""

FRAME = 8
"""Bytes that may stand around one byte of a body, if it comes in chunks of one byte each."""

NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Of a header."""

SAFE = "/%:@!$&'()*+,;=~?"
"""What stands for itself in an address, besides letters and digits."""

NEXT_ADDRESS_SECONDS = 0.25
"""How long one address of a host is tried alone, before the next one is tried beside it."""

UNANSWERED = "the server closed the connection before it answered"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes


@dataclass(frozen=True, slots=True)
class _Address:
    """Where questions go, and how each of them begins."""

    host: str
    port: int
    secure: bool
    head: str


class Channels:
    """As many connections to one address as there are questions at a time. For one event loop."""

    def __init__(self, url: str, *, headers: Mapping[str, str], timeout: float) -> None:
        """`timeout` is in seconds, for one exchange with all that it takes to connect."""
        self._url, self._headers, self._timeout = url, headers, timeout
        self._known: _Address | None = None
        self._idle: deque[_Channel] = deque()

    async def post(self, data: bytes, trial_id: str, *, most: int) -> Answer:
        """Returns the answer, of whatever status. Raises CallFailed if there is none, or none within `most` bytes."""
        try:
            address = self._address()
            # The id allows a server's log to be matched with ours; it says nothing about the stimulus.
            named = _header("X-Client-Request-Id", trial_id)
            question = f"{address.head}{named}Content-Length: {len(data)}\r\n\r\n".encode() + data
        except ValueError as error:
            # A key with a line break in it, or another header that cannot be.
            raise CallFailed("rejected", f"never sent: {error}", turned_down=True) from None
        deadline = asyncio.get_running_loop().time() + self._timeout
        channel = self._idle_channel() or await self._connected(address, deadline)
        channel.ask(question, most)
        late = channel.loop.call_at(deadline, self._give_up, channel)
        try:
            return await channel.answer
        finally:
            late.cancel()
            if channel.reusable():
                channel.idle_since = channel.loop.time()
                self._idle.append(channel)
            else:
                channel.close()

    async def close(self) -> None:
        """Closes what is idle. May be called more than once."""
        idle, self._idle = self._idle, deque()
        for channel in idle:
            channel.close()
        for channel in idle:
            await channel.gone

    def _idle_channel(self) -> "_Channel | None":
        """Returns the channel that was used last, if it is still open; those that lay idle for long are closed."""
        while self._idle and (oldest := self._idle[0]).idle_since < oldest.loop.time() - KEPT_SECONDS:
            self._idle.popleft().close()
        while self._idle:
            channel = self._idle.pop()
            if channel.reusable():
                return channel
            channel.close()
        return None

    async def _connected(self, address: _Address, deadline: float) -> "_Channel":
        from aiohappyeyeballs import start_connection

        loop, limit = asyncio.get_running_loop(), asyncio.timeout_at(deadline)
        try:
            async with limit:
                found = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
                opened = await start_connection(found, happy_eyeballs_delay=NEXT_ADDRESS_SECONDS, loop=loop)
                try:
                    _, channel = await loop.create_connection(
                        lambda: _Channel(loop),
                        sock=opened,
                        ssl=_verifying() if address.secure else None,
                        server_hostname=address.host if address.secure else None,
                    )
                except BaseException:
                    opened.close()
                    raise
        except OSError as error:
            # Nothing is sent before there is a connection, and nothing that was not sent is billed.
            if limit.expired():
                raise CallFailed("timeout", self._too_late, turned_down=True) from None
            said = f"cannot connect to {address.host}:{address.port}: {type(error).__name__}: {error}"
            raise CallFailed("connection", said, turned_down=True) from None
        return channel

    def _give_up(self, channel: "_Channel") -> None:
        channel.fail(CallFailed("timeout", self._too_late))

    @property
    def _too_late(self) -> str:
        return f"no answer within {self._timeout:g} s"

    def _address(self) -> _Address:
        """Returns the address. Raises ValueError if it is none, or if a header cannot be sent."""
        if self._known is None:
            parts = urlsplit(self._url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("the address has to begin with http:// or https:// and a host")
            host, secure = parts.hostname.encode("idna").decode(), parts.scheme == "https"
            shown = f"[{host}]" if ":" in host else host
            own = {
                "Host": shown if parts.port is None else f"{shown}:{parts.port}",
                "User-Agent": f"umpirical/{version('umpirical')}",
                "Accept": "*/*",
                **_credentials(parts.username, parts.password, self._headers),
            }
            named = {name.lower() for name in self._headers}
            sent = {**{name: value for name, value in own.items() if name.lower() not in named}, **self._headers}
            target = quote(parts.path or "/", safe=SAFE) + (f"?{quote(parts.query, safe=SAFE)}" if parts.query else "")
            lines = "".join(_header(name, value) for name, value in sent.items())
            port = parts.port or (443 if secure else 80)
            self._known = _Address(host, port, secure, f"POST {target} HTTP/1.1\r\n{lines}")
        return self._known


def _header(name: str, value: str) -> str:
    """Returns the line of a header. Raises ValueError for one that would be more than a line."""
    if not NAME.fullmatch(name) or not value.isprintable():
        raise ValueError(f"the header {name} has a line break in it, or another sign that no header may have")
    return f"{name}: {value}\r\n"


def _credentials(user: str | None, password: str | None, headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the header for a name and a password in the address."""
    if user is None and password is None:
        return {}
    if any(name.lower() == "authorization" for name in headers):
        raise ValueError("there is a password in the address, and a key beside it")
    both = f"{unquote(user or '')}:{unquote(password or '')}".encode()
    return {"Authorization": f"Basic {base64.b64encode(both).decode()}"}


@lru_cache(maxsize=1)
def _verifying() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class _Channel(asyncio.Protocol):
    """One connection. It reads an answer only while there is a question."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.gone: asyncio.Future[None] = loop.create_future()
        """Settled when the connection is closed, by whichever side."""
        self.idle_since = 0.0
        self._parser = HttpResponseParser(self)
        # Servers that end their lines with less than they should are read by other clients, too.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True)
        self._clean = True
        self.answer: asyncio.Future[Answer] = loop.create_future()
        # There is no question yet.
        self.answer.cancel()
        self._begin(0)

    def _begin(self, most: int) -> None:
        self._most = most
        self._received = self._size = 0
        self._status, self._keeps_alive = 0, False
        self._headers: dict[str, str] = {}
        self._body = bytearray()

    def ask(self, question: bytes, most: int) -> None:
        """Sends a question, after which `answer` will be settled."""
        self.answer = self.loop.create_future()
        self._begin(most)
        if self.gone.done():
            self.fail(CallFailed("connection", UNANSWERED))
        else:
            self._transport.write(question)

    def fail(self, failed: CallFailed) -> None:
        """Gives the answer up, and the connection with it: what still comes would be taken for the next one."""
        self._clean = False
        if not self.answer.done():
            self.answer.set_exception(failed)

    def reusable(self) -> bool:
        """Whether another question can be asked: the last one was sent and answered in whole, and nothing more came."""
        return (
            self._clean and self._keeps_alive and not self.gone.done() and not self._transport.get_write_buffer_size()
        )

    def close(self) -> None:
        self._clean = False
        self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not asserted: uvloop's are of no class of asyncio's.
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        if self.answer.done():
            # A server that sends a reply too many would otherwise answer every later question with the one before.
            self.close()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.fail(CallFailed("malformed", f"not a reply of HTTP/1.1: {error}"))
        if self._received - self._size > LONGEST_HEAD + FRAME * self._size:
            self.fail(CallFailed("malformed", f"more than {LONGEST_HEAD:,} bytes around a reply", lasting=True))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(None)
        if self.answer.done():
            return
        if not self._status:
            said = (
                "the server closed the connection before it answered" if exc is None else f"{type(exc).__name__}: {exc}"
            )
            self.fail(CallFailed("connection", said))
        elif exc is None and not {"content-length", "transfer-encoding"} & self._headers.keys():
            # Without a length, the end of the connection is the end of the answer.
            self.on_message_complete()
        else:
            self.fail(
                CallFailed("malformed", f"truncated reply: the connection ended after {self._size:,} bytes of it")
            )

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._clean = self._clean and not self.answer.done()

    def on_header(self, name: bytes, value: bytes) -> None:
        if max(len(name), len(value)) > LONGEST_VALUE or len(self._headers) == MOST_HEADERS:
            self.fail(CallFailed("malformed", "a reply with headers that are too long, or too many", lasting=True))
            return
        key, said = name.decode("latin-1").lower(), value.decode("utf-8", "surrogateescape")
        self._headers[key] = f"{self._headers[key]}, {said}" if key in self._headers else said

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            return
        self._status = status
        try:
            check_head(status, self._headers, self._most)
        except CallFailed as failed:
            self.fail(failed)

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > self._most:
            self.fail(too_large(self._most))
        if not self.answer.done():
            self._body += body

    def on_message_complete(self) -> None:
        if not self._status:
            # An interim answer: the answer itself is to come.
            self._headers = {}
            return
        self._keeps_alive = self._parser.should_keep_alive()
        if not self.answer.done():
            self.answer.set_result(Answer(self._status, self._headers, bytes(self._body)))
