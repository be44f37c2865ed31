"""What a judge of a test was asked, noted apart from the judge: a judge is known by what it holds, and this changes."""

import threading
from collections import Counter


class Calls:
    """Safe to note in from many threads."""

    def __init__(self) -> None:
        self._lock, self._shown = threading.Lock(), Counter[tuple[str, ...]]()

    def note(self, *shown: str) -> int:
        """Counts a call, and returns how many there were before it."""
        with self._lock:
            before = self._shown.total()
            self._shown[shown] += 1
            return before

    def total(self) -> int:
        with self._lock:
            return self._shown.total()

    def different(self) -> int:
        """Calls that showed something else than all others."""
        with self._lock:
            return len(self._shown)
