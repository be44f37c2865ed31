"""What repeats say about a judge's noise, whatever the right answer is, and how many of its categories a judge uses."""

from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma

from umpirical.stats.agreement import Coefficient, Sample, coefficient_interval, delete_one, jackknife_error
from umpirical.stats.intervals import ClusterRatio, jackknife, student

Floats = NDArray[np.float64]

TINY = 1e-10


def flip_chance(counts: ArrayLike) -> float:
    """Unbiased estimate of P(two answers differ): 1 - sum x(x - 1) / (R(R - 1)). At least two answers are needed.

    >>> flip_chance([3, 1])
    0.5
    """
    x = _counted(counts, least=2)
    repeats = x.sum()
    return 1 - float((x * (x - 1)).sum() / (repeats * (repeats - 1)))


def modal_share(counts: ArrayLike) -> float:
    """The share of the most frequent answer. Its mean falls with R: with two answers it is at least one half."""
    x = _counted(counts, least=1)
    return float(x.max() / x.sum())


def answer_entropy(counts: ArrayLike) -> float:
    """Entropy of the answers to one question, in bits: sum x/R · (psi(R) - psi(x)) / ln 2, psi being the digamma.

    Its mean falls short of the entropy by sum over v >= R of sum p(1 - p)^v / v, in nats: a part of a bit for R = 2
    that vanishes geometrically, where the entropy of the observed shares falls short by about (K - 1)/(2R). For
    a single question it can exceed the logarithm of K; it is meant to be averaged over questions.

    Reference: Z. Zhang, Entropy estimation in Turing's perspective, Neural Computation 24 (2012).

    >>> answer_entropy([4])
    0.0
    """
    x = _counted(counts, least=2)
    repeats = x.sum()
    # Rounding must not leave -1e-17 if all answers are the same.
    return max(0.0, float((x / repeats * (digamma(repeats) - digamma(x))).sum()) / log(2))


def repeat_sums(answers: ArrayLike, totals: ArrayLike, squares: ArrayLike, weight: ArrayLike) -> Floats:
    """Returns the sums that `repeat_icc` needs, one row for each kind of item; rows add up to those of a cluster.

    The arguments give, for each kind of item: answers per item, their sum and sum of squares, and the number of items.
    """
    r, s, q, w = (np.asarray(column, dtype=float) for column in (answers, totals, squares, weight))
    return np.column_stack([w, w * r, w * r * r, w * s * s / r, w * s, w * q])


def icc_of(sums: Floats) -> Floats:
    """One-way intraclass correlation ICC(1) of single answers, by analysis of variance; unequal repeats are allowed.

    NaN if no answer differs from any other, if there are fewer than two items, or if nothing was repeated.
    """
    between, within, repeats = _mean_squares(sums)
    spread = between + (repeats - 1) * within
    known = np.isfinite(spread) & (spread > TINY)
    result: Floats = np.where(known, between - within, np.nan) / np.where(known, spread, 1.0)
    return result


def repeat_icc(parts: Floats, *, diversity: float, level: float = 0.95) -> Coefficient:
    """ICC(1) with its interval, from `repeat_sums` by cluster. `diversity` is the chance that two items differ.

    Reference: P. E. Shrout and J. L. Fleiss, Intraclass correlations: uses in assessing rater reliability,
    Psychological Bulletin 86 (1979); with unequal repeats, their effective number comes from the analysis of variance.
    """
    value, replicates = delete_one(parts, icc_of)
    total = parts.sum(axis=0)
    repeats = float(_mean_squares(total)[2])
    sample = Sample(len(parts), float(total[0]), diversity, repeats if np.isfinite(repeats) else 2.0)
    return coefficient_interval(value, jackknife_error(replicates), sample, level=level)


def _mean_squares(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns the mean squares between and within items, and the effective number of answers per item."""
    items, answers, squared, explained, total, squares = np.moveaxis(sums, -1, 0)
    free, repeated = items - 1, answers - items
    known = (free > TINY) & (repeated > TINY)
    free, repeated, answers = (np.where(known, column, np.nan) for column in (free, repeated, answers))
    between = (explained - total**2 / answers) / free
    within = np.maximum(squares - explained, 0.0) / repeated
    return np.maximum(between, 0.0), within, (answers - squared / answers) / free


def _counted(counts: ArrayLike, *, least: int) -> Floats:
    x = np.asarray(counts, dtype=float)
    x = x[x > 0]
    if x.sum() < least:
        raise ValueError(f"expected at least {least} answers to one question, got {x.sum():g}")
    return x


# The effective number of categories that are used, from counts by cluster.


def effective_number(counts: ArrayLike) -> float:
    """Returns one over the chance that two units of different clusters are in the same category.

    That many evenly used categories would give the same chance. Rows of `counts` are clusters, columns are categories.
    Units of one cluster are not compared with each other: they are alike for other reasons, and within a sample a unit
    always equals itself, which makes the plain sum of squared shares too large. NaN if no two clusters have units,
    infinite if no two of them share a category.

    Reference: M. O. Hill, Diversity and evenness, Ecology 54 (1973), the number of order 2.

    >>> effective_number([[2, 0], [0, 2], [1, 1]])
    3.0
    """
    table = np.asarray(counts, dtype=float)
    same = float((table.sum(axis=0) ** 2).sum() - (table**2).sum())
    sizes = table.sum(axis=1)
    pairs = float(sizes.sum() ** 2 - (sizes**2).sum())
    if pairs <= 0:
        return float("nan")
    return pairs / same if same > 0 else float("inf")


def effective_number_interval(counts: ArrayLike, *, level: float = 0.95) -> ClusterRatio:
    """Returns the effective number with its interval: a jackknife of its logarithm over clusters, with Student's t.

    The standard error is at least that of one unit of another category, since clusters that all agree show no spread;
    the interval does not extend below 1. At least three clusters with units are needed.
    """
    table = np.asarray(counts, dtype=float)
    table = table[table.sum(axis=1) > 0]
    found = jackknife(lambda kept: np.log(effective_number(table[kept])), len(table), level=level)
    least = 2 / float(table.sum())
    half = student(len(table), level) * max(least, float(found.standard_error))
    low, high = np.exp([found.value - half, found.value + half])
    return ClusterRatio(float(np.exp(found.value)), max(1.0, float(low)), float(high), len(table))
