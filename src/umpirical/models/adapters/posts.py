"""Sends JSON to a server whose replies may be anything, and returns their bodies."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from umpirical.models.adapters.bodies import IDENTITY, quoted, read_body
from umpirical.models.caller import CallFailed

if TYPE_CHECKING:
    import aiohttp

__all__ = ["JsonPosts", "encoded", "failure_of", "open_session", "status_failure"]

LONGEST_HEADER = 8190
"""Bytes of a status line, of a header's name and of its value: what web servers themselves allow."""

MOST_HEADERS = 128


class JsonPosts:
    """One address, over persistent connections: capped, with a deadline, no redirect, cookie or compression."""

    def __init__(self, url: str, *, headers: Mapping[str, str], timeout: float) -> None:
        """`timeout` is in seconds, for one attempt."""
        self._url = url
        named = {} if "content-type" in map(str.lower, headers) else {"Content-Type": "application/json"}
        self._headers = {**named, **headers, **IDENTITY}
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def send(self, body: Any, trial_id: str, *, most: int) -> bytes:  # noqa: ANN401  # JSON
        """Returns the body of the reply. Raises CallFailed for all but a reply of status 200 within `most` bytes."""
        import aiohttp

        try:
            # The id allows a server's log to be matched with ours; it says nothing about the stimulus.
            headers = {"X-Client-Request-Id": trial_id}
            session, data = self._open(), encoded(body)
            async with session.post(self._url, data=data, headers=headers, allow_redirects=False) as http:
                raw = await read_body(http, most)
                if http.status != 200:
                    raise status_failure(http.status, raw, http.headers)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise failure_of(error, self._timeout) from None
        return raw

    def _open(self) -> "aiohttp.ClientSession":
        if self._session is None:
            self._session = open_session(self._headers, self._timeout)
        return self._session


def open_session(headers: Mapping[str, str], timeout: float) -> "aiohttp.ClientSession":
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
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
        max_headers=MOST_HEADERS,
    )


def failure_of(error: Exception, timeout: float) -> CallFailed:
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


def encoded(body: Any) -> bytes:  # noqa: ANN401  # JSON
    """Returns a body as JSON in UTF-8. A lone surrogate, which that cannot spell, is escaped."""
    try:
        return to_json(body)
    except ValueError:
        return json.dumps(body).encode()


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


def status_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> CallFailed:
    """Returns the failure for a status other than 200.

    A request that the server turned down is not billed. Behind any other status it may have done the work.
    """
    detail = f"HTTP {status}: {quoted(raw)}"
    if status < 400:
        return CallFailed("malformed", f"not the status of an answer: {detail}")
    retry_after = _seconds(headers.get("Retry-After"))
    if status == 429:
        return CallFailed("rate-limited", detail, retry_after=retry_after, busy=True, turned_down=True)
    if status == 408 or status >= 500:
        busy = status in (503, 529)
        return CallFailed("server-error", detail, retry_after=retry_after, busy=busy)
    return CallFailed("rejected", detail, turned_down=status >= 400)


def _seconds(header: str | None) -> float | None:
    """Reads Retry-After in seconds; a date is rare enough there to use our own backoff instead."""
    try:
        return None if header is None else max(0.0, float(header))
    except ValueError:
        return None
