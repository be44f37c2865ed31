"""A threshold on a rising curve: isotonic fit, interpolated crossing, censoring, interval by test inversion."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from umpirical.stats.intervals import combined_wilson

Floats = NDArray[np.float64]

TOLERANCE = 1e-12
"""A fit that reaches the target up to rounding has reached it."""

GRID_PER_STEP = 50
"""Number of points per ladder step at which the interval's test is made."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Where a fitted curve first reaches the target."""

    value: float
    censoring: Literal["none", "left", "right"]
    """`left`: already reached at the first step; `right`: not reached at the last."""


def isotonic_fit(values: ArrayLike, weights: ArrayLike) -> Floats:
    """Non-decreasing least-squares fit, weighted (pool adjacent violators)."""
    from scipy.optimize import isotonic_regression  # its import takes half a second, and no other command needs it

    fit: Floats = isotonic_regression(np.asarray(values, dtype=float), weights=np.asarray(weights, dtype=float)).x
    return fit


def threshold(steps: ArrayLike, fit: ArrayLike, *, target: float = 0.75) -> Threshold:
    """The smallest step at which a non-decreasing `fit` reaches `target`, interpolated linearly."""
    x, y = np.asarray(steps, dtype=float), np.asarray(fit, dtype=float)
    reached = np.flatnonzero(y >= target - TOLERANCE)
    if len(reached) == 0:
        return Threshold(float(x[-1]), "right")
    first = int(reached[0])
    if first == 0:
        return Threshold(float(x[0]), "left")
    share = min(1.0, (target - y[first - 1]) / (y[first] - y[first - 1]))
    return Threshold(float(x[first - 1] + share * (x[first] - x[first - 1])), "none")


def threshold_interval(
    steps: ArrayLike, numerators: ArrayLike, denominators: ArrayLike, *, target: float = 0.75, level: float = 0.95
) -> tuple[float | None, float | None]:
    """Returns the range of steps at which the curve cannot be distinguished from `target`; None on an open side.

    Rows of `numerators` and `denominators` are clusters, columns are steps. At each point between two steps the
    cluster-Wilson interval of the interpolated rate is tested for containing `target`. A percentile bootstrap of the
    threshold covers .89 with ten tasks; inverting the test keeps the level, because the rate at the true threshold
    is the target itself.
    """
    x = np.asarray(steps, dtype=float)
    y, n = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    below, above = [], []
    for position in np.linspace(0, len(x) - 1, (len(x) - 1) * GRID_PER_STEP + 1):
        left = min(int(position), len(x) - 2)
        share = position - left
        columns = slice(left, left + 2)
        low, high = combined_wilson(y[:, columns], n[:, columns], [1 - share, share], level=level)
        point = float(x[left] + share * (x[left + 1] - x[left]))
        if high < target:
            below.append(point)
        elif low > target:
            above.append(point)
    # The curve rises: it is certainly below the target up to `start`, and certainly above it from `end` on.
    start = max(below, default=None)
    end = min((point for point in above if start is None or point > start), default=None)
    return start, end
