"""Outcomes of calls, for every protocol and both kinds of judges."""

from collections.abc import Callable

from umpirical.domain.measures import Result
from umpirical.domain.stimuli import TIER_2, Family
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.measures.catalogue import BY_PART, EVERY_PROTOCOL, WHOLE_VARIANT, MeasureFamily, Part
from umpirical.measures.estimates.items import part_order
from umpirical.measures.estimates.rates import Counted, clustered_rate


def call_shares(tallies: Tallies, variant: str, count: Callable[[CallTally], int]) -> list[Part]:
    """A share of the calls made in tier 1, over the whole variant; planned calls not made yet are left out.

    Tier 2 has its own rows in the audit table.
    """
    chosen = [tally for tally in tallies.calls if tally.variant == variant and tally.family not in TIER_2]
    result = clustered_rate(
        [Counted(tally.cluster, count(tally), tally.planned - tally.unasked) for tally in chosen],
        unit="call",
        empty="no call was made",
        excluded={"not asked yet": sum(tally.unasked for tally in chosen)},
    )
    return [Part(result)]


CALLS = MeasureFamily(
    call_shares,
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
    contract=(
        "Level: call, of those made. Bounds: 0 to 1, {worse}. Undefined if no call was made. Interval: "
        "cluster-Wilson over tasks."
    ),
)

ASIDE = TIER_2 | {Family.BLANK}
CONTROLLED = frozenset(Family) - ASIDE - {Family.ORIGINAL}


@BY_PART.measure(
    "Abstentions",
    "How often it says that it gives no verdict. An abstention never counts as a verdict.",
    worse="depends",
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
)
def abstention_rate(tallies: Tallies, variant: str) -> list[Part]:
    """Share of usable replies that abstain: over all built-in pairs together, and by test on your own texts.

    Formula: abstained / (verdicts + abstained), over calls, repeats and seeds together. Blank inputs are excluded,
    because abstaining is right there. A judge that abstains on a changed text has no verdict that could have changed:
    compare it with every measure of change. Level: call with a reply that could be read. Bounds: 0 to 1, higher is
    worse. Not given if nothing was planned. Undefined if no call has such a reply, and without two clusters of items.
    Interval: cluster-Wilson over clusters of items; the bounds count calls without a usable reply as verdicts, and as
    abstentions.
    """
    parts: dict[str, list[CallTally]] = {}
    for tally in tallies.calls:
        if tally.variant == variant and tally.family not in ASIDE:
            parts.setdefault("" if tally.family in CONTROLLED else tally.family, []).append(tally)
    return [Part(_rate(parts[test]), test) for test in sorted(parts, key=lambda test: part_order(test, ""))]


def _rate(chosen: list[CallTally]) -> Result:
    verdicts = [tally.position_1 + tally.position_2 + tally.tie + tally.graded for tally in chosen]
    return clustered_rate(
        [Counted(t.cluster, t.abstained, said + t.abstained) for t, said in zip(chosen, verdicts, strict=True)],
        unit="call",
        empty="no call has a reply that could be read",
        excluded={
            "unparsed": sum(tally.unparsed for tally in chosen),
            "failed": sum(tally.failed for tally in chosen),
            "not asked yet": sum(tally.unasked for tally in chosen),
        },
    )


@CALLS.measure(
    "Unparsed replies",
    "How often its reply cannot be read as a verdict. Such a reply never counts as a verdict.",
    worse="higher",
)
def unparsed_rate(tally: CallTally) -> int:
    """Share of calls whose reply the judge's parser could not read.

    Formula: unparsed / asked.
    """
    return tally.unparsed


@CALLS.measure(
    "Failed calls", "How often a call brings no reply at all. A failed call never counts as a verdict.", worse="higher"
)
def failure_rate(tally: CallTally) -> int:
    """Share of calls that end in an error or a refusal, after retries.

    Formula: failed / asked.
    """
    return tally.failed


@WHOLE_VARIANT.measure(
    "Contradicted reasoning",
    "How often its verdict differs from the one that its own reasoning states.",
    worse="higher",
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
)
def reasoning_contradiction(tallies: Tallies, variant: str) -> Result:
    """Share of verdicts that differ from the last one stated in the reasoning that came with them.

    Formula: contradicted / stated, where stated counts the verdicts whose reasoning says explicitly which answer is
    better, that neither is, or which grade is due. Reasoning that is hedged, negated or about one aspect states
    nothing. Level: call, of those whose reasoning states a verdict. Bounds: 0 to 1, higher is worse. Undefined if no
    reasoning states one, as for a judge that gives none. Interval: cluster-Wilson over tasks.
    """
    chosen = [tally for tally in tallies.calls if tally.variant == variant and tally.family not in TIER_2]
    reasoned = any(tally.reasoned for tally in chosen)
    return clustered_rate(
        [Counted(tally.cluster, tally.contradicted, tally.stated) for tally in chosen],
        unit="call",
        empty="no reasoning states a verdict" if reasoned else "no verdict came with reasoning",
        excluded={
            "its reasoning states no verdict": sum(tally.reasoned - tally.stated for tally in chosen),
            "not asked yet": sum(tally.unasked for tally in chosen),
        },
    )
