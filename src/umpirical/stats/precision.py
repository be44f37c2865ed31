"""How precise a rate will be, before anything is measured, and the smallest difference that would be seen."""

from bisect import bisect_left
from math import ceil, sqrt

from scipy.special import betaincinv, nctdtrinc

from umpirical.stats.intervals import exact_high, student


def half_width(p: float, *, clusters: int, per_cluster: float, correlation: float, level: float = 0.95) -> float:
    """Returns the half-width to expect of a cluster-aware interval of a rate `p`.

    Formula: t(G - 1) · sqrt(p (1 - p) (1 + (m - 1) ρ) / (G m)), for G clusters of m units with correlation ρ within
    their cluster. `per_cluster` may be an average. At least two clusters are needed.

    >>> round(half_width(0.5, clusters=10, per_cluster=6, correlation=0.0), 3)
    0.146
    """
    _check(p, correlation)
    if clusters < 2 or per_cluster <= 0:
        raise ValueError(f"expected at least two clusters with units in them, got {clusters} of {per_cluster}")
    variance = p * (1 - p) * (1 + (per_cluster - 1) * correlation) / per_cluster
    return student(clusters, level) * sqrt(variance / clusters)


def clusters_needed(p: float, width: float, *, per_cluster: float, correlation: float, level: float = 0.95) -> int:
    """Returns the fewest clusters of `per_cluster` units for a half-width of at most `width`. Some number is enough."""
    _check(p, correlation)
    if width <= 0:
        raise ValueError(f"expected a positive half-width, got {width:g}")

    def enough(clusters: int) -> bool:
        found = half_width(p, clusters=clusters, per_cluster=per_cluster, correlation=correlation, level=level)
        return found <= width + 1e-12

    high = 2
    while not enough(high):
        high *= 2
    low = 2 if high == 2 else high // 2 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def errors_to_see(clusters: int, *, power: float = 0.80, level: float = 0.95) -> float:
    """Returns how many standard errors a true difference has to measure to be shown with this power.

    Shown: the interval with Student's t of G - 1 degrees of freedom does not contain 0. The t statistic then has a
    noncentral distribution, and this is the noncentrality at which it exceeds its critical value with that power. The
    chance of being shown on the wrong side is left out.

    >>> round(errors_to_see(10), 3), round(errors_to_see(10_000), 3)
    (3.15, 2.802)
    """
    if clusters < 2:
        raise ValueError(f"expected at least two clusters, got {clusters}")
    return float(nctdtrinc(clusters - 1, 1 - power, student(clusters, level)))


def smallest_rate_difference(
    limit: float, *, above: bool, clusters: int, effective: float, power: float = 0.80
) -> float | None:
    """Returns how far a true rate has to be from `limit` for its 95 % interval to exclude it with this power.

    A Wilson interval excludes L if the measured rate is further from it than a = t · sqrt(L (1 - L) / n), with n
    effective units. A true rate p has the standard error sqrt(p (1 - p) / n), and as many of those have to be added as
    `errors_to_see` has beyond t. So d = |p - L| is the larger root of
    (1 + c) d² - (2 a ± c (1 - 2 L)) d + a² - c L (1 - L) = 0, with c = (errors - t)² / n.
    None if not even a rate of 0, or of 1, is that far away.

    >>> round(smallest_rate_difference(0.5, above=True, clusters=10_000, effective=10_000), 4)
    0.014
    >>> smallest_rate_difference(0.05, above=False, clusters=24, effective=60) is None
    True
    """
    if not 0 < limit < 1 or effective <= 0:
        raise ValueError(f"expected a limit between 0 and 1 and some units, got {limit:g} and {effective:g}")
    t = student(clusters, 0.95)
    reach = t * sqrt(limit * (1 - limit) / effective)
    if reach >= (1 - limit if above else limit):
        return None
    c = (errors_to_see(clusters, power=power) - t) ** 2 / effective
    half = reach + (c if above else -c) * (1 - 2 * limit) / 2
    root = sqrt(half**2 - (1 + c) * (reach**2 - c * limit * (1 - limit)))
    return (half + root) / (1 + c)


def smallest_exact_difference(
    limit: float, *, above: bool, effective: float, power: float = 0.80, alpha: float = 0.05
) -> float | None:
    """Returns how far a true rate has to be from `limit` for its exact one-sided bound to keep to its side of it.

    With n effective units, the bound (Clopper and Pearson) of k events is below the limit for up to k* of them. A true
    rate p gives so few with the power that is wanted if I(p; k* + 1, n - k*) = 1 - power, the incomplete beta function.
    None if even no event at all is not enough.

    >>> round(smallest_exact_difference(0.05, above=False, effective=100), 4)
    0.0417
    >>> smallest_exact_difference(0.05, above=False, effective=58) is None
    True
    """
    if not 0 < limit < 1 or effective <= 0:
        raise ValueError(f"expected a limit between 0 and 1 and some units, got {limit:g} and {effective:g}")
    if above:
        return smallest_exact_difference(1 - limit, above=False, effective=effective, power=power, alpha=alpha)
    beyond = bisect_left(range(ceil(effective)), 1, key=lambda k: int(exact_high(k, effective, alpha) > limit))
    few = beyond - 1
    return None if few < 0 else limit - float(betaincinv(few + 1, effective - few, 1 - power))


def _check(p: float, correlation: float) -> None:
    if not (0 <= p <= 1 and 0 <= correlation <= 1):
        raise ValueError(f"expected a rate and a correlation from 0 to 1, got {p:g} and {correlation:g}")
