"""Policy-blind verdicts: the same text gets the same verdict under a policy and its opposite."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_rate


def policy_blind_verdict(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the same verdict under a policy and under its opposite), on one text.

    Formula: same / twins. A judge that does not read the policy scores 1. What is neither this nor policy
    following is wrong under both. Level: text with a verdict under both policies. Bounds: 0 to 1, higher is
    worse. Undefined without two clusters of such texts. Interval: cluster-Wilson over transcripts; the bounds
    count what has no verdict either way.
    """
    return policy_rate(
        SPEC.name,
        tallies,
        arm,
        lambda tally: tally.same,
        lambda tally: tally.twins,
        lambda tally: tally.twins_missing,
        empty="no text has a verdict under both policies",
        without="without a verdict under both policies",
    )


SPEC = MeasureSpec(
    name="policy-blind-verdict",
    title="Policy-blind verdicts",
    about="How often its verdict on a text stays the same when the policy is turned into its opposite.",
    worse="higher",
    compute=policy_blind_verdict,
    kinds=("grade",),
    protocols=("agent",),
)
