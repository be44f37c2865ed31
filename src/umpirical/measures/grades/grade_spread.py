"""Same-quality spread: how far apart the grades of equally good answers are."""

from collections.abc import Sequence

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradePairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import NO_GRADED_PAIR, UNGRADED
from umpirical.measures.estimates.rates import ONE_TASK, by_task
from umpirical.stats.ratios import cluster_mean


def grade_spread(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean distance between the grades of two equally good answers, in steps of the scale.

    Formula: sum of |grade of u - grade of v| / pairs. Level: pair of equal quality, each answer graded apart.
    Bounds: 0 to the number of steps of the scale, higher is worse. Undefined without a pair graded on both sides.
    Interval: score interval over tasks, the variance in proportion to the mean; at 0 it is that of a share of pairs
    that differ by one step. Reference: ours; half of the mean square would be the variance within a quality, but a
    mean distance is in the unit the reader grades in.
    """
    chosen = [tally for tally in tallies.grade_pairs if tally.arm == arm and tally.family == Family.DELTA0]
    return [Measure(SPEC.name, _spread(chosen), arm)]


def _spread(chosen: Sequence[GradePairTally]) -> Result:
    incomplete = sum(tally.incomplete for tally in chosen)
    missing = {UNGRADED: incomplete} if incomplete else {}
    distances, pairs = by_task((tally.cluster, tally.distance, tally.pairs) for tally in chosen)
    if len(pairs) < 2:
        return Undefined(ONE_TASK if pairs else NO_GRADED_PAIR, left_out=missing)
    mean = cluster_mean(distances, pairs)
    return Estimate(
        value=mean.value,
        numerator=sum(distances),
        denominator=int(sum(pairs)),
        unit="pair",
        interval=Interval(mean.low, mean.high, "cluster score over tasks, variance in proportion to the mean"),
        clusters=mean.clusters,
        left_out=missing,
    )


SPEC = MeasureSpec(
    name="grade-spread",
    title="Same-quality spread",
    about="How many steps of the scale the grades of two equally good answers are apart, on average.",
    worse="higher",
    compute=grade_spread,
    scale="steps",
    kinds=("grade",),
)
