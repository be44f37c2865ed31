"""Juries whose errors are known: a shared part and a part of each judge's own, on calls like those of each protocol."""

import numpy as np
from scipy.stats import multivariate_normal, norm

from umpirical.stats.juries import TIE, TWO_CANDIDATES, Ballots, VoteScale


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


SHAPES = {
    "datasheet": (TWO_CANDIDATES, 10),
    "pairs": (TWO_CANDIDATES, 2),
    "agent": (VoteScale(2), 8),
    "stress binary": (VoteScale(2), 1),
    "stress ordinal": (VoteScale(5, span=4.0), 1),
    "stress interval": (VoteScale(0, span=10.0), 1),
}
"""What is voted on, and how many calls a cluster has: a pair is asked in two orders, a transcript several times."""


def protocol_ballots(rng, shape, *, clusters, judges, correlation=0.3, accuracy=0.75, spread=0.3) -> Ballots:
    """Calls as a protocol has them. Of labels, one in five is the first; a wrong grade is mostly one step off.

    On a scale of numbers, the worse judges are the noisier ones, and half of a tenth of the scale is their usual error.
    """
    scale, each = SHAPES[shape]
    calls = clusters * each
    if shape == "datasheet":
        return alike_ballots(rng, judges=judges, calls=calls, correlation=correlation, accuracy=accuracy,
                             clusters=clusters, spread=spread)  # fmt: skip
    cluster = np.repeat(np.arange(clusters), each)
    accuracy = np.broadcast_to(accuracy, judges)
    shared = np.sqrt(correlation) * rng.standard_normal((calls, 1))
    cause = shared + np.sqrt(1 - correlation) * rng.standard_normal((calls, judges))
    if not scale.classes:
        truth = rng.uniform(0, scale.span, calls)
        votes = truth[:, None] + 2 * (1 - accuracy) * cause * scale.span / 10
        return Ballots(np.clip(votes, 0, scale.span), truth, cluster, scale)
    edge = norm.ppf(1 - accuracy) * np.sqrt(1 + spread**2)
    wrong = cause + spread * rng.standard_normal(clusters)[cluster][:, None] < edge
    if scale.span:
        truth = rng.choice(scale.classes, calls, p=[0.1, 0.2, 0.4, 0.2, 0.1])
        step = rng.choice([-1, 1], (calls, judges)) * rng.choice([1, 2], (calls, judges), p=[0.8, 0.2])
        off = truth[:, None] + step
        # What would leave the scale errs the other way.
        off = np.where((off < 0) | (off > scale.span), truth[:, None] - step, off)
    else:
        two = shape in ("pairs", "agent")
        truth = (rng.random(calls) < (0.5 if two else 0.8)).astype(np.int64)
        if shape == "pairs":
            # The better answer is first in one order and second in the other. Some wrong calls are ties.
            truth[1::2] = 1 - truth[::2]
        tied = (shape == "pairs") & (rng.random((calls, judges)) < 0.2)
        off = np.where(tied, TIE, 1 - truth[:, None])
    return Ballots(np.where(wrong, off, truth[:, None]).astype(float), truth.astype(float), cluster, scale)
