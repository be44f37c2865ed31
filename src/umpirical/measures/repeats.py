"""How much replies to the same request vary: items that were asked several times in the same words."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, isfinite, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import RepeatTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part
from umpirical.measures.estimates.items import NO_ORDER, ONE_CLUSTER, by_part, item_rate, shares_by_task, span
from umpirical.measures.estimates.rates import by_task
from umpirical.stats.intervals import cluster_mean
from umpirical.stats.repeats import answer_entropy, repeat_sums
from umpirical.stats.repeats import modal_share as share_of_mode
from umpirical.stats.repeats import repeat_icc as icc_with_interval

NOT_REPEATED = "no item was answered twice"


class Repeated(NamedTuple):
    """Items answered at least twice."""

    tallies: tuple[RepeatTally, ...]
    excluded: dict[str, int]
    repeats: str
    """How often they were answered, for the reader: `R = 5`, `R = 3 to 5`."""


def repeat_tallies(tallies: Tallies, variant: str) -> list[RepeatTally]:
    return [tally for tally in tallies.repeats if tally.variant == variant]


def repeated(chosen: Sequence[RepeatTally]) -> Repeated:
    """The items of `chosen` that were answered at least twice."""
    kept = tuple(tally for tally in chosen if _answers(tally) >= 2)
    single = sum(tally.items for tally in chosen) - sum(tally.items for tally in kept)
    answers = sorted({_answers(tally) for tally in kept})
    written = f"R = {answers[0]} to {answers[-1]}" if len(answers) > 1 else f"R = {answers[0]}" if answers else ""
    return Repeated(kept, {"answered less than twice": single} if single else {}, written)


def _answers(tally: RepeatTally) -> int:
    return sum(count for _, count in tally.answers)


def repeated_items(
    tallies: Tallies, variant: str, result: Callable[[Sequence[RepeatTally], GradeScale | None], Result]
) -> list[Part]:
    """`result` for the items of every kind of repeat and group."""
    return by_part(repeat_tallies(tallies, variant), lambda chosen: result(chosen, tallies.scale))


REPEATS = MeasureFamily(repeated_items, kinds=("grade",), protocols=("stress",))


@REPEATS.measure(
    "Verdict entropy",
    "How much its verdict on one text varies when asked again, in bits; 0 if it never changes.",
    worse="higher",
    scale="bits",
)
def verdict_entropy(chosen: Sequence[RepeatTally], scale: GradeScale | None) -> Result:
    """Mean over items of the entropy of the verdicts on one text, in bits.

    Formula: mean of sum x/R · (psi(R) - psi(x)) / ln 2, with x how often each verdict was given in R repeats. This is
    Zhang's estimator, which falls short of the entropy by sum over v >= R of sum p(1 - p)^v / v nats. For an item that
    is a coin toss that is 0.28 bits of 1 at R = 2 and 0.02 at R = 5; the entropy of the observed shares would fall
    short by 0.5 and 0.17. The method names R. Level: item answered at least twice. Bounds: 0 to the logarithm of the
    number of labels, higher is worse. Not given if the study has no repeats. Undefined if no item was answered twice.
    Interval: score interval over clusters of items, with the variance in proportion to the mean. Reference: Z. Zhang,
    Neural Computation 24 (2012).
    """
    kept, missing, repeats = repeated(chosen)
    bits, items = by_task(
        (t.cluster, t.items * answer_entropy([count for _, count in t.answers]), t.items) for t in kept
    )
    if len(items) < 2:
        return Undefined(ONE_CLUSTER if items else NOT_REPEATED, excluded=missing)
    mean = cluster_mean(bits, items)
    most = log2(len(scale.labels)) if scale is not None and scale.labels else inf
    # A nearly unbiased estimate exceeds the greatest possible entropy by chance where every verdict is a toss-up.
    shrink = min(1.0, most / mean.value) if mean.value > 0 else 1.0
    low, high = shrink * mean.low, min(shrink * mean.high, most)
    method = f"cluster score over clusters of items, variance in proportion to the mean, {repeats}"
    return Estimate(
        value=shrink * mean.value,
        numerator=sum(bits),
        denominator=int(sum(items)),
        unit="item",
        interval=Interval(low, high, method=method),
        clusters=mean.clusters,
        excluded=missing,
    )


@REPEATS.measure("Modal share", "How often repeats of the same question give its most frequent verdict.", worse="lower")
def modal_share(chosen: Sequence[RepeatTally], _: GradeScale | None) -> Result:
    """Mean over items of the share of an item's repeats that give its most frequent verdict.

    Formula: mean of max x / R. It is 1 for a judge that never changes its verdict, right or wrong. With few repeats it
    is too high, because the mode of two replies has at least one half. Compare only runs with the same R, which the
    method names; the flip rate has no such bias. Level: item answered at least twice. Bounds: 0 to 1, lower is worse.
    Not given if the study has no repeats. Undefined if no item was answered twice. Interval: cluster-Wilson over
    clusters of items. Reference: L. Shi et al., Judging the judges (2024), repetition stability.
    """
    kept, missing, repeats = repeated(chosen)
    shares = ((t.cluster, t.items * share_of_mode([count for _, count in t.answers]), t.items) for t in kept)
    result = item_rate(*shares_by_task(shares), empty=NOT_REPEATED, excluded=missing)
    if isinstance(result, Estimate) and result.interval is not None:
        limits = replace(result.interval, method=f"{result.interval.method}, {repeats}")
        return replace(result, interval=limits)
    return result


@REPEATS.measure(
    "Repeat ICC",
    "How much of the variation of its grades is between texts, not between repeats of one text.",
    worse="lower",
    scale="coefficient",
)
def repeat_icc(chosen: Sequence[RepeatTally], scale: GradeScale | None) -> Result:
    """One-way intraclass correlation ICC(1) of single grades, repeats within items.

    Formula: (MSB - MSW) / (MSB + (k - 1) MSW), with the mean squares between and within items, and k the repeats of an
    item as the analysis of variance counts them. It is 1 if all repeats of an item agree, and about 0 if a repeat is no
    nearer to the item's own grade than to any other. It depends on how different the items are: if all items deserve
    the same grade, even the steadiest judge has none. Level: item answered at least twice; the numerator counts
    answers. Bounds: -1/(k - 1) to 1, lower is worse. Not given if the study has no repeats. Undefined on a scale
    without order, if no item was answered twice, and if every answer is the same. Interval: jackknife over clusters of
    items, Student's t on Fisher's scale of intraclass correlations. Reference: P. E. Shrout and J. L. Fleiss,
    Psychological Bulletin 86 (1979).
    """
    kept, missing, repeats = repeated(chosen)
    if scale is None or scale.kind == "nominal":
        return Undefined(NO_ORDER, excluded=missing)
    parts = _parts(kept, span(scale))
    if len(parts) < 2:
        return Undefined(ONE_CLUSTER if len(parts) else NOT_REPEATED, excluded=missing)
    found = icc_with_interval(parts, diversity=_diversity(kept))
    if not isfinite(found.value):
        return Undefined("every answer is the same, so items cannot be distinguished", excluded=missing)
    return Estimate(
        value=found.value,
        numerator=float(parts[:, 1].sum()),
        denominator=sum(tally.items for tally in kept),
        unit="item",
        interval=Interval(
            found.low, found.high, method=f"jackknife over clusters, Student's t on Fisher's scale, {repeats}"
        ),
        clusters=found.clusters,
        excluded=missing,
    )


def _parts(kept: Sequence[RepeatTally], length: float) -> NDArray[np.float64]:
    """Sums for the kernel, by cluster; scores are shares of the scale, so that rounding can be recognised."""
    clusters: defaultdict[str, int] = defaultdict(lambda: len(clusters))
    rows = []
    for tally in kept:
        scored = [(count, score / length) for (_, count), score in zip(tally.answers, tally.scores, strict=True)]
        total, squares = sum(n * s for n, s in scored), sum(n * s * s for n, s in scored)
        rows.append((clusters[tally.cluster], sum(n for n, _ in scored), total, squares, tally.items))
    if not rows:
        return np.zeros((0, 6))
    cluster, answers, totals, sums, items = np.array(rows, dtype=float).T
    sums_by_row = repeat_sums(answers, totals, sums, items)
    return np.column_stack([np.bincount(cluster.astype(np.intp), weights=column) for column in sums_by_row.T])


def _diversity(kept: Sequence[RepeatTally]) -> float:
    """The chance that two answers to any two items differ."""
    counts: Counter[str] = Counter()
    for tally in kept:
        for answer, count in tally.answers:
            counts[answer] += count * tally.items
    total = counts.total()
    return 1 - sum((count / total) ** 2 for count in counts.values())
