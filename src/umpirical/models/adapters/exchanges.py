"""Exchanges with several addresses of one server: what batches take besides single calls.

The same rules as for single calls: capped, with a deadline, no redirect, cookie or compression. What is sent may be a
file, and what comes back may be many lines, which are read one at a time.
"""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, TYPE_CHECKING, Any

from umpirical.models.adapters.bodies import IDENTITY, check_head, read_body, read_json, too_large
from umpirical.models.adapters.posts import encoded, failure_of, open_session, status_failure
from umpirical.models.caller import CallFailed

if TYPE_CHECKING:
    import aiohttp

__all__ = ["Exchanges"]

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
            self._session = open_session(self._headers, self._timeout)
        try:
            async with self._session.request(
                method, f"{self._base}{path}", allow_redirects=False, timeout=timeout, **more
            ) as http:
                try:
                    if http.status != 200:
                        raise status_failure(http.status, await read_body(http, LARGEST_WORD), http.headers)
                    yield http
                except CallFailed:
                    http.close()
                    raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise failure_of(error, seconds) from None


async def _read(http: "aiohttp.ClientResponse") -> dict[str, Any]:
    return read_json(await read_body(http, LARGEST_WORD))


def _again(file: IO[bytes]) -> IO[bytes]:
    """Returns a file from its beginning, to be closed by whoever sends it: it may have to be sent again."""
    same = os.fdopen(os.dup(file.fileno()), "rb")
    same.seek(0)
    return same
