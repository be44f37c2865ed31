"""The truth behind a judge's verdicts: by its measured error rates, by bounds on them, or by a sample of labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr

from umpirical.stats.intervals import Bounds, student, wilson

Floats = NDArray[np.float64]


# The true rate, given how often the judge errs: Rogan and Gladen's estimator, and its form for ties.


class Counted(NamedTuple):
    """Hits among units. Neither needs to be whole: units may be an effective sample size."""

    hits: float
    units: float

    @property
    def rate(self) -> float:
        return self.hits / self.units


@dataclass(frozen=True, slots=True)
class Corrected:
    """A rate or mean score with the judge's errors taken out, and its interval."""

    value: float
    low: float
    high: float
    separation: float
    """How far the judge tells one truth from another: Youden's index for two, 1 for a perfect judge, 0 for none."""


def rogan_gladen(positives: Counted, sensitivity: Counted, specificity: Counted, *, level: float = 0.95) -> Corrected:
    """Returns the true share of positives: (p + Sp - 1) / (Se + Sp - 1), within 0 and 1.

    The three are measured on different units. The interval takes in the uncertainty of all of them: Lang and
    Reiczigel's, with z²/2 hits added to p, one hit and one miss to Se and to Sp, and their shift of the centre. It is
    what Lee et al. propose for judges. Raises ValueError unless Se + Sp > 1.

    References: W. J. Rogan, B. Gladen, American Journal of Epidemiology 107 (1978); Zs. Lang, J. Reiczigel, Preventive
    Veterinary Medicine 113 (2014); C. Lee et al., arXiv:2511.21140 (2025).
    """
    youden = sensitivity.rate + specificity.rate - 1
    if youden <= 0:
        raise ValueError(
            f"the judge distinguishes positives from negatives no better than chance: Youden's index {youden:.3f}"
        )
    value = float(np.clip((positives.rate + specificity.rate - 1) / youden, 0, 1))
    z = float(ndtri(0.5 + level / 2))
    p, n = (positives.hits + z * z / 2) / (positives.units + z * z), positives.units + z * z
    se, sp = (sensitivity.hits + 1) / (sensitivity.units + 2), (specificity.hits + 1) / (specificity.units + 2)
    var_se, var_sp = se * (1 - se) / (sensitivity.units + 2), sp * (1 - sp) / (specificity.units + 2)
    centre = (p + sp - 1) / (se + sp - 1)
    half = z * sqrt(p * (1 - p) / n + centre**2 * var_se + (1 - centre) ** 2 * var_sp) / (se + sp - 1)
    centre += 2 * z * z * (centre * var_se - (1 - centre) * var_sp)
    low, high = np.clip([centre - half, centre + half], 0, 1)
    # Where the estimate was cut off at 0 or 1, the interval still reaches it.
    return Corrected(value, min(float(low), value), max(float(high), value), youden)


def confusion_inverse(
    given: ArrayLike, confusion: Sequence[ArrayLike], scores: ArrayLike, *, level: float = 0.95
) -> Corrected:
    """Returns the mean score of the truth, where `given` counts the judge's verdicts of each kind.

    Row t of `confusion` counts verdicts on units of truth t, so the verdicts' shares are q = M' pi, and the mean score
    is g' q with g = M⁻¹·scores: the score of a verdict that is right on average. Its variance is that of g over the
    verdicts, and over those of each truth, weighted by the square of that truth's share. Every row gets one more unit,
    spread evenly: a verdict that was not seen is not ruled out. Raises ValueError if the truths are not told apart.
    """
    q, c = np.asarray(given, dtype=float), np.asarray(scores, dtype=float)
    rows = [np.asarray(row, dtype=float) for row in confusion]
    matrix = np.array([row / row.sum() for row in rows])
    apart = separation(matrix)
    if apart <= 0:
        raise ValueError(f"the judge does not separate the true labels: separation {apart:.3f}")
    value = float(np.linalg.solve(matrix, c) @ (q / q.sum()))
    z = float(ndtri(0.5 + level / 2))
    q = q + z * z / len(q)
    rows = [row + 1 / len(row) for row in rows]
    matrix = np.array([row / row.sum() for row in rows])
    g = np.linalg.solve(matrix, c)
    truth = np.linalg.solve(matrix.T, q / q.sum())
    variance = _variance(g, q) + sum(share**2 * _variance(g, row) for share, row in zip(truth, rows, strict=True))
    centre, half = float(g @ (q / q.sum())), z * sqrt(variance)
    least, most = float(c.min()), float(c.max())
    value, low, high = (min(max(each, least), most) for each in (value, centre - half, centre + half))
    return Corrected(value, min(low, value), max(high, value), apart)


def separation(matrix: Floats) -> float:
    """Returns the least real part of the eigenvalues of a matrix of verdicts by truth, each row of which sums to 1.

    For two kinds it is Youden's index. It is 1 for a perfect judge, 0 for one that cannot tell two of the truths apart,
    and negative for one that confuses them.
    """
    return float(np.linalg.eigvals(matrix).real.min())


def _variance(g: Floats, counts: Floats) -> float:
    """Variance of the mean of g over so many units."""
    shares = counts / counts.sum()
    return float((g**2 @ shares - (g @ shares) ** 2) / counts.sum())


# What a mean score can be, where all that is known of a judge's errors is how frequent they are at most.

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


# Prediction-powered inference: a mean from few labels and many judged rows, where the labels are a random sample.

UNSEEN = 0.5
"""Disagreements of judge and label that are added to those seen. A judge that errs once in a hundred may not err at all
in the labels, and the interval would shrink to that of as many labels as there are judged rows. Without it, an interval
from 200 labels covers .91 for a judge that errs in one direction only, in 2 % of rows; with it, .94."""


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """A mean of scores between 0 and 1, with its interval."""

    value: float
    low: float
    high: float
    error: float
    """Standard error."""
    tuning: float
    """How far the judge is relied on: 0 for the labels alone, 1 for the judge as if it were one more labeller."""
    clusters: int
    """Clusters with labels."""


def powered_mean(
    labels: ArrayLike,
    judged: ArrayLike,
    others: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    other_clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> PoweredMean:
    """Returns the mean label of a population, from rows with a label and `others`, which have the judge's score only.

    theta = tuning·mean(others) + mean(labels - tuning·judged), with tuning = Cov(labels, judged) / ((1 + n/N) Var(all
    scores of the judge)), within 0 and 1. The variance is linearised over clusters (by default each row is its own), to
    which half an unseen disagreement is added. The interval is Wilson's on the effective sample size, with Student's t
    on the clusters with labels: near 0 and 1, the symmetric interval of the paper covers .87 to .93.
    All scores lie between 0 and 1. At least two clusters with labels are needed.

    Reference: A. N. Angelopoulos, J. C. Duchi, T. Zrnic, PPI++: Efficient prediction-powered inference,
    arXiv:2311.01453 (2023).
    """
    y, f, u = (np.asarray(each, dtype=float) for each in (labels, judged, others))
    _check(y, f, u)
    tuning = _tuning(y, f, u)
    rest = y - tuning * f
    value = float(rest.mean()) + (tuning * float(u.mean()) if len(u) else 0.0)
    ids, marks = _numbered(clusters, other_clusters, len(y), len(u))
    labelled = len(np.unique(ids))
    if labelled < 2:
        raise ValueError(f"an interval needs labels from at least two clusters, got {labelled}")
    residuals = _sums((rest - rest.mean()) / len(y), ids, marks, -tuning * _centred(u))
    variance = labelled / (labelled - 1) * (float((residuals**2).sum()) + UNSEEN * (tuning / len(y)) ** 2)
    low, high = _interval(value, variance, labelled, level)
    return PoweredMean(value, low, high, sqrt(variance), tuning, labelled)


def selection_p(
    judged: ArrayLike, others: ArrayLike, *, clusters: ArrayLike | None = None, other_clusters: ArrayLike | None = None
) -> float:
    """Returns how likely so great a difference of the judge's mean is, if the labelled rows were drawn at random.

    A test by Student's t, with the variance linearised over clusters. It sees a choice of rows by what the judge said
    about them, and no other.
    """
    f, u = np.asarray(judged, dtype=float), np.asarray(others, dtype=float)
    ids, marks = _numbered(clusters, other_clusters, len(f), len(u))
    labelled = len(np.unique(ids))
    residuals = _sums(_centred(f), ids, marks, _centred(u))
    variance = labelled / (labelled - 1) * float((residuals**2).sum())
    difference = abs(float(f.mean() - u.mean()))
    if variance <= 0:
        return 1.0 if difference == 0 else 0.0
    return float(2 * stdtr(labelled - 1, -difference / sqrt(variance)))


def _check(y: Floats, f: Floats, u: Floats) -> None:
    if len(y) != len(f):
        raise ValueError(f"each label needs the judge's score, got {len(y)} and {len(f)}")
    for each in (y, f, u):
        if not ((each >= 0) & (each <= 1)).all():
            raise ValueError("a score is outside the range 0 to 1")


def _tuning(y: Floats, f: Floats, u: Floats) -> float:
    """Returns the least variable weight of the judge; 0 if its scores do not vary or there are no other rows."""
    spread = float(np.concatenate([f, u]).var(ddof=1)) if len(u) else 0.0
    if spread <= 0 or len(y) < 2:
        return 0.0
    return float(np.clip(np.cov(y, f, ddof=0)[0, 1] / ((1 + len(y) / len(u)) * spread), 0, 1))


def _centred(scores: Floats) -> Floats:
    """Returns what each score adds to its mean's deviation."""
    return (scores - scores.mean()) / len(scores) if len(scores) else scores


def _numbered(
    clusters: ArrayLike | None, others: ArrayLike | None, labelled: int, unlabelled: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns the cluster of each row as a number, the same for both samples."""
    if clusters is None or others is None:
        return np.arange(labelled), np.arange(labelled, labelled + unlabelled)
    both = np.concatenate([np.asarray(clusters), np.asarray(others)]) if unlabelled else np.asarray(clusters)
    numbers = np.unique(both, return_inverse=True)[1]
    return numbers[:labelled], numbers[labelled:]


def _sums(one: Floats, ids: NDArray[np.intp], marks: NDArray[np.intp], other: Floats) -> Floats:
    """Returns the residual of each cluster: its labelled rows less its other rows."""
    size = 1 + int(max(ids.max(initial=0), marks.max(initial=0)))
    return np.asarray(np.bincount(ids, one, size) - np.bincount(marks, other, size), dtype=float)


def _interval(value: float, variance: float, clusters: int, level: float) -> tuple[float, float]:
    """Returns Wilson's interval on as many units as have this variance; an estimate outside 0..1 counts as its end."""
    if variance <= 0:
        raise ValueError("neither the labels nor the judge's scores vary")
    # The least share that so many units could show: an estimate at an end has no binomial variance of its own.
    edge = min(0.5, variance)
    inner = min(max(value, edge), 1 - edge)
    units = inner * (1 - inner) / variance
    low, high = wilson(inner * units, units, critical=student(clusters, level))
    return (0.0 if value <= edge else low), (1.0 if value >= 1 - edge else high)
