"""Sends JSON to a server whose replies may be anything, and returns their bodies."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from umpirical.models.adapters.bodies import IDENTITY, quoted, read_body
from umpirical.models.caller import CallFailed

if TYPE_CHECKING:
    import aiohttp

__all__ = ["JsonPosts"]

LONGEST_HEADER = 8190
"""Bytes of a status line, of a header's name and of its value: what web servers themselves allow."""

MOST_HEADERS = 128


class JsonPosts:
    """One address, over persistent connections: capped, with a deadline, no redirect, cookie or compression."""

    def __init__(self, url: str, *, headers: Mapping[str, str], timeout: float) -> None:
        """`timeout` is in seconds, for one attempt."""
        self._url = url
        self._headers = {**headers, **IDENTITY}
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
            async with self._open().post(self._url, json=body, headers=headers, allow_redirects=False) as http:
                raw = await read_body(http, most)
                if http.status != 200:
                    raise _status_failure(http.status, raw, http.headers)
        except TimeoutError:
            raise CallFailed("timeout", f"no answer within {self._timeout:g} s") from None
        except aiohttp.ClientPayloadError as error:
            raise CallFailed("malformed", f"truncated reply: {error}") from None
        except (aiohttp.ClientError, OSError) as error:
            # Nothing is sent before there is a connection, and nothing that was not sent is billed.
            unsent = isinstance(error, aiohttp.ClientConnectorError)
            raise CallFailed("connection", f"{type(error).__name__}: {error}", turned_down=unsent) from None
        except ValueError as error:
            # A key with a line break in it, or another header that cannot be.
            raise CallFailed("rejected", f"never sent: {error}", turned_down=True) from None
        return raw

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            # The pace limits concurrency; the pool must not become a second, hidden limit.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                headers=self._headers,
                auto_decompress=False,
                # No answer may depend on the one before.
                cookie_jar=aiohttp.DummyCookieJar(),
                request_class=_answering_nobody_else(),
                max_line_size=LONGEST_HEADER,
                max_field_size=LONGEST_HEADER,
                max_headers=MOST_HEADERS,
            )
        return self._session


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


def _status_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> CallFailed:
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
