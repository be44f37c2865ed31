"""Conflict loss: length wins over quality."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import conflict_pairs, pair_share


def conflict_loss(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the longer answer is named, though it meets one requirement less), pooled and by the amount of extra length.

    Formula: wrong calls / (2 · pairs). Level: canonical pair, scoring 0, one half or 1. Bounds: 0 to 1, higher is
    worse. Not given if the design has no such pairs. Undefined without one answered in both orders.
    Interval: cluster-Wilson over tasks.
    """
    chosen = conflict_pairs(tallies, arm)
    if not chosen:
        return []
    amounts = sorted({tally.stratum for tally in chosen if tally.stratum}, key=lambda amount: (len(amount), amount))
    return [
        Measure(SPEC.name, pair_share(chosen, _loss), arm),
        *(Measure(SPEC.name, pair_share([t for t in chosen if t.stratum == a], _loss), arm, a) for a in amounts),
    ]


def _loss(tally: PairTally) -> float:
    return tally.wrong_calls / 2


SPEC = MeasureSpec(
    name="conflict-loss",
    title="Conflict loss",
    about="How often it names the longer answer although the shorter one meets one requirement more.",
    worse="higher",
    compute=conflict_loss,
)
