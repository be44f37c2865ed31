"""Policy reversal: the wrong run wins under a policy and under its opposite."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_quad_shares


def policy_reversal(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs of which the wrong run won under a policy and under its opposite.

    Formula: reversed / quads. A policy has a winner if the same run won in both orders. It takes a judge that reads
    the policy to get it wrong both times: a coin that never ties scores 1/16. Level: pair of runs, asked in both
    orders under both policies; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined without two clusters
    of such pairs answered. Interval: cluster-Wilson over transcripts.
    """
    return policy_quad_shares(SPEC.name, tallies, arm, lambda tally: tally.reversed)


SPEC = MeasureSpec(
    name="policy-reversal",
    title="Policy reversal",
    about="How often it prefers the wrong one of two runs under a policy and under its opposite.",
    worse="higher",
    compute=policy_reversal,
    protocols=("agent",),
)
