"""Items with a gold label, and what the judge gave them, as columns for the kernels."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import GoldTally, Tallies
from umpirical.measures.estimates.items import NO_ORDER, ONE_CLUSTER, item_rate, part_order, span, whole
from umpirical.stats.agreement import Line, Ratings, calibration_line
from umpirical.stats.coefficients import Coefficient
from umpirical.stats.ratios import ClusterRatio

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Labels = NDArray[np.object_]

NO_VERDICT = "without a verdict"

NO_GIVEN = "no item with a gold label has a verdict"

NO_LABELS = "an interval scale has no labels: this is not for such scales"

NO_POSITIVE = "no label is named as positive: name those that count as such"

ONE_LABEL = "all gold labels and verdicts are one: nothing to agree on"

ONE_SIDE = "all gold labels, or all verdicts, are the same: nothing to correlate"

FISHER = "jackknife over clusters of items, Student's t on Fisher's scale"


@dataclass(frozen=True)
class GoldItems:
    """The items of one test and group. A row is a cluster's items with one gold label and one verdict."""

    scale: GradeScale
    positive: frozenset[str]
    """Labels that count as positive; empty if the user has named none."""
    cluster: NDArray[np.intp]
    clusters: int
    gold: Labels
    given: Labels
    gold_score: Floats
    """In steps of the scale; NaN on a scale without order."""
    given_score: Floats
    items: Floats
    absent_gold: Labels
    """Gold labels of items without a verdict."""
    absent: Floats
    """How many of each there are."""

    @property
    def ordered(self) -> bool:
        return self.scale.kind != "nominal"

    @property
    def count(self) -> int:
        return round(float(self.items.sum()))

    @property
    def left_out(self) -> dict[str, int]:
        count = whole(float(self.absent.sum()))
        return {NO_VERDICT: count} if count else {}

    @cached_property
    def right(self) -> Bools:
        """Rows whose verdict is the gold label; on an interval scale numbers are compared, not how they are written."""
        if self.scale.kind == "interval":
            return np.abs(self.given_score - self.gold_score) < 1e-9
        return np.asarray(self.gold == self.given, dtype=bool)

    @cached_property
    def scores(self) -> Ratings:
        """Gold and given in steps; on a scale without order, a number for each label."""
        if self.ordered:
            return Ratings(self.gold_score, self.given_score, self.items, self.cluster)
        gold, given = (_numbered(side, self.scale).astype(float) for side in (self.gold, self.given))
        return Ratings(gold, given, self.items, self.cluster)

    def is_positive(self, labels: Labels) -> Bools:
        return np.fromiter((label in self.positive for label in labels), dtype=bool, count=len(labels))

    def classes(self, labels: Labels) -> NDArray[np.intp]:
        """Labels as numbers: positive or not, where the user has named positive ones; otherwise those of the scale."""
        return self.is_positive(labels).astype(np.intp) if self.positive else _numbered(labels, self.scale)

    def by_cluster(self, values: Floats) -> Floats:
        sums: Floats = np.bincount(self.cluster, weights=values, minlength=self.clusters).astype(float)
        return sums

    def undefined(self, reason: str) -> Undefined:
        return Undefined(reason, left_out=self.left_out)


def gold_measures(name: str, tallies: Tallies, arm: str, result: Callable[[GoldItems], Result]) -> list[Measure]:
    """One measure for every test and group with gold labels; `result` is called where two clusters have verdicts."""
    parts = _parts(_Held(tallies), arm)
    if not parts:
        return [Measure(name, Undefined("no item has a gold label"), arm)]
    return [
        Measure(name, _checked(items, result), arm, test, group)
        for (test, group), items in sorted(parts.items(), key=lambda part: part_order(*part[0]))
    ]


def gold_rate(
    items: GoldItems, hit: Bools, *, empty: str = NO_GIVEN, among: Bools | None = None, absent: Bools | None = None
) -> Result:
    """The share of the items in `among` that `hit`; `absent` marks the rows without a verdict that belong to them."""
    weight = items.items if among is None else items.items * among
    missing = items.absent if absent is None else items.absent * absent
    return item_rate(
        items.by_cluster(weight * hit),
        items.by_cluster(weight * ~hit),
        empty=empty,
        left_out={NO_VERDICT: float(missing.sum())},
    )


def coefficient_result(items: GoldItems, found: Coefficient, *, otherwise: str) -> Result:
    """A coefficient as a result; `otherwise` is the reason to give if it is not defined."""
    if not isfinite(found.value):
        return items.undefined(otherwise)
    return Estimate(
        value=found.value,
        numerator=float(items.items[items.right].sum()),
        denominator=items.count,
        unit="item",
        interval=Interval(found.low, found.high, FISHER),
        clusters=found.clusters,
        left_out=items.left_out,
    )


def line_result(items: GoldItems, part: Callable[[Line], ClusterRatio]) -> Result:
    """One of the two numbers of the calibration line, grade against gold grade, taken at the middle of the scale."""
    if not items.ordered:
        return items.undefined(NO_ORDER)
    line = calibration_line(items.scores, place=span(items.scale) / 2)
    if line is None:
        return items.undefined("all gold labels are the same, or would be without one cluster of items: no line")
    found, count = part(line), float(items.items.sum())
    return Estimate(
        value=found.value,
        numerator=found.value * count,
        denominator=round(count),
        unit="item",
        interval=Interval(found.low, found.high, "jackknife over clusters of items, Student's t"),
        clusters=found.clusters,
        left_out=items.left_out,
    )


def _checked(items: GoldItems, result: Callable[[GoldItems], Result]) -> Result:
    if items.clusters < 2:
        return items.undefined(ONE_CLUSTER if items.clusters else NO_GIVEN)
    return result(items)


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """Tallies compared by identity, because comparing a hundred thousand of them takes longer than counting them."""

    tallies: Tallies

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.tallies is other.tallies

    def __hash__(self) -> int:
        return id(self.tallies)


@lru_cache(maxsize=2)
def _parts(held: _Held, arm: str) -> dict[tuple[str, str], GoldItems]:
    """Made once for all measures against gold. The cache holds the tallies, so no others can take their identity."""
    tallies = held.tallies
    if tallies.scale is None:
        return {}
    parts: dict[tuple[str, str], list[GoldTally]] = {}
    for tally in tallies.golds:
        if tally.arm == arm:
            parts.setdefault((tally.test, tally.group), []).append(tally)
    positive = frozenset(tallies.positive)
    return {part: _columns(chosen, tallies.scale, positive) for part, chosen in parts.items()}


def _columns(chosen: Sequence[GoldTally], scale: GradeScale, positive: frozenset[str]) -> GoldItems:
    rows = [tally for tally in chosen if tally.given and tally.items > 0]
    absent = [tally for tally in chosen if not tally.given and tally.items > 0]
    numbers: dict[str, int] = {}
    cluster = [numbers.setdefault(tally.cluster, len(numbers)) for tally in rows]
    return GoldItems(
        scale=scale,
        positive=positive,
        cluster=np.array(cluster, dtype=np.intp),
        clusters=len(numbers),
        gold=np.array([tally.gold for tally in rows], dtype=object),
        given=np.array([tally.given for tally in rows], dtype=object),
        gold_score=_scores((tally.gold_score for tally in rows), scale),
        given_score=_scores((tally.given_score for tally in rows), scale),
        items=np.array([tally.items for tally in rows], dtype=float),
        absent_gold=np.array([tally.gold for tally in absent], dtype=object),
        absent=np.array([tally.items for tally in absent], dtype=float),
    )


def _scores(found: Iterable[float | None], scale: GradeScale) -> Floats:
    scores = np.array([np.nan if score is None else score for score in found], dtype=float)
    if scale.kind != "nominal" and not np.isfinite(scores).all():
        raise ValueError(f"a label of a scale with order ({scale.kind}) was counted without its score")
    return scores


def _numbered(labels: Labels, scale: GradeScale) -> NDArray[np.intp]:
    numbers = {label: number for number, label in enumerate(scale.labels)}
    if strange := sorted(set(labels) - set(numbers)):
        raise ValueError(f"expected labels of the scale, {', '.join(numbers)}; got {', '.join(strange)}")
    return np.fromiter((numbers[label] for label in labels), dtype=np.intp, count=len(labels))
