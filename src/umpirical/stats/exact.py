"""Exact one-sided limits of a rate, on an effective number of units."""

from scipy.special import betaincinv, ndtri, stdtrit


def exact_high(hits: float, units: float, alpha: float) -> float:
    """Returns Clopper and Pearson's upper limit: a rate above it gives so few hits in at most `alpha` of samples.

    >>> round(exact_high(0, 60, 0.05), 4)
    0.0487
    """
    return 1.0 if hits >= units else float(betaincinv(hits + 1, units - hits, 1 - alpha))


def exact_low(hits: float, units: float, alpha: float) -> float:
    """Returns Clopper and Pearson's lower limit: a rate below it gives so many hits in at most `alpha` of samples.

    >>> round(exact_low(60, 60, 0.05), 4)
    0.9513
    """
    return 0.0 if hits <= 0 else float(betaincinv(hits, units - hits + 1, alpha))


def few_clusters(clusters: int, alpha: float) -> float:
    """Returns what is left of an effective sample whose design effect was estimated from so few clusters.

    Korn and Graubard (1998): the squared ratio of the normal quantile and Student's with one degree of freedom fewer
    than there are clusters.
    """
    return float((ndtri(alpha) / stdtrit(clusters - 1, alpha)) ** 2)
