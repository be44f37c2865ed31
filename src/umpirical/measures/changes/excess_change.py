"""Excess change: verdicts that change with the text, beyond those that change by themselves."""

from collections.abc import Sequence

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import change_tallies, unpaired
from umpirical.measures.estimates.items import ONE_CLUSTER, by_part, kept_in
from umpirical.measures.estimates.rates import by_task
from umpirical.stats.shifts import signed_mean

__all__ = ["SPEC", "excess_change"]


def excess_change(tallies: Tallies, arm: str) -> list[Measure]:
    """Change rate less the judge's own retest flip rate on the same items, by test.

    Formula: (changed - flipped on retest) / retested, over the items whose original was answered at least twice; the
    chance that two answers to the original differ is estimated without bias. 0 if the change of the text does nothing
    that asking again would not do. Only for tests that should leave the verdict as it is. Level: item with a verdict on
    both texts and its original repeated. Bounds: -1 to 1, higher is worse. Not given if the study has no such test.
    Undefined if no original was asked twice. Interval: score limits of what rose and of what fell between retest and
    change, joined over clusters of items; separate limits of the two rates would cover .78 where flips are rare. The
    bounds count an item without a verdict on one text as changed and as flipped on retest, and an item whose original
    was answered once as not flipped on retest, and as flipped.
    """
    return by_part(SPEC.name, change_tallies(tallies, arm, "same-verdict"), arm, _excess)


def _excess(chosen: Sequence[ChangeTally]) -> Result:
    missing = unpaired(chosen)
    if single := sum(tally.pairs - tally.retested for tally in chosen):
        missing["original answered once"] = single
    excess, items = by_task((t.cluster, t.changed_retested - t.retest_changed, t.retested) for t in chosen)
    if len(items) < 2:
        none = "no original was answered twice: repeats tell a change from the judge's own noise"
        return Undefined(ONE_CLUSTER if items else none, left_out=missing)
    found = signed_mean([max(e, 0.0) for e in excess], [max(-e, 0.0) for e in excess], items)
    low, high = kept_in(found.low, found.high, least=-1.0, most=1.0)
    absent = sum(tally.incomplete for tally in chosen)
    known = sum(excess) + sum(
        tally.changed - tally.changed_retested for tally in chosen if tally.pairs > tally.retested
    )
    count = sum(items) + single + absent
    return Estimate(
        value=found.value,
        numerator=sum(excess),
        denominator=int(sum(items)),
        unit="item",
        interval=Interval(low, high, "score limits of rises and falls, joined over clusters"),
        clusters=found.clusters,
        left_out=missing,
        bounds=((known - single - absent) / count, (known + absent) / count) if missing else None,
    )


SPEC = MeasureSpec(
    name="excess-change",
    title="Excess change",
    about="How much more often its verdict changes with the text than when the same text is asked again.",
    worse="higher",
    compute=excess_change,
    scale="difference",
    kinds=("grade",),
    protocols=("stress",),
)
