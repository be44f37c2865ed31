"""Verdict entropy: how unsettled the verdict on one text is."""

from collections.abc import Sequence
from math import inf, log2

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import RepeatTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.items import ONE_CLUSTER, by_part
from umpirical.measures.estimates.rates import by_task
from umpirical.measures.estimates.repeats import NOT_REPEATED, repeat_tallies, repeated
from umpirical.stats.ratios import cluster_mean
from umpirical.stats.repeats import answer_entropy


def verdict_entropy(tallies: Tallies, arm: str) -> list[Measure]:
    """Mean over items of the entropy of the verdicts on one text, in bits.

    Formula: mean of sum x/R · (psi(R) - psi(x)) / ln 2, with x the times each verdict was given in R repeats: Zhang's
    estimator, which falls short of the entropy by sum over v >= R of sum p(1 - p)^v / v nats. For an item that is a
    coin toss that is 0.28 bits of 1 at R = 2 and 0.02 at R = 5; the entropy of the observed shares would fall short by
    0.5 and 0.17. The method names R. Level: item answered at least twice. Bounds: 0 to the logarithm of the number of
    labels, higher is worse. Not given if the study has no repeats. Undefined if no item was answered twice. Interval:
    score interval over clusters of items, the variance in proportion to the mean.
    Reference: Z. Zhang, Neural Computation 24 (2012).
    """
    return by_part(SPEC.name, repeat_tallies(tallies, arm), arm, lambda chosen: _entropy(chosen, _most(tallies.scale)))


def _most(scale: GradeScale | None) -> float:
    return log2(len(scale.labels)) if scale is not None and scale.labels else inf


def _entropy(chosen: Sequence[RepeatTally], most: float) -> Result:
    kept, missing, repeats = repeated(chosen)
    bits, items = by_task(
        (t.cluster, t.items * answer_entropy([count for _, count in t.answers]), t.items) for t in kept
    )
    if len(items) < 2:
        return Undefined(ONE_CLUSTER if items else NOT_REPEATED, left_out=missing)
    mean = cluster_mean(bits, items)
    # A nearly unbiased estimate exceeds the greatest possible entropy by chance where every verdict is a toss-up.
    shrink = min(1.0, most / mean.value) if mean.value > 0 else 1.0
    low, high = shrink * mean.low, min(shrink * mean.high, most)
    method = f"cluster score over clusters of items, variance in proportion to the mean, {repeats}"
    return Estimate(
        value=shrink * mean.value,
        numerator=sum(bits),
        denominator=int(sum(items)),
        unit="item",
        interval=Interval(low, high, method),
        clusters=mean.clusters,
        left_out=missing,
    )


SPEC = MeasureSpec(
    name="verdict-entropy",
    title="Verdict entropy",
    about="How unsettled its verdict on one text is when asked again, in bits; 0 if it never changes.",
    worse="higher",
    compute=verdict_entropy,
    scale="bits",
    kinds=("grade",),
    protocols=("stress",),
)
