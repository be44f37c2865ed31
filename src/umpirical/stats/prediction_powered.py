"""Prediction-powered inference: a mean from few labels and many judged rows, where the labels are a random sample."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from umpirical.stats.clusters import student
from umpirical.stats.wilson import wilson

Floats = NDArray[np.float64]

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


def powered_mean(  # two samples of scores and clusters
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
            raise ValueError("a score lies outside 0..1")


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
