"""Bounds what a provider's HTTP client reads, as far as its package lets us.

OpenAI's package, Anthropic's, Groq's and all that are made like them have an HTTP client that can be told not to follow
redirects, and whose replies can be looked at before they are read. With any other package (Google's, Mistral's,
Amazon's, and models that run in this process) only the deadline and what is recorded are bounded.
"""

from collections.abc import AsyncIterator
from contextvars import ContextVar
from typing import Any

from umpirical.models.adapters.exchanges import IDENTITY, check_head, too_large
from umpirical.models.recording import LARGEST

MOST_BYTES: ContextVar[int] = ContextVar("umpirical_most_bytes", default=LARGEST)
"""The most bytes of a reply, set for each call. A batch answers many calls in one reply: the default is for those."""


def bound(client: Any) -> bool:  # noqa: ANN401  # of one provider's package or another
    """Bounds the replies to a provider's client. Returns whether its HTTP client could be told to."""
    http: Any = getattr(client, "_client", None)
    if not (hasattr(http, "event_hooks") and hasattr(http, "follow_redirects")):
        return False
    http.follow_redirects = False
    http.headers.update(IDENTITY)
    hooks = http.event_hooks
    http.event_hooks = {**hooks, "response": [*hooks.get("response", ()), _check]}
    return True


async def _check(response: Any) -> None:  # noqa: ANN401  # of one version of httpx or another
    """Refuses a reply before its body is read, or has it refused while it is read."""
    most = MOST_BYTES.get()
    check_head(response.status_code, response.headers, most)
    # The client insists on a stream of its own kind.
    kind = next(base for base in type(response.stream).__mro__ if base.__name__ == "AsyncByteStream")
    response.stream = type("Bounded", (_Bounded, kind), {})(response.stream, most)


class _Bounded:
    """A stream that ends with CallFailed once it is longer than `most` bytes."""

    def __init__(self, stream: Any, most: int) -> None:  # noqa: ANN401  # of one version of httpx or another
        self._stream, self._most = stream, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise too_large(self._most)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
