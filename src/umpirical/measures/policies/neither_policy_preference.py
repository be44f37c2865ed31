"""Neither-policy preference: no winner under a policy or under its opposite."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_quad_shares


def neither_policy_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs with a winner neither under a policy nor under its opposite.

    Formula: neither / quads. A policy has a winner if the same run won in both orders; a tie, an abstention or two
    winners leave it without one. A judge that always names one slot, or always ties, scores 1. Level: pair of runs,
    asked in both orders under both policies; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined without
    two clusters of such pairs answered. Interval: cluster-Wilson over transcripts.
    """
    return policy_quad_shares(SPEC.name, tallies, arm, lambda tally: tally.neither)


SPEC = MeasureSpec(
    name="neither-policy-preference",
    title="Neither-policy preference",
    about="How often it has no preference that survives the swap, neither under a policy nor under its opposite.",
    worse="higher",
    compute=neither_policy_preference,
    protocols=("agent",),
)
