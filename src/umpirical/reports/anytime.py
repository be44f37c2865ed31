"""What holds at whatever point a run stops: the bounds and intervals of its rates."""

from dataclasses import replace
from math import ceil
from typing import Literal

from umpirical.domain.measures import Estimate, Interval, Result
from umpirical.measures.catalogue import Scale
from umpirical.stats.sequential import Side, anytime_bound, settling_factor

METHOD = "confidence sequence over task families"

LEVEL = 0.95


def at_any_look(result: Result, scale: Scale) -> Result:
    """Returns a rate with an interval that holds at whatever point the run stops; anything else as it is."""
    if scale != "rate" or not isinstance(result, Estimate) or not result.per_task:
        return result
    tail = (1 - LEVEL) / 2
    low, high = (bound_at_any_look(result, side, alpha=tail) for side in ("low", "high"))
    return replace(result, interval=Interval(low, high, level=LEVEL, method=METHOD), planning_interval=None)


def without_tasks(result: Result) -> Result:
    """Returns a result of a run whose size was fixed: no bound of it looks at single tasks."""
    return replace(result, per_task=()) if isinstance(result, Estimate) and result.per_task else result


def bound_at_any_look(estimate: Estimate, side: Literal["low", "high"], *, alpha: float, missing: int = 0) -> float:
    """Returns the bound that the true rate is beyond with an error of at most `alpha`, however often one looks.

    Each of `missing` units counts towards `side`, as a task of its own: that moves the bound furthest. Units that may
    be wrong together count as one.
    """
    hits, units = _counts(estimate, float(side == "high"), missing)
    return anytime_bound(hits, units, side, alpha)


def units_at_any_look(estimate: Estimate, threshold: float, side: Side, *, alpha: float) -> int | None:
    """Returns the units at which a rate is shown to be on this side of a threshold, if it stays as it is."""
    hits, units = _counts(estimate, 0.0, 0)
    factor = settling_factor(hits, units, threshold, side, alpha)
    return None if factor is None else ceil(factor * estimate.denominator)


def _counts(estimate: Estimate, hit: float, missing: int) -> tuple[list[float], list[float]]:
    """Returns the hits and the units of each task."""
    joint = estimate.joint or 1.0
    rows = [row for hits, units, tasks in estimate.per_task for row in [(hits / joint, units / joint)] * tasks]
    rows += [(hit, 1.0)] * missing
    return [hits for hits, _ in rows], [units for _, units in rows]
