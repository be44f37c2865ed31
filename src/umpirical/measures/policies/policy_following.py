"""Policy following: the same text, or the same two, get the right verdict under a policy and its opposite."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_quad_shares, policy_rate


def policy_following(tallies: Tallies, arm: str) -> list[Measure]:
    """P(right under a policy and under its opposite), on one text or on one pair of runs.

    Formula: for a `grade` judge followed / twins; for a `compare` judge following / quads, where it is right under a
    policy if it names the right run in both orders. A judge that does not read the policy scores 0. For a `compare`
    judge it sums to 1 with policy-blind preference, policy reversal, one-policy and neither-policy preference.
    Level: text with a verdict under both policies; pair of runs, asked in both orders under both policies, repeats
    averaged. Bounds: 0 to 1, lower is worse. Undefined without two clusters of such texts or pairs. Interval:
    cluster-Wilson over transcripts; the bounds count what has no verdict either way.
    """
    if tallies.quads:
        return policy_quad_shares(SPEC.name, tallies, arm, lambda tally: tally.following)
    return policy_rate(
        SPEC.name,
        tallies,
        arm,
        lambda tally: tally.followed,
        lambda tally: tally.twins,
        lambda tally: tally.twins_missing,
        empty="no text has a verdict under both policies",
        without="without a verdict under both policies",
    )


SPEC = MeasureSpec(
    name="policy-following",
    title="Policy following",
    about="How often it is right on one text, or on one pair of texts, under a policy and under its opposite.",
    worse="lower",
    compute=policy_following,
    kinds=("compare", "grade"),
    protocols=("agent",),
)
