"""A winner in one order only."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def one_order_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs with a winner in exactly one order; the other was a tie or an abstention.

    Formula: one-sided / pairs. Level: natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, higher
    is worse. Undefined without two clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.one_sided)


SPEC = MeasureSpec(
    name="one-order-rate",
    title="A winner in one order only",
    about="How often it names a winner in one order and none in the other.",
    worse="higher",
    compute=one_order_rate,
    protocols=("pairs",),
)
