"""Sends JSON to a server whose replies may be anything, and returns their bodies."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

from umpirical.models.adapters.bodies import IDENTITY, quoted
from umpirical.models.adapters.channels import Channels
from umpirical.models.caller import CallFailed


class JsonPosts:
    """One address, over persistent connections: capped, with a deadline, no redirect, cookie or compression."""

    def __init__(self, url: str, *, headers: Mapping[str, str], timeout: float) -> None:
        """`timeout` is in seconds, for one attempt."""
        named = {} if "content-type" in map(str.lower, headers) else {"Content-Type": "application/json"}
        self._channels = Channels(url, headers={**named, **headers, **IDENTITY}, timeout=timeout)

    async def close(self) -> None:
        await self._channels.close()

    async def send(self, body: Any, trial_id: str, *, most: int) -> bytes:  # noqa: ANN401  # JSON
        """Returns the body of the reply. Raises CallFailed for all but a reply of status 200 within `most` bytes."""
        answer = await self._channels.post(encoded(body), trial_id, most=most)
        if answer.status != 200:
            raise status_failure(answer.status, answer.body, answer.headers)
        return answer.body


def encoded(body: Any) -> bytes:  # noqa: ANN401  # JSON
    """Returns a body as JSON in UTF-8. A lone surrogate, which that cannot spell, is escaped."""
    try:
        return to_json(body)
    except ValueError:
        return json.dumps(body).encode()


def status_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> CallFailed:
    """Returns the failure for a status other than 200.

    A request that the server turned down is not billed. Behind any other status it may have done the work.
    """
    detail = f"HTTP {status}: {quoted(raw)}"
    if status < 400:
        return CallFailed("malformed", f"not the status of an answer: {detail}")
    retry_after = _seconds(headers.get("retry-after"))
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
