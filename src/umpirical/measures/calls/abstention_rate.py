"""Abstentions: answers that say there is no verdict."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.stimuli import TIER_2, Family
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.measures.catalogue import EVERY_PROTOCOL, MeasureSpec
from umpirical.measures.estimates.items import part_order
from umpirical.measures.estimates.rates import Counted, clustered_rate

ASIDE = TIER_2 | {Family.VACUUM}

CONTROLLED = frozenset(Family) - ASIDE - {Family.ORIGINAL}


def abstention_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the judge abstains | it answers): over all controlled pairs together, and by test on the user's own texts.

    Formula: abstained / (verdicts + abstained), over calls, repeats and seeds together. Vacuum is left aside: to
    abstain there is right. A judge that abstains on a changed text has no verdict that could have changed: read it
    beside every measure of change. Level: call with an answer that could be read.
    Bounds: 0 to 1, higher is worse. Not given if nothing was planned. Undefined if no call has such an answer, and
    without two clusters of items. Interval: cluster-Wilson over clusters of items; the bounds count calls without an
    answer as verdicts, and as abstentions.
    """
    parts: dict[str, list[CallTally]] = {}
    for tally in tallies.calls:
        if tally.arm == arm and tally.family not in ASIDE:
            parts.setdefault("" if tally.family in CONTROLLED else tally.family, []).append(tally)
    ordered = sorted(parts, key=lambda test: part_order(test, ""))
    return [Measure(SPEC.name, _rate(parts[test]), arm, test) for test in ordered]


def _rate(chosen: list[CallTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.abstained, _verdicts(tally) + tally.abstained) for tally in chosen],
        unit="call",
        empty="no call has an answer that could be read",
        left_out={
            "unparsed": sum(tally.unparsed for tally in chosen),
            "failed": sum(tally.failed for tally in chosen),
            "not asked yet": sum(tally.unasked for tally in chosen),
        },
    )


def _verdicts(tally: CallTally) -> int:
    return tally.slot_1 + tally.slot_2 + tally.tie + tally.graded


SPEC = MeasureSpec(
    name="abstention-rate",
    title="Abstentions",
    about="How often it answers that it gives no verdict. An abstention is never counted as a verdict.",
    worse="depends",
    compute=abstention_rate,
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
)
