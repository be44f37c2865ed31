"""What a mean score can be, where all that is known of a judge's errors is how frequent they are at most."""

from collections.abc import Sequence

import numpy as np

from umpirical.stats.wilson import Bounds

Limits = Sequence[Sequence[tuple[float, float]]]
"""For each truth, the least and greatest share of each verdict."""


def score_bounds(
    shares: Sequence[tuple[float, float]], limits: Limits, scores: Sequence[float], *, missing: float = 0.0
) -> Bounds | None:
    """Returns the least and the greatest mean score of the truth that verdicts and errors allow; None if none is.

    `shares` are the least and greatest share of each verdict among the rows that have one; `missing` is the share of
    all rows that have none, of which anything may be true. Each unknown is the mass of one truth with one verdict. All
    that is known about them is linear, so both ends are linear programs: nothing between them can be ruled out, and the
    bounds cover the truth whenever all of `shares` and `limits` hold.

    Reference: C. F. Manski, Partial Identification of Probability Distributions (2003).
    """
    from scipy.optimize import linprog

    truths, verdicts = len(scores), len(shares)
    mass = np.eye(truths * verdicts + truths)
    of_truth = [mass[t * verdicts : (t + 1) * verdicts].sum(axis=0) for t in range(truths)]
    unanswered = mass[truths * verdicts :]
    upper, bounds = [], []
    for v, (low, high) in enumerate(shares):
        given = mass[v : truths * verdicts : verdicts].sum(axis=0)
        upper += [given, -given]
        bounds += [high * (1 - missing), -low * (1 - missing)]
    for t, row in enumerate(limits):
        for v, (low, high) in enumerate(row):
            each = mass[t * verdicts + v]
            upper += [each - high * of_truth[t], low * of_truth[t] - each]
            bounds += [0.0, 0.0]
    whole = [sum(of_truth), unanswered.sum(axis=0)]
    aim = sum(score * (of_truth[t] + unanswered[t]) for t, score in enumerate(scores))
    ends = [
        linprog(sign * np.asarray(aim), np.array(upper), bounds, np.array(whole), [1 - missing, missing])
        for sign in (1, -1)
    ]
    if not all(end.success for end in ends):
        return None
    least, most = float(min(scores)), float(max(scores))
    return Bounds(max(least, float(ends[0].fun)), min(most, -float(ends[1].fun)))
