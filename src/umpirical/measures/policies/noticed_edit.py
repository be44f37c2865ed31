"""Edits noticed: the original passes, and the edited transcript does not."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_rate


def noticed_edit(tallies: Tallies, arm: str) -> list[Measure]:
    """P(satisfied on the original and violated on the edited text), under the policy that only the original keeps.

    Formula: noticed / pairs. A judge that always says the same scores 0. Level: text with a verdict on both.
    Bounds: 0 to 1, lower is worse. Undefined without two clusters of such texts. Interval: cluster-Wilson over
    transcripts; the bounds count what has no verdict either way.
    """
    return policy_rate(
        SPEC.name,
        tallies,
        arm,
        lambda tally: tally.noticed,
        lambda tally: tally.pairs,
        lambda tally: tally.pairs_missing,
        empty="no edited text has a verdict on it and on its original",
        without="without a verdict on both texts",
    )


SPEC = MeasureSpec(
    name="noticed-edit",
    title="Edits noticed",
    about="How often it passes a transcript as it was, and not after an edit that breaks the policy.",
    worse="lower",
    compute=noticed_edit,
    kinds=("grade",),
    protocols=("agent",),
)
