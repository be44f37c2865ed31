"""Excess change: verdicts that change with the text, beyond those that change by themselves."""

from collections.abc import Sequence

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import change_tallies, unpaired
from umpirical.measures.estimates.items import ONE_CLUSTER, by_part, kept_in
from umpirical.measures.estimates.rates import by_task
from umpirical.stats.shifts import signed_mean

LEAST = 0.5
"""An item takes off at most this much: where both texts are answered in two ways, half of the combinations differ."""


def excess_change(tallies: Tallies, arm: str) -> list[Measure]:
    """Change rate less what the judge's own noise on the two texts would give, on the same items, by test.

    Formula: mean over items of P(o != c) - P(o != o') / 2 - P(c != c') / 2, where o and o' are two answers to the
    original and c and c' two answers to the changed text. With p and q the chances of each verdict on the two texts,
    that is sum (p - q)² / 2: 0 if the change does nothing that asking again would not do, and positive whether it makes
    verdicts less steady or steadier. Each of the three chances is estimated without bias from the repeats, so an
    estimate may be below 0. Only for tests that should leave the verdict as it is. Level: item with two
    verdicts on both texts. Bounds: -1 to 1, higher is worse. Not given if the study has no such test. Undefined if no
    item was answered twice on both texts. Interval: score limits of what is above 0 and of what is below, joined over
    clusters of items; Student's t on the clusters' means would cover .44 to .92 where few verdicts change. The bounds
    count an item without a verdict on one text as 0 and as 1, and an item that was answered once on one text as 0 and
    as its change.
    """
    return by_part(SPEC.name, change_tallies(tallies, arm, "same-verdict"), arm, _excess)


def _excess(chosen: Sequence[ChangeTally]) -> Result:
    missing = unpaired(chosen)
    if single := sum(tally.pairs - tally.retested for tally in chosen):
        missing["answered once on one of the texts"] = single
    excess, items = by_task((t.cluster, t.changed_retested - t.retest_changed, t.retested) for t in chosen)
    if len(items) < 2:
        none = "no item was answered twice on both texts: repeats tell a change from the judge's own noise"
        return Undefined(ONE_CLUSTER if items else none, left_out=missing)
    found = signed_mean([max(e, 0.0) for e in excess], [max(-e, 0.0) for e in excess], items)
    low, high = kept_in(found.low, found.high, least=-1.0, most=1.0)
    outside = single + sum(tally.incomplete for tally in chosen)
    count = sum(items) + outside
    return Estimate(
        value=found.value,
        numerator=sum(excess),
        denominator=int(sum(items)),
        unit="item",
        interval=Interval(low, high, "score limits of rises and falls, joined over clusters"),
        clusters=found.clusters,
        left_out=missing,
        bounds=((sum(excess) - LEAST * outside) / count, (sum(excess) + outside) / count) if missing else None,
    )


SPEC = MeasureSpec(
    name="excess-change",
    title="Excess change",
    about="How much more often its verdict changes with the text than when the same text is asked again.",
    worse="higher",
    compute=excess_change,
    scale="difference",
    kinds=("compare", "grade"),
    protocols=("stress", "pairs"),
)
