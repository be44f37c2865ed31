"""Stress tests on the user's own data: what their measures have in common."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from umpirical.domain.measures import Measure, Result
from umpirical.domain.scales import GradeScale

__all__ = ["NO_ORDER", "ONE_CLUSTER", "ORIGINAL", "by_part", "kept_in", "part_order", "span"]

NO_ORDER = "the scale has no order"

ONE_CLUSTER = "only one cluster of items was measured: an interval needs at least two"

ORIGINAL = "original"
"""The part of the design that no stress test has changed."""


class _Part(Protocol):
    @property
    def test(self) -> str: ...

    @property
    def group(self) -> str: ...


_Tally = TypeVar("_Tally", bound=_Part)


def by_part(
    name: str, tallies: Iterable[_Tally], arm: str, result: Callable[[Sequence[_Tally]], Result]
) -> list[Measure]:
    """One measure for every test and group there is; within a test all items first, then the user's groups."""
    parts: dict[tuple[str, str], list[_Tally]] = {}
    for tally in tallies:
        parts.setdefault((tally.test, tally.group), []).append(tally)
    return [
        Measure(name, result(parts[test, group]), arm, test, group)
        for test, group in sorted(parts, key=lambda part: part_order(*part))
    ]


def part_order(test: str, group: str) -> tuple[bool, str, str]:
    """The originals before every test."""
    return test != ORIGINAL, test, group


def span(scale: GradeScale) -> float:
    """Steps from the least grade of a scale to its highest."""
    if scale.low is not None and scale.high is not None:
        return scale.high - scale.low
    return float(len(scale.labels) - 1)


def kept_in(low: float, high: float, *, least: float, most: float) -> tuple[float, float]:
    """Limits that do not pass what is possible."""
    return max(low, least), min(high, most)
