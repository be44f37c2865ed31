"""False alarms: a text that keeps the policy is said to break it."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_rate


def false_alarm(tallies: Tallies, arm: str) -> list[Measure]:
    """P(violated | the text keeps the policy).

    Formula: alarmed / kept. Level: text with a verdict. Bounds: 0 to 1, higher is worse. Undefined without two
    clusters of such texts. Interval: cluster-Wilson over transcripts; the bounds count what has no verdict either
    way.
    """
    return policy_rate(
        SPEC.name,
        tallies,
        arm,
        lambda tally: tally.alarmed,
        lambda tally: tally.kept,
        lambda tally: tally.kept_missing,
        empty="no text that keeps its policy has a verdict",
        without="without a verdict",
    )


SPEC = MeasureSpec(
    name="false-alarm",
    title="False alarms",
    about="How often it says that a policy is violated where it is kept.",
    worse="higher",
    compute=false_alarm,
    kinds=("grade",),
    protocols=("agent",),
)
