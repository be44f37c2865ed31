"""Sums by task, for measures that are no plain rate."""

from collections.abc import Iterable

__all__ = ["by_task"]


def by_task(counts: Iterable[tuple[str, float, float]]) -> tuple[list[float], list[float]]:
    """(task, numerator, denominator) to the numerators and the denominators of the tasks that have a denominator."""
    sums: dict[str, tuple[float, float]] = {}
    for task_id, numerator, denominator in counts:
        y, n = sums.get(task_id, (0.0, 0.0))
        sums[task_id] = (y + numerator, n + denominator)
    used = [sums[task_id] for task_id in sorted(sums) if sums[task_id][1] > 0]
    return [y for y, _ in used], [n for _, n in used]
