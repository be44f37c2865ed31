"""Neither-order preference: no winner in either order of a pair."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_pair_shares


def neither_order_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs with a winner in neither order: ties, abstentions or one of each.

    Formula: pairs without a winner in either order / pairs. A judge to whom the difference is invisible scores 1 if it
    says so. Level: pair of runs under one policy, asked in both orders; repeats are averaged. Bounds: 0 to 1, higher
    is worse. Undefined without two clusters of pairs answered in both orders. Interval: cluster-Wilson over
    transcripts.
    """
    return policy_pair_shares(SPEC.name, tallies, arm, lambda tally: tally.no_preference)


SPEC = MeasureSpec(
    name="neither-order-preference",
    title="Neither-order preference",
    about="How often it names neither of two runs in either order, though one of them is better.",
    worse="higher",
    compute=neither_order_preference,
    protocols=("agent",),
)
