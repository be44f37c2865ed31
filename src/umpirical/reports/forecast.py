"""Forecasts how many units would settle a check if the rate stayed the same."""

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil, hypot, isclose, isfinite, sqrt

from scipy.special import ndtri

from umpirical.domain.measures import Estimate
from umpirical.stats.intervals import student

TWO_SIDED = float(ndtri(0.975))

POWER = float(ndtri(0.90))
"""Nine samples in ten of the size that is named settle the check."""

MOST_ITEMS = 10**9
"""If more than this would be needed, no number is enough."""

WHOLE = 1.0
"""A rate's whole scale, or one grade: bounds that no event puts further off than that are cut at the scale's end."""


def units_to_settle(value: float, threshold: float, *, bound: float, units: int, is_rate: bool) -> int | None:
    """Returns the units at which nine samples in ten settle `threshold`, if `value` is true; None if none do.

    `bound` is the interval's present end on the side of the threshold, over `units` units. A Wilson bound B of a rate p
    satisfies (p - B)² / (B (1 - B)) = z² · design effect / n, so the present bound gives the design effect. Further
    units are assumed to come as new tasks of the present size, which leaves it unchanged. Anything but a rate has a
    bound at a distance of 1/sqrt(n).

    >>> units_to_settle(5 / 60, 0.10, bound=0.180689, units=60, is_rate=True)
    3196
    >>> units_to_settle(1.0, 0.95, bound=0.838875, units=20, is_rate=True)
    73
    """
    now = _tightness(value, bound, is_rate=is_rate)
    if now is None:
        return None
    if is_rate:
        return settling_units(value, threshold, effect=units * now / TWO_SIDED**2, units=units)
    wanted = _tightness(value, threshold, is_rate=False)
    return _more_than(units, units * now / wanted * (1 + POWER / TWO_SIDED) ** 2) if wanted else None


def settling_units(
    value: float, threshold: float, *, effect: float, units: int, alpha: float = 0.05, power: float = 0.90
) -> int | None:
    """Returns the units at which samples settle `threshold` with this power, if the rate is `value`; None if none do.

    Not the number at which the interval of just this value would end at the threshold: half of all samples are on the
    wrong side of that. N = effect · [(z sqrt(L (1 - L)) + w sqrt(p (1 - p))) / (L - p)]², with z at 1 - alpha / 2,
    which leaves room for an exact bound, for the t of few clusters and for a value that is itself uncertain, and w at
    the power.
    """
    if not (0 < threshold < 1) or value == threshold:
        return None
    z = float(ndtri(1 - alpha / 2))
    spread = z * sqrt(threshold * (1 - threshold)) + float(ndtri(power)) * sqrt(value * (1 - value))
    return _more_than(units, effect * (spread / (threshold - value)) ** 2)


def _more_than(units: int, needed: float) -> int | None:
    return max(units + 1, ceil(needed)) if isfinite(needed) and needed <= MOST_ITEMS else None


def items_to_settle(estimate: Estimate, threshold: float) -> int | None:
    """Returns the items at which the interval of rises minus falls no longer contains `threshold`; None if none do.

    The interval is that of `stats.differences.signed_mean`. If much moves, its bounds narrow with the root of the
    number of items; if nothing moves, with the number itself. How much moves is read off the bounds, and the interval
    is recomputed for more items in proportionally more clusters, with Student's t for those. This is exact if moves go
    one way or there are none, and each item is its own cluster. If they go both ways they are assumed to be of size 1,
    and a few larger ones make this ask for up to twice what is needed. They are assumed to be so, too, where the bounds
    are cut at the ends of the scale, as those of six clusters or fewer may be.
    """
    ends = estimate.interval
    if ends is None or ends.low is None or ends.high is None:
        return None
    value, items = estimate.value, estimate.denominator
    side = 1.0 if threshold > value else -1.0
    room, present = abs(threshold - value), ends.high - value if side > 0 else value - ends.low
    if min(room, present) <= 0:
        return None

    def reach_of(number: int) -> float:
        """Returns how far a bound is from 0 if nothing moved."""
        return student(max(2, round(estimate.clusters * number / items)), ends.level) ** 2 / number

    now = reach_of(items)
    moves = _moves(side * value, towards=present, away=ends.high - ends.low - present, reach=now)
    # If bounds are cut at the end of the scale, their distance says nothing: that of the assumed moves does.
    factor = 1.0 if moves.cut else present / moves.distance(now)

    def holds(number: int) -> bool:
        return factor * moves.distance(reach_of(number)) > room

    if holds(MOST_ITEMS):
        return None
    return bisect_left(range(MOST_ITEMS), 0, lo=items + 1, key=lambda number: -int(holds(number)))


@dataclass(frozen=True, slots=True)
class _Moves:
    """How much moves towards the threshold and away from it, on average over all items, and how large a move is."""

    towards: float
    away: float
    size_towards: float = 1.0
    size_away: float = 1.0
    cut: bool = False
    """Whether the present bounds are the ends of the scale, so that nothing could be read off them."""

    def distance(self, reach: float) -> float:
        """Returns the distance from the value to its bound, from the bounds of moves towards it and away from it."""
        rise, fall = reach * self.size_towards, reach * self.size_away
        return hypot(
            rise / 2 + sqrt(rise * self.towards + rise**2 / 4), sqrt(fall * self.away + fall**2 / 4) - fall / 2
        )


def _moves(value: float, *, towards: float, away: float, reach: float) -> _Moves:
    """Infers the moves from the present bounds, `towards` and `away`; `value` is positive if it lies towards."""
    far, near = (towards, away) if value > 0 else (away, towards)
    if value:
        # Moves in one direction have their own bounds; no known moves in the other direction have the bounds of 0.
        size = far**2 / (abs(value) + far) / reach
        against = _Moves(0.0, abs(value), size_away=size)
        if isclose(against.distance(reach), near, rel_tol=1e-6):
            return against if value < 0 else _Moves(value, 0.0, size_towards=size)
    if towards < reach and reach > WHOLE:
        return _Moves(max(value, 0.0), max(-value, 0.0), cut=True)
    moved = max(abs(value), (far**2 + near**2) / (2 * reach) - reach)
    return _Moves((moved + value) / 2, (moved - value) / 2)


def _tightness(value: float, bound: float, *, is_rate: bool) -> float | None:
    distance = (value - bound) ** 2
    if not is_rate:
        return distance
    return distance / (bound * (1 - bound)) if 0 < bound < 1 else None
