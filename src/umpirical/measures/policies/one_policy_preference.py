"""One-policy preference: a winner under a policy or under its opposite, not under both."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_quad_shares


def one_policy_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs with a winner under exactly one of a policy and its opposite.

    Formula: one version / quads. A policy has a winner if the same run won in both orders; a tie, an abstention or two
    winners leave it without one. A coin that never ties scores 1/2. Level: pair of runs, asked in both orders under
    both policies; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined without two clusters of such pairs
    answered. Interval: cluster-Wilson over transcripts.
    """
    return policy_quad_shares(SPEC.name, tallies, arm, lambda tally: tally.one_version)


SPEC = MeasureSpec(
    name="one-policy-preference",
    title="One-policy preference",
    about="How often it has a preference that survives the swap under only one of a policy and its opposite.",
    worse="higher",
    compute=one_policy_preference,
    protocols=("agent",),
)
