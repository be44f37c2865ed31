"""Items that were graded as they are and as a stress test changed them."""

from collections.abc import Callable, Sequence
from typing import Literal

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.estimates.items import (
    NO_ORDER,
    ONE_CLUSTER,
    by_part,
    item_rate,
    kept_in,
    shares_by_task,
    span,
)
from umpirical.measures.estimates.rates import by_task
from umpirical.stats.shifts import signed_mean

UNPAIRED = "without a verdict on both texts"

NO_CHANGED = "without a verdict on the changed text"

NO_ORIGINAL = "without a verdict on the original"

NO_VERDICTS = "no item has a verdict on both texts"


def change_tallies(
    tallies: Tallies, arm: str, expectation: Literal["same-verdict", "flipped-verdict"]
) -> list[ChangeTally]:
    """The tests that should leave a verdict as it is, or those that should change it."""
    return [tally for tally in tallies.changes if tally.arm == arm and tally.expectation == expectation]


def unpaired(chosen: Sequence[ChangeTally]) -> dict[str, int]:
    """Items left out, by reason."""
    changed = sum(tally.changed_missing for tally in chosen)
    original = sum(tally.original_missing for tally in chosen)
    either = sum(tally.incomplete for tally in chosen) - changed - original
    counts = {NO_CHANGED: changed, NO_ORIGINAL: original, UNPAIRED: either}
    return {reason: count for reason, count in counts.items() if count}


def shift_result(chosen: Sequence[ChangeTally], scale: GradeScale | None, *, level: float, method: str) -> Result:
    """Mean signed shift, changed less original, in steps.

    The bounds put the items left out at one end of the scale, and at the other.
    """
    missing = unpaired(chosen)
    if scale is None or scale.kind == "nominal":
        return Undefined(NO_ORDER, left_out=missing)
    ups, pairs = by_task((tally.cluster, (tally.distance + tally.shift) / 2, tally.pairs) for tally in chosen)
    downs, _ = by_task((tally.cluster, (tally.distance - tally.shift) / 2, tally.pairs) for tally in chosen)
    if len(pairs) < 2:
        return Undefined(ONE_CLUSTER if pairs else NO_VERDICTS, left_out=missing)
    # Shares of repeats may leave a rounding error where nothing moved one way.
    mean = signed_mean([max(up, 0.0) for up in ups], [max(down, 0.0) for down in downs], pairs, level=level)
    low, high = kept_in(mean.low, mean.high, least=-span(scale), most=span(scale))
    absent, net, count = sum(missing.values()), sum(ups) - sum(downs), sum(pairs) + sum(missing.values())
    farthest = absent * span(scale)
    return Estimate(
        value=mean.value,
        numerator=net,
        denominator=int(sum(pairs)),
        unit="item",
        interval=Interval(low, high, method, level),
        clusters=mean.clusters,
        left_out=missing,
        bounds=((net - farthest) / count, (net + farthest) / count) if missing else None,
    )


def flipped_share(name: str, tallies: Tallies, arm: str, count: Callable[[ChangeTally], float]) -> list[Measure]:
    """A share of the items of each test that should change the verdict, among those with both gold labels.

    `count` gives the numerator.
    """

    def result(chosen: Sequence[ChangeTally]) -> Result:
        missing = unpaired(chosen)
        if unlabelled := sum(tally.pairs - tally.golden for tally in chosen):
            missing["without a gold label for both texts"] = unlabelled
        hits, misses = shares_by_task((tally.cluster, count(tally), tally.golden) for tally in chosen)
        empty = "no item has a verdict and a gold label on both texts"
        return item_rate(hits, misses, empty=empty, left_out=missing)

    return by_part(name, change_tallies(tallies, arm, "flipped-verdict"), arm, result)
