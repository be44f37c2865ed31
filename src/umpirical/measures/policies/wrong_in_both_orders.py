"""Wrong in both orders: the run that breaks the policy wins, whichever slot it is in."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_pair_shares


def wrong_in_both_orders(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs in which the run that breaks the policy won in both orders.

    Formula: (stable - both correct) / pairs. A judge that does not read the policy scores as much here as in right in
    both orders; a coin that never ties scores 1/4. Level: pair of runs under one policy, asked in both orders; repeats
    are averaged. Bounds: 0 to 1, higher is worse. Undefined without two clusters of pairs answered in both orders.
    Interval: cluster-Wilson over transcripts.
    """
    return policy_pair_shares(SPEC.name, tallies, arm, lambda tally: tally.stable - tally.both_correct)


SPEC = MeasureSpec(
    name="wrong-in-both-orders",
    title="Wrong in both orders",
    about="How often it names the run that breaks the policy in both orders of a pair.",
    worse="higher",
    compute=wrong_in_both_orders,
    protocols=("agent",),
)
