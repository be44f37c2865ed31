"""Wrong in both orders: the rejected answer wins whichever slot it is in."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def both_orders_error(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of labelled pairs in which the rejected answer won in both orders.

    Formula: (stable - both correct) / pairs. Not the judge's noise or its slot, but its taste, or a wrong label. Level:
    natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined without two
    clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.stable - tally.both_correct)


SPEC = MeasureSpec(
    name="both-orders-error",
    title="Wrong in both orders",
    about="How often it names the rejected answer in both orders of a pair.",
    worse="higher",
    compute=both_orders_error,
    protocols=("pairs",),
)
