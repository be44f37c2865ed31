"""How far people agree on what they reviewed, and how much of it they rejected.

The cluster of every interval is the original: what several items were made from makes them alike. An item written from
nothing is an original of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Literal, NamedTuple

from umpirical.domain.measures import Estimate, Interval, Result, Undefined, Unit
from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewMode
from umpirical.review.folding import adjudication, current, state_of

__all__ = ["Accord", "Agreement", "LabelMetric", "agreement"]

LabelMetric = Literal["nominal", "ordinal"]
"""How far apart two labels are: at all, or by the labels between them."""

TOO_FEW = "fewer than two people decided"
NO_PAIR = "no item was decided by two people"
NO_LABELS = "no item was given a label by two people"
ALL_ONE = "all decisions are one and the same: agreement by chance cannot be told from agreement"
TWO_SCALES = "the items have different labels, which cannot be compared: see each test"
ONE_ORIGINAL = "all items come from one original: an interval needs at least two"
NOT_SETTLED = "neither accepted nor rejected yet"
NONE_SETTLED = "no item is accepted or rejected yet"


@dataclass(frozen=True, slots=True)
class Accord:
    """How far people agree on some items. Adjudications do not count: they come after the disagreement."""

    raw: Result
    """Share of pairs of decisions on one item that say the same: to keep the same text with the same label, or to
    reject. Unit: pair. Interval: cluster-Wilson."""
    alpha: Result
    """Krippendorff's alpha, nominal, of keeping or rejecting. The numerator counts items on which all agree, the
    denominator items that two or more decided. Interval: jackknife, Student's t on Fisher's scale."""
    label_alpha: Result
    """Krippendorff's alpha of the labels given with an acceptance or an edit, in the metric of the scale."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a review shows of the people, and of the generators."""

    overall: Accord
    tests: Mapping[str, Accord]
    """By test, in order."""
    rejection: Result
    """Share of the items that are accepted or rejected that are rejected."""
    rejection_by_test: Mapping[str, Result]
    rejection_by_generator: Mapping[str, Result]
    modes: Mapping[ReviewMode, int]
    """Decisions that stand, adjudications included, by whether others' were hidden."""
    reviewers: int
    """People whose decisions stand, adjudicators included."""


class _Reviewed(NamedTuple):
    """An item, and what is made of it."""

    item: ReviewItem
    standing: list[ReviewDecision]
    """Each reviewer's decision that stands."""
    first: list[ReviewDecision]
    """What each of them said first and has not undone: who looks back and changes sides has seen what others said."""
    settling: ReviewDecision | None
    """An adjudicator's."""
    rejected: bool | None
    """None while it is neither accepted nor rejected."""

    @property
    def origin(self) -> tuple[str, str]:
        return (self.item.task, self.item.before) if self.item.before else (self.item.id, "")


def agreement(
    decisions: Iterable[ReviewDecision],
    items: Iterable[ReviewItem],
    *,
    overlap: int = 1,
    metric: LabelMetric | Mapping[str, LabelMetric] = "nominal",
) -> Agreement:
    """Agreement and rejection, from every decision and every item of a review.

    Agreement is that of each person's first decision, rejection that of the decisions that stand.

    `metric` is that of the labels, for all or by test; where tests differ in it, all together are taken as nominal.

    Reference: K. Krippendorff, Computing Krippendorff's alpha-reliability (2011).
    """
    said: dict[str, list[ReviewDecision]] = {}
    for decision in sorted(decisions, key=lambda decision: decision.number):
        said.setdefault(decision.item, []).append(decision)
    reviewed = [_reviewed(item, said.get(item.id, []), overlap=overlap) for item in items]
    tests = _parts(reviewed, lambda one: one.item.test)
    generators = _parts(reviewed, lambda one: one.item.generator)
    metrics = {test: metric if isinstance(metric, str) else metric.get(test, "nominal") for test in tests}
    standing = [decision for one in reviewed for decision in (*one.standing, one.settling) if decision is not None]
    return Agreement(
        overall=_accord(reviewed, "ordinal" if set(metrics.values()) == {"ordinal"} else "nominal"),
        tests={test: _accord(part, metrics[test]) for test, part in tests.items()},
        rejection=_rejection(reviewed),
        rejection_by_test={test: _rejection(part) for test, part in tests.items()},
        rejection_by_generator={generator: _rejection(part) for generator, part in generators.items()},
        modes=Counter(decision.mode for decision in standing),
        reviewers=len({decision.reviewer for decision in standing}),
    )


def _reviewed(item: ReviewItem, decisions: list[ReviewDecision], *, overlap: int) -> _Reviewed:
    rejected = {"accepted": False, "rejected": True}.get(state_of(decisions, overlap=overlap))
    standing = current(decisions)
    return _Reviewed(item, standing, _first(decisions, standing), adjudication(decisions), rejected)


def _first(decisions: list[ReviewDecision], standing: list[ReviewDecision]) -> list[ReviewDecision]:
    first: dict[str, ReviewDecision] = {}
    for decision in decisions:
        if not decision.undone and not decision.adjudicates and decision.kind != "skip":
            first.setdefault(decision.reviewer, decision)
    return [first[decision.reviewer] for decision in standing]


def _parts(reviewed: Sequence[_Reviewed], name: Callable[[_Reviewed], str]) -> dict[str, list[_Reviewed]]:
    parts: dict[str, list[_Reviewed]] = {}
    for one in reviewed:
        parts.setdefault(name(one), []).append(one)
    return dict(sorted(parts.items()))


def _accord(reviewed: Sequence[_Reviewed], metric: LabelMetric) -> Accord:
    kept = [[float(said.kind != "reject") for said in one.first] for one in reviewed]
    return Accord(
        raw=_raw(reviewed), alpha=_alpha(reviewed, kept, "nominal"), label_alpha=_label_alpha(reviewed, metric)
    )


def _raw(reviewed: Sequence[_Reviewed]) -> Result:
    counts: list[_Counted] = []
    for one in reviewed:
        pairs = [a.says == b.says for a, b in combinations(one.first, 2)]
        counts.append(_Counted(one.origin, sum(pairs), len(pairs)))
    alone = sum(len(one.standing) < 2 for one in reviewed)
    return _rate(counts, unit="pair", empty=NO_PAIR, left_out={TOO_FEW: alone})


def _rejection(reviewed: Sequence[_Reviewed]) -> Result:
    settled = [_Counted(one.origin, int(one.rejected), 1) for one in reviewed if one.rejected is not None]
    return _rate(settled, unit="item", empty=NONE_SETTLED, left_out={NOT_SETTLED: len(reviewed) - len(settled)})


def _label_alpha(reviewed: Sequence[_Reviewed], metric: LabelMetric) -> Result:
    labelled = [one for one in reviewed if one.item.labels]
    if len({one.item.labels for one in labelled}) > 1:
        return Undefined(TWO_SCALES)
    values = [
        [float(one.item.labels.index(said.label)) for said in one.first if said.label in one.item.labels]
        for one in labelled
    ]
    return _alpha(labelled, values, metric, empty=NO_LABELS)


class _Counted(NamedTuple):
    origin: tuple[str, str]
    numerator: int
    denominator: int


def _rate(counts: Sequence[_Counted], *, unit: Unit, empty: str, left_out: dict[str, int]) -> Result:
    from umpirical.stats.clusters import cluster_wilson

    missing = {reason: count for reason, count in left_out.items() if count}
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for origin, numerator, denominator in counts:
        if denominator:
            y, n = sums.get(origin, (0, 0))
            sums[origin] = (y + numerator, n + denominator)
    if len(sums) < 2:
        return Undefined(ONE_ORIGINAL if sums else empty, left_out=missing)
    numerators, denominators = zip(*sums.values(), strict=True)
    found = cluster_wilson(numerators, denominators)
    return Estimate(
        value=found.value,
        numerator=float(sum(numerators)),
        denominator=sum(denominators),
        unit=unit,
        interval=Interval(found.low, found.high, "cluster-Wilson over originals"),
        clusters=found.clusters,
        design_effect=found.design_effect,
        left_out=missing,
    )


def _alpha(
    reviewed: Sequence[_Reviewed], values: Sequence[Sequence[float]], metric: LabelMetric, *, empty: str = NO_PAIR
) -> Result:
    """Alpha of any number of people who each decided some of the items."""
    from umpirical.stats.agreement import Ratings
    from umpirical.stats.categories import krippendorff_alpha

    rated = [(one.origin, given) for one, given in zip(reviewed, values, strict=True) if len(given) >= 2]
    alone = len(reviewed) - len(rated)
    missing = {TOO_FEW: alone} if alone else {}
    origins = {origin: number for number, origin in enumerate(dict.fromkeys(origin for origin, _ in rated))}
    if len(origins) < 2:
        return Undefined(ONE_ORIGINAL if rated else empty, left_out=missing)
    # An item that m people decided counts 1/(m - 1) for each ordered pair: the kernel adds the pair the other way
    # round, so each pair is given in both orders at half of that. The interval then does not hang on who came first.
    rows = [
        (a, b, 0.5 / (len(given) - 1), origins[origin])
        for origin, given in rated
        for pair in combinations(given, 2)
        for a, b in (pair, pair[::-1])
    ]
    found = krippendorff_alpha(Ratings.of(*zip(*rows, strict=True)), metric=metric)
    if not isfinite(found.value):
        return Undefined(ALL_ONE, left_out=missing)
    return Estimate(
        value=found.value,
        numerator=float(sum(len(set(given)) == 1 for _, given in rated)),
        denominator=len(rated),
        unit="item",
        interval=Interval(found.low, found.high, "jackknife over originals, Student's t on Fisher's scale"),
        clusters=found.clusters,
        left_out=missing,
    )
