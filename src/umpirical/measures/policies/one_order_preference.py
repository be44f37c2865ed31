"""One-order preference: a winner in one order of a pair only."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_pair_shares


def one_order_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs with a winner in exactly one order; the other is a tie or an abstention.

    Formula: one-sided / pairs. Level: pair of runs under one policy, asked in both orders; repeats are averaged.
    Bounds: 0 to 1, higher is worse. Undefined without two clusters of pairs answered in both orders. Interval:
    cluster-Wilson over transcripts.
    """
    return policy_pair_shares(SPEC.name, tallies, arm, lambda tally: tally.one_sided)


SPEC = MeasureSpec(
    name="one-order-preference",
    title="One-order preference",
    about="How often it names one of two runs in one order, and neither of them in the other.",
    worse="higher",
    compute=one_order_preference,
    protocols=("agent",),
)
