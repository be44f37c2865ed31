"""A cache of what was computed from texts, since each text is compared with many others."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class TextCache(Generic[T]):
    """A function of a text that keeps its results, up to a total size.

    Texts are compared with the same others again and again, in the same order. If not all fit, dropping the one used
    longest ago would drop each just before it is needed. So the newest gives way: the others stay, and only what does
    not fit is computed again.
    """

    def __init__(self, compute: Callable[[str], T], *, size: Callable[[T], int], most: int) -> None:
        """`size` gives the bytes of a result, and `most` is the limit for all results together."""
        self._compute = compute
        self._size = size
        self._most = most
        self._held: dict[str, T] = {}
        self._bytes = 0

    def __call__(self, text: str) -> T:
        found = self._held.get(text)
        return self._kept(text) if found is None else found

    @property
    def bytes(self) -> int:
        """The size of everything that is kept."""
        return self._bytes

    def _kept(self, text: str) -> T:
        result = self._compute(text)
        size = self._size(result)
        if size > self._most:
            return result
        while self._held and self._bytes + size > self._most:
            _, dropped = self._held.popitem()
            self._bytes -= self._size(dropped)
        self._held[text] = result
        self._bytes += size
        return result
