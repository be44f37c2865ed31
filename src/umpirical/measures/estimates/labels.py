"""The user's own items with a gold label: which there are, what the judge gave to them, and results of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL
from umpirical.domain.tallies import GoldTally, Tallies
from umpirical.measures.catalogue import Part
from umpirical.measures.estimates.items import NO_ORDER, ONE_CLUSTER, item_rate, part_order, span, whole
from umpirical.stats.agreement import Coefficient, Line, Ratings, calibration_line, concordance_difference
from umpirical.stats.intervals import ClusterRatio

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Labels = NDArray[np.object_]
KAPPA = "weighted-kappa"
NO_VERDICT = "without a verdict"
NO_GIVEN = "no item with a gold label has a verdict"
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
    lengths: Floats
    """Characters and words of each row's texts, in two columns; NaN if they are not known."""
    absent_gold: Labels
    """Gold labels of items without a verdict."""
    absent: Floats
    """How many of each there are."""
    absent_lengths: Floats

    @property
    def ordered(self) -> bool:
        return self.scale.kind != "nominal"

    @property
    def count(self) -> int:
        return round(float(self.items.sum()))

    @property
    def excluded(self) -> dict[str, int]:
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

    def answered(self, *, rightly: bool) -> "GoldItems":
        """Returns the items as if those without a verdict had been given their gold label, or the label furthest off.

        They are all counted in the first cluster: this is for a value, and not for its interval.
        """
        given = self.absent_gold if rightly else _furthest(self.absent_gold, self.scale)
        scores = [
            _scores((self.scale.score(label) for label in side), self.scale) for side in (self.absent_gold, given)
        ]
        return replace(
            self,
            cluster=np.concatenate([self.cluster, np.zeros(len(given), dtype=np.intp)]),
            gold=np.concatenate([self.gold, self.absent_gold]),
            given=np.concatenate([self.given, given]),
            gold_score=np.concatenate([self.gold_score, scores[0]]),
            given_score=np.concatenate([self.given_score, scores[1]]),
            items=np.concatenate([self.items, self.absent]),
            lengths=np.concatenate([self.lengths, self.absent_lengths]),
        )

    def is_positive(self, labels: Labels) -> Bools:
        return np.fromiter((label in self.positive for label in labels), dtype=bool, count=len(labels))

    def classes(self, labels: Labels) -> NDArray[np.intp]:
        """Labels as numbers: positive or not, where the user has named positive ones; otherwise those of the scale."""
        return self.is_positive(labels).astype(np.intp) if self.positive else _numbered(labels, self.scale)

    def by_cluster(self, values: Floats) -> Floats:
        sums: Floats = np.bincount(self.cluster, weights=values, minlength=self.clusters).astype(float)
        return sums

    def undefined(self, reason: str) -> Undefined:
        return Undefined(reason, excluded=self.excluded)


def gold_parts(tallies: Tallies, variant: str, result: Callable[[GoldItems], Result]) -> list[Part]:
    """`result` for every test and group with gold labels, where two clusters have verdicts."""
    parts = _parts(_Held(tallies), variant)
    if not parts:
        return [Part(Undefined("no item has a gold label"))]
    return [Part(_checked(parts[part], result), *part) for part in sorted(parts, key=lambda part: part_order(*part))]


def ordered_parts(tallies: Tallies, variant: str, result: Callable[[GoldItems], Result]) -> list[Part]:
    """The same on a scale with order."""
    return gold_parts(tallies, variant, lambda items: result(items) if items.ordered else items.undefined(NO_ORDER))


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
        excluded={NO_VERDICT: float(missing.sum())},
    )


def coefficient_result(items: GoldItems, coefficient: Callable[[GoldItems], Coefficient], *, otherwise: str) -> Result:
    """A coefficient as a result; `otherwise` is the reason to give if it is not defined."""
    found = coefficient(items)
    if not isfinite(found.value):
        return items.undefined(otherwise)
    ends = [coefficient(items.answered(rightly=right)).value for right in (False, True)] if items.excluded else []
    return Estimate(
        value=found.value,
        numerator=float(items.items[items.right].sum()),
        denominator=items.count,
        unit="item",
        interval=Interval(found.low, found.high, method=FISHER),
        clusters=found.clusters,
        excluded=items.excluded,
        bounds=(min(*ends, found.value), max(*ends, found.value)) if ends and all(map(isfinite, ends)) else None,
    )


def agreement_difference(first: Tallies, second: Tallies, variant: str, *, level: float = 0.95) -> Measure | None:
    """The second judge's weighted kappa less the first's, over the clusters of originals that both gave verdicts on.

    None without labels, or on a scale whose labels have no order.
    """
    if first.scale is None or first.scale.kind not in {"binary", "ordinal"}:
        return None
    both = [
        [t for t in side.golds if (t.variant, t.test, t.group) == (variant, ORIGINAL, "") and t.items > 0]
        for side in (first, second)
    ]
    given = [{tally.cluster for tally in side if tally.given} for side in both]
    shared = {name: place for place, name in enumerate(sorted(given[0] & given[1]))}
    if not all(both):
        return None
    missing = sum(tally.items for side in both for tally in side if not tally.given)
    excluded = {NO_VERDICT: whole(missing)} if whole(missing) else {}
    if len(shared) < 2:
        return Measure(KAPPA, Undefined(ONE_CLUSTER if shared else NO_GIVEN, excluded=excluded), variant, ORIGINAL)
    one, other = (_shared_ratings([t for t in side if t.given and t.cluster in shared], shared) for side in both)
    found = concordance_difference(one, other, level=level)
    if found is None:
        return Measure(
            KAPPA, Undefined("the weighted kappa of one of the two is undefined", excluded=excluded), variant, ORIGINAL
        )
    count = round(one.units)
    limits = Interval(
        found.low, found.high, method="jackknife over clusters of items of both, Student's t", level=level
    )
    result = Estimate(found.value, found.value * count, count, "item", limits, found.clusters, excluded=excluded)
    return Measure(KAPPA, result, variant, ORIGINAL)


def _shared_ratings(rows: Sequence[GoldTally], places: Mapping[str, int]) -> Ratings:
    columns = zip(*((row.gold_score, row.given_score, row.items, places[row.cluster]) for row in rows), strict=True)
    gold, given, items, cluster = (np.array(column, dtype=float) for column in columns)
    return Ratings(gold, given, items, cluster.astype(np.intp))


def line_result(items: GoldItems, part: Callable[[Line], ClusterRatio]) -> Result:
    """One of the two numbers of the calibration line, grade against gold grade, taken at the middle of the scale."""
    line = calibration_line(items.scores, place=span(items.scale) / 2)
    if line is None:
        return items.undefined(
            "all gold labels are the same, or would be without one cluster of items, so there is no line"
        )
    found, count = part(line), float(items.items.sum())
    return Estimate(
        value=found.value,
        numerator=found.value * count,
        denominator=round(count),
        unit="item",
        interval=Interval(found.low, found.high, method="jackknife over clusters of items, Student's t"),
        clusters=found.clusters,
        excluded=items.excluded,
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
def _parts(held: _Held, variant: str) -> dict[tuple[str, str], GoldItems]:
    """Made once for all measures against gold. The cache holds the tallies, so no others can take their identity."""
    tallies = held.tallies
    if tallies.scale is None:
        return {}
    parts: dict[tuple[str, str], list[GoldTally]] = {}
    for tally in tallies.golds:
        if tally.variant == variant:
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
        lengths=_lengths(rows),
        absent_gold=np.array([tally.gold for tally in absent], dtype=object),
        absent=np.array([tally.items for tally in absent], dtype=float),
        absent_lengths=_lengths(absent),
    )


def _lengths(rows: Sequence[GoldTally]) -> Floats:
    known = [(row.characters, row.words) for row in rows]
    return np.array([[np.nan if side is None else side for side in row] for row in known], dtype=float).reshape(-1, 2)


def _furthest(labels: Labels, scale: GradeScale) -> Labels:
    """Returns for each label the end of the scale that is further off; on a scale without order, another label."""
    if scale.kind == "interval":
        ends = [repr(end) for end in (scale.low, scale.high)]
    else:
        ends = [scale.labels[0], scale.labels[-1]]
    found = [max((_distance(label, end, scale), end) for end in ends)[1] for label in labels]
    return np.array(found, dtype=object)


def _distance(one: str, other: str, scale: GradeScale) -> float:
    first, second = scale.score(one), scale.score(other)
    return float(one != other) if first is None or second is None else abs(first - second)


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
