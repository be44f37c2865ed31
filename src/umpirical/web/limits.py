"""How much one browser, or one person, can ask of the server at once."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST_FORM = 4_000_000
"""Bytes of a request's body: ample for the longest transcript that anyone edits by hand."""

LONGEST_SHORT_FORM = 4_000
"""Bytes of a body from someone who is not signed in, who has nothing to send but a click."""

LONGEST_HEAD = 32_000
"""Bytes of a request's address and headers."""

HEAD_SECONDS = 20.0
"""Until the head of a request has to be complete."""

BODY_SECONDS = 120.0
"""Until the whole of a request has to be there."""

MOST_CONNECTIONS = 2_000
"""Open connections. One more takes the place of the one that has waited longest for its client to go on."""

MOST_ACCEPTED = 64
"""Connections that are accepted in one go, so that a request which came with one is seen before many more are."""

MOST_KNOCKING = 1024
"""Connections that the system keeps for us until we accept them."""

MOST_STREAMS = 12
"""Event streams of one session. A browser opens one for each tab, and no more than six."""

MOST_AT_ONCE = 8
"""Requests of one session that are being answered. A page sends one at a time."""


class AtOnce:
    """Counts what each session has under way, so that nobody takes it all."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._under_way: Counter[str] = Counter()

    def is_full(self, session: str) -> bool:
        """Whether the session has as many as it may."""
        return bool(session) and self._under_way[session] >= self.most

    @contextmanager
    def one_more(self, session: str) -> Iterator[bool]:
        """Whether the session may have one more; if so, it is counted until this is left. Nobody's are not counted."""
        if self.is_full(session):
            yield False
            return
        self._under_way[session] += 1
        try:
            yield True
        finally:
            self._under_way[session] -= 1
            if not self._under_way[session]:
                del self._under_way[session]
