"""Tests of a rate that hold however often one looks, so that a run may stop as soon as it is decided.

The evidence is an e-process: how much better the counts are explained by rates on one side of the threshold than by
the threshold itself. If the true rate is the threshold, its mean is 1 at every look, and it ever reaches 1 / alpha
with a probability of at most alpha (Ville's inequality). So one may look after every answer, and neither a correction
for looks nor a plan of them is needed.

A unit is a prompt, a pair or a crossed pair. Units of one task family are alike: their number of hits is beta-binomial
with an assumed correlation, and families are independent. The evidence averages the likelihood over a few rates beyond
the threshold, so that a judge that is far from it is told quickly and one that is close still is, later.

`by_family` assumes no correlation at all: a family is one value. It takes more families.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

Side = Literal["below", "above"]
"""On which side of the threshold the rate is claimed to be."""

CORRELATION = 0.1
"""Assumed within a task family. At 0 to .3 it was simulated: see `docs/explanation/until-decided.md`."""

NEAR = {0.02: 0.5, 0.1: 0.2, 0.25: 0.2, 0.5: 0.1}
"""Rates that are tried where the claim leaves little room, as for a judge that passes: how much of the room is left
beyond each, with its weight. A judge without errors is the most likely one."""

FAR = {0.05: 0.3, 0.3: 0.2, 0.6: 0.2, 0.85: 0.2, 0.95: 0.1}
"""The same where the claim leaves more than half of the scale, as for a judge that fails."""

STAKES = {0.98: 0.9, 0.4: 0.1}
"""What `by_family` bets on each family, as shares of the most that it can lose."""

MOST = 64.0
"""How many times the present units are looked ahead at most."""

_EDGE = 1e-9


def log_evidence(
    hits: ArrayLike, units: ArrayLike, threshold: float, side: Side, *, correlation: float = CORRELATION
) -> NDArray[np.float64]:
    """Returns the logarithm of the evidence that the rate is on this side of the threshold.

    The last axis has the task families. Hits may be sums of shares, as of repeats.
    """
    y, n = np.asarray(hits, dtype=float), np.asarray(units, dtype=float)
    ratios, weights = _log_ratios(y, n, threshold, side, correlation)
    found: NDArray[np.float64] = np.logaddexp.reduce((ratios.T + np.log(weights)).T, axis=0)
    return found


def settling_factor(
    hits: ArrayLike,
    units: ArrayLike,
    threshold: float,
    side: Side,
    alpha: float,
    *,
    correlation: float = CORRELATION,
) -> float | None:
    """Returns how many times these units settle the claim, if more families answer as these do; None if none would."""
    y, n = np.asarray(hits, dtype=float), np.asarray(units, dtype=float)
    ratios, weights = _log_ratios(y, n, threshold, side, correlation)

    def settles(factor: float) -> bool:
        return bool(np.logaddexp.reduce(factor * ratios + np.log(weights)) >= -np.log(alpha))

    if not settles(MOST):
        return None
    low, high = 0.0, MOST
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


def anytime_bound(
    hits: ArrayLike, units: ArrayLike, side: Literal["low", "high"], alpha: float, *, correlation: float = CORRELATION
) -> float:
    """Returns the bound that the true rate is beyond with an error of at most `alpha`, at whichever look.

    A rate is beyond it if its evidence, as a threshold, reaches 1 / alpha.
    """
    needed = -np.log(alpha)
    claim: Side = "below" if side == "high" else "above"

    def excluded(rate: float) -> bool:
        return bool(log_evidence(hits, units, rate, claim, correlation=correlation) >= needed)

    outer, inner = (1 - _EDGE, 0.0) if side == "high" else (_EDGE, 1.0)
    if not excluded(outer):
        return 1.0 if side == "high" else 0.0
    while abs(outer - inner) > 1e-6:
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if excluded(middle) else (outer, middle)
    return outer


def by_family(shares: Sequence[float], threshold: float, side: Side) -> float:
    """Returns the logarithm of the evidence if nothing is assumed about a family but that others are independent of it.

    Each family is one share of hits, in the order in which the families were asked, and counts once. The evidence is
    the wealth of a gambler who bets a part of it on each family in turn, averaged over a few stakes.
    """
    sign = 1.0 if side == "below" else -1.0
    most = 1 / (1 - threshold) if side == "below" else 1 / threshold
    gains = sign * (threshold - np.asarray(shares, dtype=float))
    wealth = [np.log1p(stake * most * gains).sum() + np.log(weight) for stake, weight in STAKES.items()]
    return float(np.logaddexp.reduce(wealth))


def _log_ratios(
    y: NDArray[np.float64], n: NDArray[np.float64], threshold: float, side: Side, correlation: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns how much likelier the counts are at each rate tried than at the threshold, and the weights of the rates.

    They are beta-binomial log-likelihoods, without the coefficient that all rates share.
    """
    room = threshold if side == "below" else 1 - threshold
    tried = NEAR if room <= 1 / 2 else FAR
    shares = room * np.array([*tried])
    rates = np.clip([threshold, *(shares if side == "below" else 1 - shares)], _EDGE, 1 - _EDGE)
    # The rates have an axis of their own, before those of the counts.
    a = (1 / correlation - 1) * rates.reshape(-1, *(1 for _ in y.shape))
    b = (1 / correlation - 1) - a
    likelihoods = (betaln(y + a, n - y + b) - betaln(a, b)).sum(axis=-1)
    return likelihoods[1:] - likelihoods[0], np.array([*tried.values()])
