"""Contradicted reasoning: a verdict other than the one that the reasoning before it states."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import TIER_2
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import EVERY_PROTOCOL, MeasureSpec
from umpirical.measures.estimates.rates import Counted, clustered_rate


def reasoning_contradiction(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of verdicts that differ from the last one stated in the reasoning that came with them.

    Formula: contradicted / stated, where stated counts the verdicts whose reasoning says outright which candidate is
    better, that neither is, or which grade is due; one that is hedged, negated or about one aspect states nothing.
    Level: call, of those whose reasoning states a verdict. Bounds: 0 to 1, higher is worse. Undefined if no reasoning
    states one, as for a judge that gives none. Interval: cluster-Wilson over tasks.
    """
    chosen = [tally for tally in tallies.calls if tally.arm == arm and tally.family not in TIER_2]
    reasoned = any(tally.reasoned for tally in chosen)
    result = clustered_rate(
        [Counted(tally.cluster, tally.contradicted, tally.stated) for tally in chosen],
        unit="call",
        empty="no reasoning states a verdict" if reasoned else "no verdict comes with a reasoning",
        left_out={
            "its reasoning states no verdict": sum(tally.reasoned - tally.stated for tally in chosen),
            "not asked yet": sum(tally.unasked for tally in chosen),
        },
    )
    return [Measure(SPEC.name, result, arm)]


SPEC = MeasureSpec(
    name="reasoning-contradiction",
    title="Contradicted reasoning",
    about="How often its verdict differs from the one that its own reasoning states.",
    worse="higher",
    compute=reasoning_contradiction,
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
)
