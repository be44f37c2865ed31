"""Violation detection: a text that breaks the policy is said to."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_rate


def violation_detection(tallies: Tallies, arm: str) -> list[Measure]:
    """P(violated | the text breaks the policy).

    Formula: detected / broken. Level: text with a verdict. Bounds: 0 to 1, lower is worse. Undefined without two
    clusters of such texts. Interval: cluster-Wilson over transcripts; the bounds count what has no verdict either
    way.
    """
    return policy_rate(
        SPEC.name,
        tallies,
        arm,
        lambda tally: tally.detected,
        lambda tally: tally.broken,
        lambda tally: tally.broken_missing,
        empty="no text that breaks its policy has a verdict",
        without="without a verdict",
    )


SPEC = MeasureSpec(
    name="violation-detection",
    title="Violation detection",
    about="How often it says that a policy is violated where it is.",
    worse="lower",
    compute=violation_detection,
    kinds=("grade",),
    protocols=("agent",),
)
