"""How verdicts change when a stress test changed the text."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Literal

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part
from umpirical.measures.estimates.items import NO_ORDER, ONE_CLUSTER, by_part, item_rate, kept_in, shares_by_task, span
from umpirical.measures.estimates.rates import DIGITS, by_task, task_sums
from umpirical.stats.differences import signed_mean

UNPAIRED = "without a verdict on both texts"
NO_CHANGED = "without a verdict on the changed text"
NO_ORIGINAL = "without a verdict on the original"
NO_VERDICTS = "no item has a verdict on both texts"


def change_tallies(
    tallies: Tallies, variant: str, expectation: Literal["same-verdict", "flipped-verdict"]
) -> list[ChangeTally]:
    """The tests that should leave a verdict as it is, or those that should change it."""
    return [tally for tally in tallies.changes if tally.variant == variant and tally.expectation == expectation]


LOST = "in comparisons without a verdict, in total"


def unpaired(chosen: Sequence[ChangeTally]) -> dict[str, int]:
    """Items left out, by reason; of those that are counted by some of their comparisons, what is missing."""
    changed = sum(tally.changed_missing for tally in chosen)
    original = sum(tally.original_missing for tally in chosen)
    either = sum(tally.incomplete for tally in chosen) - changed - original
    lost = ceil(round(sum(tally.lost for tally in chosen), DIGITS))
    counts = {NO_CHANGED: changed, NO_ORIGINAL: original, UNPAIRED: either, LOST: lost}
    return {reason: count for reason, count in counts.items() if count}


def shift_result(chosen: Sequence[ChangeTally], scale: GradeScale | None, *, level: float, method: str) -> Result:
    """Mean signed shift, changed less original, in steps.

    The bounds put the items left out at one end of the scale, and at the other.
    """
    missing = unpaired(chosen)
    if scale is None or scale.kind == "nominal":
        return Undefined(NO_ORDER, excluded=missing)
    ups, pairs = by_task((tally.cluster, (tally.distance + tally.shift) / 2, tally.pairs) for tally in chosen)
    downs, _ = by_task((tally.cluster, (tally.distance - tally.shift) / 2, tally.pairs) for tally in chosen)
    if len(pairs) < 2:
        return Undefined(ONE_CLUSTER if pairs else NO_VERDICTS, excluded=missing)
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
        interval=Interval(low, high, method=method, level=level),
        clusters=mean.clusters,
        excluded=missing,
        bounds=((net - farthest) / count, (net + farthest) / count) if missing else None,
    )


def same_verdicts(tallies: Tallies, variant: str, result: Callable[[Sequence[ChangeTally]], Result]) -> list[Part]:
    """`result` for the items of each test that should leave the verdict as it is, and of each group."""
    return by_part(change_tallies(tallies, variant, "same-verdict"), result)


def grade_shifts(
    tallies: Tallies, variant: str, result: Callable[[Sequence[ChangeTally], GradeScale | None], Result]
) -> list[Part]:
    """The same for a `result` that depends on the scale."""
    return same_verdicts(tallies, variant, lambda chosen: result(chosen, tallies.scale))


def flipped_shares(tallies: Tallies, variant: str, count: Callable[[ChangeTally], float]) -> list[Part]:
    """A share of the items of each test that should change the verdict, among those with both gold labels.

    `count` gives the numerator.
    """

    def result(chosen: Sequence[ChangeTally]) -> Result:
        missing = unpaired(chosen)
        if unlabelled := sum(tally.pairs - tally.golden for tally in chosen):
            missing["without a gold label for both texts"] = unlabelled
        hits, misses = shares_by_task((tally.cluster, count(tally), tally.golden) for tally in chosen)
        empty = "no item has a verdict and a gold label on both texts"
        return item_rate(hits, misses, empty=empty, excluded=missing)

    return by_part(change_tallies(tallies, variant, "flipped-verdict"), result)


SAME = MeasureFamily(same_verdicts, kinds=("compare", "grade"), protocols=("stress", "pairs"))
SHIFT = MeasureFamily(grade_shifts, kinds=("grade",), protocols=("stress",), scale="steps")

FLIPPED = MeasureFamily(
    flipped_shares,
    kinds=("grade",),
    protocols=("stress",),
    contract=(
        "Level: item with a verdict and a gold label on both texts. Bounds: 0 to 1, {worse}. Not given if the "
        "study has no such test. Undefined where no item has all four. Interval: cluster-Wilson over clusters of "
        "items."
    ),
)


@SAME.measure(
    "Change rate", "How often its verdict changes with a change of the text that should not matter.", worse="higher"
)
def change_rate(chosen: Sequence[ChangeTally]) -> Result:
    """Share of changed texts with a different verdict from the judge's own verdict on the original, by test.

    Formula: changed / pairs. If either text was asked several times, the share of all combinations of replies that
    differ. Gold labels are not used. A judge that varies from one call to the next changes its verdict without any
    change of the text: compare it with the excess change. Only for tests that should leave the verdict unchanged.
    Level: item with a verdict on both texts. Bounds: 0 to 1, higher is worse. Not given if the study has no such test.
    Undefined if no item has both verdicts. Interval: cluster-Wilson over clusters of items.
    """
    hits, misses = shares_by_task((tally.cluster, tally.changed, tally.pairs) for tally in chosen)
    return item_rate(hits, misses, empty=NO_VERDICTS, excluded=unpaired(chosen))


LEAST = 0.5
"""An item takes off at most this much: where both texts are answered in two ways, half of the combinations differ."""


@SAME.measure(
    "Excess change",
    "How much more often its verdict changes with the text than when the same text is asked again.",
    worse="higher",
    scale="difference",
)
def excess_change(chosen: Sequence[ChangeTally]) -> Result:
    """Change rate minus the rate that the judge's own noise on the two texts would give, on the same items, by test.

    Formula: mean over items of P(o != c) - P(o != o') / 2 - P(c != c') / 2, where o and o' are two replies to the
    original and c and c' two replies to the changed text. With p and q the chances of each verdict on the two texts,
    that is sum (p - q)² / 2. It is 0 if the change does no more than asking again, and positive whether it makes
    verdicts more or less steady. Each of the three chances is estimated without bias from the repeats, so an estimate
    may be below 0. Only for tests that should leave the verdict unchanged. Level: item with two verdicts on both texts.
    Bounds: -1 to 1, higher is worse. Not given if the study has no such test. Undefined if no item was answered twice
    on both texts. Interval: score limits of the parts above 0 and below 0, joined over clusters of items; Student's t
    on the means of the clusters would cover only 44% to 92% if few verdicts change. The bounds count an item without a
    verdict on one text as 0 and as 1, and an item that was answered once on one text as 0 and as its change.
    """
    missing = unpaired(chosen)
    if single := sum(tally.pairs - tally.retested for tally in chosen):
        missing["answered once on one of the texts"] = single
    excess, items = by_task((t.cluster, t.changed_retested - t.retest_changed, t.retested) for t in chosen)
    if len(items) < 2:
        none = "no item was answered twice on both texts, so a change cannot be separated from the judge's own noise"
        return Undefined(ONE_CLUSTER if items else none, excluded=missing)
    found = signed_mean([max(e, 0.0) for e in excess], [max(-e, 0.0) for e in excess], items)
    low, high = kept_in(found.low, found.high, least=-1.0, most=1.0)
    outside = single + sum(tally.incomplete for tally in chosen)
    count = sum(items) + outside
    return Estimate(
        value=found.value,
        numerator=sum(excess),
        denominator=int(sum(items)),
        unit="item",
        interval=Interval(low, high, method="score limits of rises and falls, joined over clusters"),
        clusters=found.clusters,
        excluded=missing,
        bounds=((sum(excess) - LEAST * outside) / count, (sum(excess) + outside) / count) if missing else None,
    )


@SHIFT.measure(
    "Grade shift",
    "How many steps a change of the text that should not matter moves its grade, up or down, on average.",
    worse="depends",
)
def grade_shift(chosen: Sequence[ChangeTally], scale: GradeScale | None) -> Result:
    """Mean of the grade on the changed text minus the grade on the original, by test, in steps of the scale.

    Formula: sum of differences / pairs. On a binary scale 0 is the first label and 1 the second, so the shift is a
    difference of shares. Verdicts that change equally often up and down give 0; the change rate shows those. Only for
    tests that should leave the verdict unchanged. Level: item with a verdict on both texts. Bounds: plus and minus the
    number of steps of the scale; 0 is best. Not given if the study has no such test. Undefined on a scale without
    order, or if no item has both verdicts. Interval: score limits of rises and of falls, joined over clusters of items;
    if nothing moved, it is as wide as 0 moves in that many items allow.
    """
    method = "score limits of rises and falls, joined over clusters"
    return shift_result(chosen, scale, level=0.95, method=method)


def shift_difference(
    first: Tallies, second: Tallies, variant: str, test: str, *, level: float = 0.95
) -> Measure | None:
    """The second judge's grade shift in a test less the first's, over the clusters of items that both gave verdicts on.

    Better writing moves both judges, so it cancels. None if a judge has no such test, or the labels have no order.
    """
    both = [
        [t for t in change_tallies(side, variant, "same-verdict") if (t.test, t.group) == (test, "")]
        for side in (first, second)
    ]
    if not all(both) or first.scale is None or first.scale.kind == "nominal":
        return None
    ours, theirs = (task_sums((t.cluster, t.shift, t.pairs) for t in side) for side in both)
    shared = [name for name in sorted(ours.keys() & theirs.keys()) if ours[name][1] and theirs[name][1]]
    missing = unpaired([*both[0], *both[1]])
    if len(shared) < 2:
        return Measure("grade-shift", Undefined(ONE_CLUSTER if shared else NO_VERDICTS, missing), variant, test)
    items = [float(theirs[name][1]) for name in shared]
    moves = [theirs[name][0] - n * ours[name][0] / ours[name][1] for name, n in zip(shared, items, strict=True)]
    found = signed_mean([max(m, 0.0) for m in moves], [max(-m, 0.0) for m in moves], items, level=level)
    limits = Interval(
        found.low, found.high, method="score limits of rises and falls, joined over clusters", level=level
    )
    result = Estimate(
        found.value, sum(moves), int(sum(items)), "item", limits, clusters=found.clusters, excluded=missing
    )
    return Measure("grade-shift", result, variant, test)


LEVEL = 0.90
"""Two one-sided tests at 5 % reject together if and only if this interval lies inside the margin."""


@SHIFT.measure(
    "Shift equivalence",
    "The grade shift with the interval that must lie inside a margin before the judge may be called invariant.",
    worse="depends",
)
def shift_equivalence(chosen: Sequence[ChangeTally], scale: GradeScale | None) -> Result:
    """The grade shift with its 90% interval: two one-sided tests (TOST) at 5%, by test, in steps of the scale.

    Formula: as for the grade shift. The judge is shown to be invariant to a change, within a margin, if the whole
    interval lies inside plus and minus the margin; finding no shift does not show it. This is about the net shift;
    invariance also requires a small excess change. Level: item with a verdict on both texts. Bounds: plus and minus the
    number of steps of the scale; 0 is best. Not given if the study has no such test. Undefined on a scale without
    order, or if no item has both verdicts. Interval: as for the grade shift, at 90%. Reference: D. J. Schuirmann,
    Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
    """
    method = "TOST at 5%: score limits of rises and falls, joined over clusters"
    return shift_result(chosen, scale, level=LEVEL, method=method)


@FLIPPED.measure(
    "Flip detection",
    "How often its verdict moves in the right direction when the text is changed so that it should.",
    worse="lower",
)
def flip_detection(tally: ChangeTally) -> float:
    """Share of changed texts on which the verdict moves as the gold label does, for changes that should matter.

    Formula: moved / golden. On a scale with order, the grade on the changed text must lie on the same side of the
    original grade as the gold label of the changed text. Without order, the verdict must change to that label. A judge
    that is wrong on both texts may still move: compare it with right on both.
    """
    return tally.moved


@FLIPPED.measure(
    "Right on both",
    "How often it is right both on a text and on its version changed to deserve another verdict.",
    worse="lower",
)
def right_on_both(tally: ChangeTally) -> float:
    """Share of texts with the right verdict on the original and on the version changed to deserve another.

    Formula: right on both / golden. A judge that gives every text one label is right on at most one of the two,
    although its accuracy on either alone may be high.
    """
    return tally.right_on_both
