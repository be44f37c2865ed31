"""What the repeats of a question say about a judge's noise, whatever the right answer is."""

from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma

from umpirical.stats.coefficients import Coefficient, Sample, coefficient_interval, delete_one, jackknife_error

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
