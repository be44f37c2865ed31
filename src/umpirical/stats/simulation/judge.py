"""The latent rule of a comparing judge, and the value that every rate has under it.

A judge sees X = s(k·delta + w·log length ratio + eta) + b + eps, with s = +1 if content a is in position 1, and says
position 1 if X > c, position 2 if X < -c, else tie. eta ~ N(0, tau²) belongs to the pair's surface, eps ~ N(0, 1) to
the call. With probability `lapse` it answers at random instead. The same rule draws the answers of simulated judges,
so what a measure should recover is known exactly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True)
class LatentJudge:
    """The known properties of a simulated judge."""

    resolution: float
    """k: d' per requirement of quality difference."""
    criterion: float
    """c: how much evidence it takes to name a winner."""
    slot_bias: float = 0.0
    """b: pull towards position 1."""
    surface: float = 0.0
    """tau: spread of the stable preference for one wording over another."""
    lapse: float = 0.0
    """Share of calls answered at random."""
    vacuum_criterion: float = 3.0
    """c on vacuum inputs: low values name winners where there is nothing to compare."""
    length_weight: float = 0.0
    """w: pull towards the longer candidate, per unit of log length ratio."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Expected shares of canonical pairs at equal quality."""

    stable: float
    positional: float
    one_sided: float
    no_preference: float

    @property
    def raw_false_preference(self) -> float:
        """Equation 7 of the Dark Current paper: a one-sided pair is one call of two."""
        return self.stable + self.positional + self.one_sided / 2


def slot_rates(judge: LatentJudge, signal: ArrayLike, *, criterion: float | None = None) -> tuple[Floats, Floats]:
    """P(position 1) and P(position 2), given the evidence `signal` for position 1, its bias included."""
    x = np.asarray(signal, dtype=float)
    c = judge.criterion if criterion is None else criterion
    guess = judge.lapse / 3
    first: Floats = guess + (1 - judge.lapse) * ndtr(x - c)
    second: Floats = guess + (1 - judge.lapse) * ndtr(-x - c)
    return first, second


def dark_current(judge: LatentJudge) -> float:
    first, second = slot_rates(judge, judge.slot_bias, criterion=judge.vacuum_criterion)
    return float(first + second)


def decomposition(judge: LatentJudge) -> Decomposition:
    """Shares of stable, positional, one-sided and no-preference pairs at delta 0."""
    eta = judge.surface * _NODES
    p1, p2 = slot_rates(judge, eta + judge.slot_bias)
    q1, q2 = slot_rates(judge, -eta + judge.slot_bias)
    p, q = p1 + p2, q1 + q2
    return Decomposition(
        stable=float(_WEIGHTS @ (p1 * q2 + p2 * q1)),
        positional=float(_WEIGHTS @ (p1 * q1 + p2 * q2)),
        one_sided=float(_WEIGHTS @ (p * (1 - q) + q * (1 - p))),
        no_preference=float(_WEIGHTS @ ((1 - p) * (1 - q))),
    )


def correct_rate(judge: LatentJudge, delta: ArrayLike) -> Floats:
    """P(the better content is named) at quality difference `delta`, averaged over both orders."""
    return _directed_rate(judge, judge.resolution * np.asarray(delta, dtype=float))


def tie_rate(judge: LatentJudge, delta: ArrayLike) -> Floats:
    """P(tie) at quality difference `delta`, averaged over both orders."""
    signal = judge.resolution * np.asarray(delta, dtype=float)
    return 1 - _directed_rate(judge, signal) - _directed_rate(judge, -signal)


def _directed_rate(judge: LatentJudge, signal: Floats) -> Floats:
    spread = np.sqrt(1 + judge.surface**2)
    b, c = judge.slot_bias, judge.criterion
    hit = (ndtr((signal + b - c) / spread) + ndtr((signal - b - c) / spread)) / 2
    rate: Floats = judge.lapse / 3 + (1 - judge.lapse) * hit
    return rate
