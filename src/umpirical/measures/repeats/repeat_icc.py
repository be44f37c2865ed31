"""Repeat ICC: how much of the variation of grades is between items rather than between repeats."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import RepeatTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.items import NO_ORDER, ONE_CLUSTER, by_part, span
from umpirical.measures.estimates.repeats import NOT_REPEATED, repeat_tallies, repeated
from umpirical.stats.repeats import repeat_icc as icc_with_interval
from umpirical.stats.repeats import repeat_sums


def repeat_icc(tallies: Tallies, arm: str) -> list[Measure]:
    """One-way intraclass correlation ICC(1) of single grades, repeats within items.

    Formula: (MSB - MSW) / (MSB + (k - 1) MSW), the mean squares between and within items, k the repeats of an item as
    the analysis of variance counts them. 1 if all repeats of an item agree, about 0 if a repeat is no nearer to the
    item's own grade than to any other. It depends on how different the items are: if all items deserve the same grade,
    even the steadiest judge has none. Level: item answered at least twice; the numerator counts answers.
    Bounds: -1/(k - 1) to 1, lower is worse. Not given if the study has no repeats. Undefined on a scale without order,
    if no item was answered twice, and if every answer is the same. Interval: jackknife over clusters of items,
    Student's t on Fisher's scale of intraclass correlations.
    Reference: P. E. Shrout and J. L. Fleiss, Psychological Bulletin 86 (1979).
    """
    return by_part(SPEC.name, repeat_tallies(tallies, arm), arm, lambda chosen: _icc(chosen, tallies.scale))


def _icc(chosen: Sequence[RepeatTally], scale: GradeScale | None) -> Result:
    kept, missing, repeats = repeated(chosen)
    if scale is None or scale.kind == "nominal":
        return Undefined(NO_ORDER, left_out=missing)
    parts = _parts(kept, span(scale))
    if len(parts) < 2:
        return Undefined(ONE_CLUSTER if len(parts) else NOT_REPEATED, left_out=missing)
    found = icc_with_interval(parts, diversity=_diversity(kept))
    if not isfinite(found.value):
        return Undefined("every answer is the same: there is nothing to tell items by", left_out=missing)
    return Estimate(
        value=found.value,
        numerator=float(parts[:, 1].sum()),
        denominator=sum(tally.items for tally in kept),
        unit="item",
        interval=Interval(found.low, found.high, f"jackknife over clusters, Student's t on Fisher's scale, {repeats}"),
        clusters=found.clusters,
        left_out=missing,
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


SPEC = MeasureSpec(
    name="repeat-icc",
    title="Repeat ICC",
    about="How much of the differences between its grades is between texts, and not between repeats of one text.",
    worse="lower",
    compute=repeat_icc,
    scale="coefficient",
    kinds=("grade",),
    protocols=("stress",),
)
