"""Abstentions: answers that say there is no verdict."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.items import part_order
from umpirical.measures.estimates.rates import Counted, clustered_rate

__all__ = ["SPEC", "abstention_rate"]


def abstention_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the judge abstains | it answers), by test; on the user's own texts all repeats and seeds together.

    Formula: abstained / (graded + abstained), over calls. A judge that abstains on a changed text has no verdict that
    could have changed: read it beside every measure of change. Level: call with an answer that could be read.
    Bounds: 0 to 1, higher is worse. Not given if nothing was planned. Undefined if no call has such an answer, and
    without two clusters of items. Interval: cluster-Wilson over clusters of items; the bounds count calls without an
    answer as verdicts, and as abstentions.
    """
    parts: dict[str, list[CallTally]] = {}
    for tally in tallies.calls:
        if tally.arm == arm:
            parts.setdefault(tally.family, []).append(tally)
    ordered = sorted(parts, key=lambda test: part_order(test, ""))
    return [Measure(SPEC.name, _rate(parts[test]), arm, test) for test in ordered]


def _rate(chosen: list[CallTally]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, tally.abstained, tally.graded + tally.abstained) for tally in chosen],
        unit="call",
        empty="no call has an answer that could be read",
        left_out={
            "unparsed": sum(tally.unparsed for tally in chosen),
            "failed": sum(tally.failed for tally in chosen),
            "not asked yet": sum(tally.unasked for tally in chosen),
        },
    )


SPEC = MeasureSpec(
    name="abstention-rate",
    title="Abstentions",
    about="How often it answers that it gives no verdict. An abstention is never counted as a verdict.",
    worse="depends",
    compute=abstention_rate,
    kinds=("grade",),
    protocols=("stress",),
)
