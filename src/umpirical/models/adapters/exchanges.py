"""HTTP exchanges with one server: single calls, and what batches take besides. The client is aiohttp.

A server may send anything, in any form, for any time, so every exchange has bounds. Its time ends at one deadline,
which a server cannot extend by sending a little at a time. The body is capped, and so is what stands around it.
Replies are asked for uncompressed, and one that is compressed all the same is refused: a judge's reply is a few kB, so
nothing is lost, and no decompressor has to be bounded. No redirect is followed, no cookie is kept, and no POST is sent
twice.

Proxies are those of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. They are read here and not by aiohttp's
`trust_env`, which also sends passwords from ~/.netrc, and starts a thread for every call. Secrets are headers of a
request and never of the session, whose headers aiohttp sends to the proxy, too.
"""

import asyncio
import io
import json
import os
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic_core import to_json

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import FailureKind
from umpirical.models.caller import CallFailed, Withdrawn
from umpirical.models.recording import LONGEST_QUOTE
from umpirical.text.json_texts import without_doubles

if TYPE_CHECKING:
    import aiohttp

LARGEST_WORD = 2**24
"""Bytes of a reply that says something about batches. A page of a hundred of them takes 200 kB."""

TRANSFER_SECONDS = 3600.0
"""For one exchange: files of 256 MB go over slow lines, too."""

KEPT_SECONDS = 15.0
"""How long a connection may lie idle. Servers close them after a while, and a question that meets that is lost."""

LONGEST_VALUE = 8190
"""Bytes of a status line, of a header's name and of its value: what web servers themselves allow."""

MOST_HEADERS = 128

LONGEST_HEAD = 2**16
"""Bytes of a reply besides its body: the status, all headers, and those of interim replies before it."""

FRAME = 8
"""Bytes that may stand around one byte of a body, if it comes in chunks of one byte each."""

BEARER = {"Authorization": "Bearer {{key}}"}
"""The header that most servers read a key from."""

IDENTITY = {"Accept-Encoding": "identity"}
"""The header that asks for a reply as it is."""

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

PROXY = re.compile(r"https?://([^/?#\s]*@)?([^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?/?", re.IGNORECASE)

FILTERED = re.compile(rb'"code"\s*:\s*"content_filter"')

_SENT: ContextVar[list[bool]] = ContextVar("umpirical_sent")
"""Gets an entry when the exchange of this task has a connection, so that the server may have been asked."""

# Made once: json.loads would make another one for every reply.
_DECODER = json.JSONDecoder(object_pairs_hook=without_doubles)


class Tls(Protocol):
    """Files for encrypted connections, each by its path; None where the machine's own settings hold."""

    @property
    def ca(self) -> str | None: ...

    @property
    def certificate(self) -> str | None: ...

    @property
    def key(self) -> str | None: ...


class Exchanges:
    """One server, over persistent connections, for one event loop. Everything raises CallFailed, and nothing else."""

    def __init__(self, base_url: str, *, headers: Mapping[str, str], timeout: float, tls: Tls | None = None) -> None:
        """`timeout` is in seconds, for an exchange in which no file is sent or received."""
        self._base, self._timeout = base_url, timeout
        named = any(name.lower() == "user-agent" for name in headers)
        ours = {} if named else {"User-Agent": f"umpirical/{version('umpirical')}"}
        self._headers = {**ours, **headers, **IDENTITY}
        # A file that cannot be used is found before anything is asked.
        self._context = None if tls is None else tls_context(tls)
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, body: Any, trial_id: str, *, most: int) -> bytes:  # noqa: ANN401  # JSON
        """Posts JSON to the address itself. Returns the body of a reply of status 200 within `most` bytes."""
        # The id allows a server's log to be matched with ours; it says nothing about the stimulus.
        headers = {"Content-Type": "application/json", "X-Client-Request-Id": trial_id}
        async with self._reply("POST", "", self._timeout, data=_sendable(body), headers=headers, most=most) as http:
            return await _read_body(http, most)

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        async with self._reply("GET", path, self._timeout, params=query or {}) as http:
            return await _read(http)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sends JSON, and returns the JSON object that comes back."""
        headers = {"Content-Type": "application/json"}
        async with self._reply("POST", path, self._timeout, data=_sendable(body), headers=headers) as http:
            return await _read(http)

    async def post_file(self, path: str, file: IO[bytes]) -> dict[str, Any]:
        """The same, for JSON that is in a file. The file stays open."""
        headers = {"Content-Type": "application/json"}
        async with self._reply("POST", path, TRANSFER_SECONDS, data=_again(file), headers=headers) as http:
            return await _read(http)

    async def upload(self, path: str, fields: Mapping[str, str], file: IO[bytes], name: str) -> dict[str, Any]:
        """Sends a form with one file in it. The file stays open."""
        import aiohttp

        form = aiohttp.FormData(fields)
        form.add_field("file", _again(file), filename=name, content_type="application/jsonl")
        async with self._reply("POST", path, TRANSFER_SECONDS, data=form) as http:
            return await _read(http)

    async def lines(self, path: str, *, most: int, most_lines: int) -> AsyncIterator[bytes]:
        """Yields the lines at an address. One of more than `most` bytes is passed over, and read no further."""
        async with self._reply("GET", path, TRANSFER_SECONDS) as http:
            check_head(http.status, http.headers, most * most_lines)
            count, rest, passing = 0, bytearray(), False
            while piece := await http.content.readany():
                rest += piece
                *whole, last = rest.split(b"\n")
                for line in whole:
                    count += 1
                    if count > most_lines:
                        raise too_large(most_lines)
                    if len(line) <= most and not passing:
                        yield bytes(line)
                    passing = False
                rest = last
                if len(rest) > most:
                    # The rest of this line is dropped as it comes.
                    rest, passing = bytearray(), True
            if rest and not passing:
                yield bytes(rest)

    async def close(self) -> None:
        """Closes the connections. May be called more than once, and asking opens them again."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    @asynccontextmanager
    async def _reply(
        self,
        method: str,
        path: str,
        seconds: float,
        *,
        headers: Mapping[str, str] = {},
        most: int = LARGEST_WORD,
        **more: Any,  # noqa: ANN401  # as aiohttp takes it
    ) -> AsyncIterator["aiohttp.ClientResponse"]:
        """Yields a reply of status 200, whose body is to be read. `most` is for the body of any other."""
        import aiohttp

        _SENT.set([])
        try:
            url = under(self._base, path) if path else self._base
            async with self._opened().request(
                method,
                url,
                headers={**headers, **self._headers},
                allow_redirects=False,
                timeout=_within(seconds),
                **more,
            ) as http:
                try:
                    if http.status != 200:
                        raise status_failure(http.status, await _read_body(http, most), http.headers)
                    yield http
                except (CallFailed, aiohttp.ClientPayloadError) as error:
                    # Otherwise the rest would be read before the connection is used again.
                    http.close()
                    if isinstance(error, CallFailed):
                        raise
                    raise _truncated(http.content) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failure_of(error, seconds) from None
        except asyncio.CancelledError:
            if _SENT.get():
                raise
            raise Withdrawn from None

    def _opened(self) -> "aiohttp.ClientSession":
        if self._session is None:
            self._session = _open_session(self._base, self._headers, self._context or tls_context())
        return self._session


def under(url: str, path: str) -> str:
    """Returns an address below another one. A query stays at the end: Azure wants ?api-version= with every request."""
    place, mark, query = url.partition("?")
    place = place.rstrip("/")
    if path.startswith("/v1/"):
        # Some write the version at the end of the address, and some do not.
        place = place.removesuffix("/v1")
    return f"{place}{path}{mark}{query}"


@lru_cache(maxsize=64)
def _within(seconds: float) -> "aiohttp.ClientTimeout":
    """Returns a precise deadline: aiohttp would round one of more than five seconds up."""
    import aiohttp

    return aiohttp.ClientTimeout(total=seconds, ceil_threshold=seconds)


def _open_session(url: str, headers: Mapping[str, str], context: ssl.SSLContext) -> "aiohttp.ClientSession":
    """Returns a session for one server. Raises ValueError for headers that cannot be sent."""
    import aiohttp

    for name, value in headers.items():
        if not HEADER_NAME.fullmatch(name) or not value.isprintable():
            raise ValueError(f"the header {name} contains a line break or another character that is not allowed")
    request, response = _guarded()
    return aiohttp.ClientSession(
        # The pace limits concurrency; the pool must not become a second, hidden limit.
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEPT_SECONDS, ssl=context),
        proxy=proxy_for(url),
        auto_decompress=False,
        # No answer may depend on the one before.
        cookie_jar=aiohttp.DummyCookieJar(),
        request_class=request,
        response_class=response,
        max_line_size=LONGEST_VALUE,
        max_field_size=LONGEST_VALUE,
        max_headers=MOST_HEADERS,
    )


def proxy_for(url: str) -> str | None:
    """Returns the proxy that the environment names for an address, by HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.

    Raises ValueError for one that cannot be used.
    """
    parts, known = urlsplit(url), getproxies()
    name = parts.scheme if known.get(parts.scheme) else "all"
    proxy = known.get(name)
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not PROXY.fullmatch(proxy):
        # It is not quoted, since a password may be in it.
        raise ValueError(
            f"{name.upper()}_PROXY must be http://HOST:PORT or http://NAME:PASSWORD@HOST:PORT, with %2F for a slash in "
            "the password; SOCKS is not supported"
        )
    return proxy


def way_to(url: str, tls: Tls | None) -> str:
    """Says how an address is reached, and nothing that may be a secret."""
    try:
        proxy = proxy_for(url)
    except ValueError as error:
        return str(error)
    known, ways = getproxies(), ["directly"]
    if proxy:
        ways = [f"through the proxy {urlsplit(proxy).netloc.rpartition('@')[2]}"]
    elif known.get(urlsplit(url).scheme) or known.get("all"):
        ways = ["directly, because of NO_PROXY"]
    if urlsplit(url).scheme == "https":
        machine = ssl.get_default_verify_paths()
        trusted = tls.ca if tls and tls.ca else machine.cafile or machine.capath
        ways.append(f"trusts {_seen(trusted)}" if trusted else "trusts no authority: set SSL_CERT_FILE")
        if tls and tls.certificate:
            ways.append(f"shows {_seen(tls.certificate)}")
    return "; ".join(ways)


def _seen(path: str) -> str:
    return path if Path(path).expanduser().exists() else f"{path} (not found)"


def tls_context(tls: Tls | None = None) -> ssl.SSLContext:
    """Returns what verifies servers: by the machine's own authorities, SSL_CERT_FILE included, or by `ca` alone."""
    ca, certificate, key = (None, None, None) if tls is None else (tls.ca, tls.certificate, tls.key)
    return _context(ca, certificate, key, os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", ""))


@lru_cache(maxsize=64)
def _context(ca: str | None, certificate: str | None, key: str | None, *_machine: str) -> ssl.SSLContext:
    what, path = "ca", ca
    try:
        context = ssl.create_default_context(cafile=_expanded(ca))
        if certificate is not None:
            what, path = "certificate", certificate if key is None else f"{certificate} with {key}"
            # A key with a passphrase is refused: nobody is asked for one in the middle of a run.
            context.load_cert_chain(certfile=Path(certificate).expanduser(), keyfile=_expanded(key), password="")
    except OSError as error:
        raise UsageError(
            f"tls.{what}: cannot use {path}: {error.strerror or error}",
            fix="use files in PEM format, and a key without a passphrase",
        ) from None
    context.set_alpn_protocols(["http/1.1"])
    return context


def _expanded(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser())


class _Guard(asyncio.Protocol):
    """Stands between a connection and aiohttp's reader: it bounds what comes around a body, and what comes unasked.

    A server that sends a reply too many would otherwise answer every later question with the one before.
    """

    def __init__(self, transport: asyncio.Transport, reader: Any) -> None:  # noqa: ANN401  # aiohttp's own
        self._transport, self._reader = transport, reader
        self.begin()

    def begin(self) -> None:
        self._received = 0
        self.body: aiohttp.StreamReader | None = None
        """Of the reply, once its head has come."""

    def data_received(self, data: bytes) -> None:
        size = 0 if self.body is None else self.body.total_bytes
        if self.body is not None and self.body.is_eof():
            self._transport.abort()
        elif self._received - size > LONGEST_HEAD + FRAME * size:
            said = f"more than {LONGEST_HEAD:,} bytes of headers in a reply"
            (self.body or self._reader).set_exception(CallFailed("malformed", said, lasting=True))
            self._transport.abort()
        else:
            self._received += len(data)
            self._reader.data_received(data)
            if self.body is not None and (error := self._reader.exception()) is not None:
                # Something is wrong behind the body, such as in a trailer, and nobody but its reader waits.
                self.body.set_exception(_failure_of(error, 0))

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None and self.body is not None and not self.body.is_eof():
            # Without a length, the end of the connection is the end of the reply; but only a proper end.
            self.body.set_exception(_truncated(self.body))
        self._reader.connection_lost(exc)

    def eof_received(self) -> None:
        self._reader.eof_received()

    def pause_writing(self) -> None:
        self._reader.pause_writing()

    def resume_writing(self) -> None:
        self._reader.resume_writing()


@lru_cache(maxsize=1)
def _guarded() -> "tuple[type[aiohttp.ClientRequest], type[aiohttp.ClientResponse]]":
    """Returns the classes of requests and of responses that put a guard on their connection."""
    import aiohttp

    class Request(aiohttp.ClientRequest):
        async def send(self, conn: "aiohttp.connector.Connection") -> aiohttp.ClientResponse:
            if conn.protocol is not None and conn.protocol.should_close:
                conn.close()
                raise aiohttp.ServerDisconnectedError
            transport: Any = conn.transport
            guard = transport.get_protocol()
            if not isinstance(guard, _Guard):
                guard = _Guard(transport, conn.protocol)
                transport.set_protocol(guard)
            guard.begin()
            _SENT.get().append(True)
            return await super().send(conn)

    class Response(aiohttp.ClientResponse):
        async def start(self, connection: "aiohttp.connector.Connection") -> aiohttp.ClientResponse:
            transport: Any = connection.transport
            guard = transport.get_protocol() if transport is not None else None
            await super().start(connection)
            if isinstance(guard, _Guard):
                guard.body = self.content
            return self

    return Request, Response


async def _read(http: "aiohttp.ClientResponse") -> dict[str, Any]:
    return read_json(await _read_body(http, LARGEST_WORD))


async def _read_body(http: "aiohttp.ClientResponse", most: int) -> bytes:
    """Returns the body. Raises CallFailed once it is larger than `most` bytes."""
    check_head(http.status, http.headers, most)
    body = await http.content.readany()
    if http.content.at_eof():
        return body
    # One buffer for all: a list of pieces of one byte each would be fifty times as large as they are.
    whole = bytearray(body)
    while piece := await http.content.readany():
        whole += piece
        if len(whole) > most:
            raise too_large(most)
    return bytes(whole)


def _again(file: IO[bytes]) -> IO[bytes]:
    """Returns a file from its beginning, to be closed by whoever sends it: it may have to be sent again."""
    same = os.fdopen(os.dup(file.fileno()), "rb")
    same.seek(0)
    return same


def _sendable(body: Any) -> bytes | IO[bytes]:  # noqa: ANN401  # JSON
    """Returns a body as aiohttp takes it: one of more than a megabyte is sent piece by piece."""
    raw = encoded(body)
    return raw if len(raw) <= 2**20 else io.BytesIO(raw)


def encoded(body: Any) -> bytes:  # noqa: ANN401  # JSON
    """Returns a body as JSON in UTF-8. A lone surrogate, which that cannot spell, is escaped."""
    try:
        return to_json(body)
    except ValueError:
        return json.dumps(body).encode()


def read_json(raw: bytes) -> dict[str, Any]:
    """Returns the JSON object that a body is. Raises CallFailed for any other, and for one that contradicts itself."""
    try:
        reply = _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise CallFailed("malformed", f"not a chat completion: {quoted(raw)}")
    return reply


def quoted(raw: bytes) -> str:
    """Returns as much of a body as is of use in a message."""
    return raw[:LONGEST_QUOTE].decode("utf-8", "backslashreplace")


# What becomes of an exchange without an answer.


def check_head(status: int, headers: Mapping[str, str], most: int) -> None:
    """Raises CallFailed if the body of a reply is not to be read: a redirect, compressed, or said to be too large."""
    if 300 <= status < 400:
        # Whoever points elsewhere may have done the work first.
        raise CallFailed("rejected", f"HTTP {status}: {_redirect(headers)}")
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding and hasattr(headers, "getall"):
        # One that is said several times is all of them.
        encoding = ", ".join(headers.getall("Content-Encoding")).strip().lower()
    if encoding not in ("", "identity"):
        raise CallFailed(
            "malformed", f"HTTP {status}: the reply is compressed ({encoding[:40]}), which was not requested"
        )
    length = headers.get("Content-Length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > most):
        raise too_large(most)


def _redirect(headers: Mapping[str, str]) -> str:
    """Names the host that the server points to. Nothing is sent there: whoever it is, the study does not name it."""
    try:
        host = urlsplit(headers.get("Location", "")).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    where = host[:100] or "another address on the same server"
    return f"the server redirects to {where}; redirects are not followed. If it is right, use it as base_url"


def _failure_of(error: Exception, seconds: float) -> CallFailed:
    """Returns what is recorded of an exchange without a reply, or with something that is none."""
    import aiohttp
    from aiohttp.http_exceptions import HttpProcessingError

    # Nothing is sent before there is a connection, and nothing that was not sent is billed.
    kind: FailureKind = "connection"
    cause: BaseException
    unsent, lasting = not _SENT.get([]), False
    match error:
        case TimeoutError():
            kind, said = "timeout", f"no reply within {seconds:g} s"
        case aiohttp.ClientHttpProxyError():
            said = f"the proxy did not connect: HTTP {error.status} {error.message}"
        case aiohttp.ClientConnectorError() | aiohttp.ClientConnectorCertificateError():
            cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error.certificate_error
            proxy = "the proxy " if isinstance(error, aiohttp.ClientProxyConnectionError) else ""
            said = f"cannot connect to {proxy}{error.host}:{error.port}: {type(cause).__name__}: {cause}"
        case aiohttp.ServerDisconnectedError():
            said = "the server closed the connection before it replied"
        case aiohttp.ClientResponseError() | HttpProcessingError():
            kind, said = "malformed", f"not a valid HTTP/1.1 reply: {error.message}"
            # Headers that are too long will be so again.
            lasting = "Got more than" in error.message
        case ValueError() | aiohttp.NonHttpUrlClientError():
            # A key with a line break in it, or another header that cannot be; or no address.
            kind, said, unsent = "rejected", f"never sent: {error}", True
        case _:
            cause = error.__cause__ or error
            said = f"{type(cause).__name__}: {cause}"
    return CallFailed(kind, said, turned_down=unsent, down=unsent and kind == "connection", lasting=lasting)


def _truncated(body: "aiohttp.StreamReader") -> CallFailed:
    said = f"truncated reply: the connection ended after {body.total_bytes:,} bytes"
    return CallFailed("malformed", said)


def too_large(most: int) -> CallFailed:
    return CallFailed("malformed", f"a reply of more than {most:,} bytes, the maximum for this request", lasting=True)


def status_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> CallFailed:
    """Returns the failure for a status other than 200.

    A request that the server turned down is not billed. Behind any other status it may have done the work.
    """
    detail = f"HTTP {status}: {quoted(raw)}"
    if status < 400:
        return CallFailed("malformed", f"invalid reply status: {detail}")
    retry_after = _seconds(headers.get("Retry-After"))
    if status == 429:
        return CallFailed("rate-limited", detail, retry_after=retry_after, busy=True, turned_down=True)
    if status == 400 and FILTERED.search(raw):
        # Azure refuses what its filter catches in a prompt, and may bill for having read it.
        return CallFailed("refused", detail)
    if status == 408 or status >= 500:
        busy = status in (503, 529)
        return CallFailed("server-error", detail, retry_after=retry_after, busy=busy, down=busy)
    return CallFailed("rejected", detail, turned_down=status >= 400)


def _seconds(header: str | None) -> float | None:
    """Reads Retry-After in seconds; a date is rare enough there to use our own backoff instead."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None
