"""Right in both orders: the run that keeps the policy wins, whichever slot it is in."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_pair_shares


def right_in_both_orders(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs in which the run that keeps the policy won in both orders.

    Formula: both correct / pairs. With wrong in both orders, positional preference, one-order preference and
    neither-order preference it sums to 1; a coin that never ties scores 1/4. Level: pair of runs under one policy,
    asked in both orders; repeats are averaged. Bounds: 0 to 1, lower is worse. Undefined without two clusters of pairs
    answered in both orders. Interval: cluster-Wilson over transcripts.
    """
    return policy_pair_shares(SPEC.name, tallies, arm, lambda tally: tally.both_correct)


SPEC = MeasureSpec(
    name="right-in-both-orders",
    title="Right in both orders",
    about="How often it names the run that keeps the policy in both orders of a pair.",
    worse="lower",
    compute=right_in_both_orders,
    protocols=("agent",),
)
