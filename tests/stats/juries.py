"""Juries whose errors are known: a shared part and a part of each judge's own."""

import numpy as np
from scipy.stats import multivariate_normal, norm

from umpirical.stats.juries import TIE, Ballots


def phi(error: float, correlation: float) -> float:
    """Correlation of two errors of this rate, whose latent causes correlate so."""
    edge = norm.ppf(error)
    both = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], allow_singular=True).cdf([edge, edge])
    return float((both - error**2) / (error * (1 - error)))


def alike_ballots(
    rng, *, judges: int, calls: int, correlation: float = 0.0, accuracy=0.85, clusters: int = 20, spread: float = 0.0
) -> Ballots:
    """Half of the calls have a better answer and half have none. A wrong vote is any of the two others.

    `spread` is how far whole clusters are harder or easier, in standard deviations of the latent cause.
    """
    truth = np.where(rng.random(calls) < 0.5, TIE, rng.integers(0, 2, calls))
    cluster = np.arange(calls) % clusters
    shared = np.sqrt(correlation) * rng.standard_normal((calls, 1))
    own = np.sqrt(1 - correlation) * rng.standard_normal((calls, judges))
    hard = spread * rng.standard_normal(clusters)[cluster][:, None]
    # The edge is moved so that the mean accuracy over clusters stays what it is.
    edge = norm.ppf(1 - np.broadcast_to(accuracy, judges)) * np.sqrt(1 + spread**2)
    wrong = shared + own + hard < edge
    other = (truth[:, None] + rng.integers(1, 3, (calls, judges))) % 3
    return Ballots(np.where(wrong, other, truth[:, None]), truth, cluster)
