"""Policy-blind preference: the same run wins under a policy and under its opposite."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_quad_shares


def policy_blind_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs of which the same run won under a policy and under its opposite.

    Formula: blind / quads. A policy has a winner if the same run won in both orders. The run is right under one policy
    and wrong under the other, so the policy did not decide; a coin that never ties scores 1/8. Level: pair of runs,
    asked in both orders under both policies; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined without
    two clusters of such pairs answered. Interval: cluster-Wilson over transcripts.
    """
    return policy_quad_shares(SPEC.name, tallies, arm, lambda tally: tally.blind)


SPEC = MeasureSpec(
    name="policy-blind-preference",
    title="Policy-blind preference",
    about="How often it prefers the same one of two runs under a policy and under its opposite.",
    worse="higher",
    compute=policy_blind_preference,
    protocols=("agent",),
)
