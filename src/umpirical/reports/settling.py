"""How many units would settle a limit, if the rate stayed what it is."""

from math import ceil, isfinite

__all__ = ["units_to_settle"]


def units_to_settle(value: float, limit: float, *, bound: float, units: int, is_rate: bool) -> int | None:
    """Units at which the interval of `value` no longer holds `limit`; None if no number of them is enough.

    `bound` is the interval's present end on the side of the limit, over `units` units. A Wilson bound B of a rate p
    satisfies (p - B)² / (B (1 - B)) = z² · design effect / n. So the present bound tells z² times the design effect,
    whatever they are, and the limit tells how small that over n has to be. The further units are taken to come as new
    tasks of the present size, which leaves the design effect as it is; Student's t would shrink a little too, so with
    few tasks this asks for somewhat more than needed. What is no rate has a bound at a distance of 1/sqrt(n).

    >>> units_to_settle(5 / 60, 0.10, bound=0.180689, units=60, is_rate=True)
    1245
    >>> units_to_settle(1.0, 0.95, bound=0.838875, units=20, is_rate=True)
    73
    """
    now, wanted = _tightness(value, bound, is_rate=is_rate), _tightness(value, limit, is_rate=is_rate)
    if now is None or not wanted:
        return None
    needed = units * now / wanted
    return max(units + 1, ceil(needed)) if isfinite(needed) else None


def _tightness(value: float, bound: float, *, is_rate: bool) -> float | None:
    distance = (value - bound) ** 2
    if not is_rate:
        return distance
    return distance / (bound * (1 - bound)) if 0 < bound < 1 else None
