"""Who may look: a link that works once, and the session that it opens. Both are gone when the server ends."""

import secrets
import threading
from hashlib import sha256
from hmac import compare_digest

TOKEN_BYTES = 32
"""256 bits, which nobody guesses."""


class Door:
    """One link, and the session of whoever came by it. What is kept are digests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._link = ""
        self._session = ""

    def link(self) -> str:
        """Returns the token of the one link."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._link = _digest(token)
        return token

    def enter(self, token: str) -> str | None:
        """Uses up the link, and returns a session; None if it is another link, or was used before."""
        with self._lock:
            if not self._link or not compare_digest(_digest(token), self._link):
                return None
            session = secrets.token_urlsafe(TOKEN_BYTES)
            self._link, self._session = "", _digest(session)
            return session

    def knows(self, session: str) -> bool:
        return bool(self._session) and compare_digest(_digest(session), self._session)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
