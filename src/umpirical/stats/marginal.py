"""Signal detection from two rates: d' and the criterion of the tie-aware model, without pairs and tasks.

Slot bias, surface preferences, lapses and the clustering of calls are not in it; `umpirical.stats.signal_estimates`
fits them.
"""

from dataclasses import dataclass

from scipy.special import ndtri


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """d' from two rates."""

    d_prime: float
    criterion: float
    ceiling: bool
    """Whether a rate was 0 or 1 before correction: d' then reflects the number of calls, not the judge."""


def sensitivity(correct: float, calls: float, *, named: float, equal_calls: float) -> Sensitivity:
    """Returns d' and the criterion of the tie-aware model from one difference and equal quality.

    A hit means that the better one is named; a false alarm is any winner named where there is none, which both tails of
    X cause: c = -z(false alarms / 2) and d' = z(hits) + c. Rates are (count + .5) / (calls + 1), the log-linear
    correction, applied whether or not a count is 0 so that judges stay comparable.

    Reference: M. J. Hautus, Corrections for extreme proportions and their biasing effects on estimated values of d',
    Behavior Research Methods 27 (1995).
    """
    _check(calls, correct)
    _check(equal_calls, named)
    hits = (correct + 0.5) / (calls + 1)
    criterion = -float(ndtri((named + 0.5) / (equal_calls + 1) / 2))
    return Sensitivity(float(ndtri(hits)) + criterion, criterion, correct in {0, calls} or named in {0, equal_calls})


def _check(calls: float, *counts: float) -> None:
    if calls < 1:
        raise ValueError(f"d' needs calls, got {calls}")
    if min(counts) < 0 or sum(counts) > calls:
        raise ValueError(f"counts {counts} are not consistent with {calls} calls")
