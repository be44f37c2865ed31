"""Exchanges with several addresses of one server: what batches take besides single calls.

The same rules as for single calls: capped, with a deadline, no redirect, cookie or compression. What is sent may be a
file, and what comes back may be many lines, which are read one at a time.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

from umpirical.models.adapters.bodies import IDENTITY, check_head, read_json, too_large
from umpirical.models.adapters.channels import LONGEST_VALUE, MOST_HEADERS
from umpirical.models.adapters.posts import encoded, status_failure
from umpirical.models.caller import CallFailed

if TYPE_CHECKING:
    import aiohttp

LARGEST_WORD = 2**24
"""Bytes of a reply that says something about batches. A page of a hundred of them takes 200 kB."""

TRANSFER_SECONDS = 3600.0
"""For one exchange: files of 256 MB go over slow lines, too."""


class Exchanges:
    """One server, over persistent connections. Everything raises CallFailed, and nothing else."""

    def __init__(self, base_url: str, *, headers: Mapping[str, str], timeout: float) -> None:
        """`timeout` is in seconds, for an exchange in which no file is sent or received."""
        self._base = base_url.rstrip("/")
        self._headers = {**headers, **IDENTITY}
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Returns the JSON object at an address."""
        async with self._reply("GET", path, self._timeout, params=query or {}) as http:
            return await _read(http)

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sends JSON, and returns the JSON object that comes back."""
        headers = {"Content-Type": "application/json"}
        async with self._reply("POST", path, self._timeout, data=encoded(body), headers=headers) as http:
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
        if self._session is not None:
            await self._session.close()
            self._session = None

    @asynccontextmanager
    async def _reply(self, method: str, path: str, seconds: float, **more: Any) -> AsyncIterator[Any]:  # noqa: ANN401
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=seconds)
        if self._session is None:
            self._session = _open_session(self._headers, self._timeout)
        try:
            async with self._session.request(
                method, f"{self._base}{path}", allow_redirects=False, timeout=timeout, **more
            ) as http:
                try:
                    if http.status != 200:
                        raise status_failure(http.status, await _read_body(http, LARGEST_WORD), http.headers)
                    yield http
                except CallFailed:
                    http.close()
                    raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failure_of(error, seconds) from None


async def _read(http: "aiohttp.ClientResponse") -> dict[str, Any]:
    return read_json(await _read_body(http, LARGEST_WORD))


def _again(file: IO[bytes]) -> IO[bytes]:
    """Returns a file from its beginning, to be closed by whoever sends it: it may have to be sent again."""
    same = os.fdopen(os.dup(file.fileno()), "rb")
    same.seek(0)
    return same


async def _read_body(http: "aiohttp.ClientResponse", most: int) -> bytes:
    """Returns the body. Raises CallFailed, and closes the connection, once it is larger than `most` bytes."""
    try:
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
    except CallFailed:
        # Otherwise the rest would be read before the connection is used again.
        http.close()
        raise
    return bytes(whole)


def _open_session(headers: Mapping[str, str], timeout: float) -> "aiohttp.ClientSession":
    """Returns a session for one server. `timeout` is in seconds, for one exchange."""
    import aiohttp

    # The pace limits concurrency; the pool must not become a second, hidden limit.
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=timeout),
        headers=headers,
        auto_decompress=False,
        # No answer may depend on the one before.
        cookie_jar=aiohttp.DummyCookieJar(),
        request_class=_answering_nobody_else(),
        max_line_size=LONGEST_VALUE,
        max_field_size=LONGEST_VALUE,
        max_headers=MOST_HEADERS,
    )


def _failure_of(error: Exception, timeout: float) -> CallFailed:
    """Returns what is recorded of an exchange without a reply, or with half of one."""
    import aiohttp

    if isinstance(error, TimeoutError):
        return CallFailed("timeout", f"no answer within {timeout:g} s")
    if isinstance(error, aiohttp.ClientPayloadError):
        return CallFailed("malformed", f"truncated reply: {error}")
    if isinstance(error, aiohttp.ClientError | OSError):
        # Nothing is sent before there is a connection, and nothing that was not sent is billed.
        unsent = isinstance(error, aiohttp.ClientConnectorError)
        return CallFailed("connection", f"{type(error).__name__}: {error}", turned_down=unsent)
    # A key with a line break in it, or another header that cannot be.
    return CallFailed("rejected", f"never sent: {error}", turned_down=True)


@lru_cache(maxsize=1)
def _answering_nobody_else() -> "type[aiohttp.ClientRequest]":
    """Returns the class of requests that are sent only over connections on which nothing has come unasked.

    A server that once sends a reply too many would otherwise answer every later question with the one before.
    """
    import aiohttp

    class Request(aiohttp.ClientRequest):
        async def send(self, conn: "aiohttp.connector.Connection") -> aiohttp.ClientResponse:
            if conn.protocol is not None and conn.protocol.should_close:
                conn.close()
                raise aiohttp.ServerDisconnectedError("the server sent something that was not asked for")
            return await super().send(conn)

    return Request
