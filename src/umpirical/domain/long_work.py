"""Progress of slow work that calls no model. A listener is told after each step."""

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("LISTENER", default=None)
"""Is told after each step; None if nobody listens."""


def counted(steps: Iterable[T], what: str) -> Iterator[T]:
    """The same, with each counted aloud."""
    for number, step in enumerate(steps, 1):
        if listener := LISTENER.get():
            listener(f"{what}: {number:,}")
        yield step
