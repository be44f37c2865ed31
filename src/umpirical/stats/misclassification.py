"""The true rate behind a judge's, given how often it errs: Rogan and Gladen's estimator, and its form for ties."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]


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
        raise ValueError(f"the judge tells positives from negatives no better than chance: Youden's index {youden:.3f}")
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
        raise ValueError(f"the judge does not tell the truths apart: separation {apart:.3f}")
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
