"""Accuracy with both orders: right only if right whichever slot the chosen answer is in."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def both_orders_accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of labelled pairs in which the chosen answer won in both orders.

    Formula: both correct / pairs. A coin that never ties scores 1/4, and a judge that always names one slot 0. Level:
    natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, lower is worse. Undefined without two
    clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.both_correct)


SPEC = MeasureSpec(
    name="both-orders-accuracy",
    title="Right in both orders",
    about="How often it names the chosen answer in both orders of a pair.",
    worse="lower",
    compute=both_orders_accuracy,
    protocols=("pairs",),
)
