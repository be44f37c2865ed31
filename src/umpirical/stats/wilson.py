"""The Wilson score interval of a proportion."""

from math import sqrt
from typing import NamedTuple

from scipy.special import ndtri


class Bounds(NamedTuple):
    """An interval's limits."""

    low: float
    high: float


def wilson(numerator: float, denominator: float, *, level: float = 0.95, critical: float | None = None) -> Bounds:
    """Wilson score interval of `numerator / denominator`, clipped to [0, 1].

    `denominator` may be an effective sample size, so neither argument needs to be whole. `critical` replaces the
    normal quantile, as a cluster-aware interval does with Student's t.

    Reference: E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    >>> low, high = wilson(80, 120)
    >>> round(low, 4), round(high, 4)
    (0.5783, 0.7447)
    """
    if denominator <= 0:
        raise ValueError(f"a proportion needs a positive denominator, got {denominator}")
    z = float(ndtri(0.5 + level / 2)) if critical is None else critical
    p = numerator / denominator
    shrink = 1 + z * z / denominator
    centre = (p + z * z / (2 * denominator)) / shrink
    half = z * sqrt(p * (1 - p) / denominator + z * z / (4 * denominator * denominator)) / shrink
    # At 0 and 1 the limit is exact; rounding must not leave 1e-18 there.
    low = 0.0 if numerator <= 0 else max(0.0, centre - half)
    high = 1.0 if numerator >= denominator else min(1.0, centre + half)
    return Bounds(low, high)
