"""Which tests are heavy, so that a parallel run starts with them and a quick one leaves them out."""

from collections.abc import Iterable

import pytest

__all__ = ["HEAVY", "group_of", "is_heavy", "longest_first"]

HEAVY: dict[str, int] = {}
"""A test, a test file or a folder, and roughly how many seconds of CPU time its tests take."""

GROUPS = {
    # The server takes all processors that it can get: two of them at a time would be in each other's way.
    "tests/llm": "the real model",
    "tests/docs/test_readme.py": "the demo",
    "tests/study/test_demo.py": "the demo",
}
"""Groups of more than one file."""

NEEDY = frozenset({"browser", "llm"})
"""Marks of tests that need more than Python."""


def is_heavy(item: pytest.Item) -> bool:
    """Whether a test needs a browser, a database, a model server or more than a few seconds."""
    needs = any(item.get_closest_marker(name) for name in NEEDY)
    return needs or "postgresql" in _parameters(item) or any(_within(item.nodeid, name) for name in HEAVY)


def longest_first(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests by their groups, longest group first; what is not known to be long keeps its order.

    A long group that started last would keep one worker busy while the others have nothing left to do.
    """
    weights: dict[str, int] = {}
    for name, seconds in HEAVY.items():
        weights[group_of(name)] = weights.get(group_of(name), 0) + seconds
    return sorted(items, key=lambda item: -weights.get(group_of(item.nodeid), 0))


def group_of(nodeid: str) -> str:
    """Tests of one group run on the same worker: those of a file, whose fixtures would else be made on every worker."""
    return next((group for name, group in GROUPS.items() if _within(nodeid, name)), nodeid.partition("::")[0])


def _within(nodeid: str, name: str) -> bool:
    return nodeid == name or nodeid.startswith((f"{name}::", f"{name}/", f"{name}["))


def _parameters(item: pytest.Item) -> list[object]:
    call = getattr(item, "callspec", None)
    return list(call.params.values()) if call else []
