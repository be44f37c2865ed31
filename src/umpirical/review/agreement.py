"""How far people agree on what they reviewed, and how much of it they rejected.

Intervals are clustered by original: items made from the same text are alike. An item that was not made from another
text is an original itself.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Literal, NamedTuple

from umpirical.domain.measures import Estimate, Interval, Result, Undefined, Unit
from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewMode
from umpirical.review.records import adjudication, current, state_of

LabelMetric = Literal["nominal", "ordinal"]
"""How two labels are compared: as same or different, or by the labels between them."""

TOO_FEW = "fewer than two people decided"
NO_PAIR = "no item was decided by two people"
NO_LABELS = "no item was given a label by two people"
ALL_ONE = "all decisions are the same, so agreement cannot be distinguished from chance"
TWO_SCALES = "the items have different labels and cannot be compared; see each test"
ONE_ORIGINAL = "all items come from one original: an interval needs at least two"
NOT_SETTLED = "not decided yet"
NONE_SETTLED = "no item is accepted or rejected yet"


@dataclass(frozen=True, slots=True)
class Accord:
    """How far people agree on some items. Adjudications do not count, as they follow a disagreement."""

    raw: Result
    """Share of the pairs of decisions on one item that say the same: keep the same text with the same label, or
    reject. Unit: pair. Interval: cluster-Wilson."""
    alpha: Result
    """Krippendorff's alpha, nominal, of keeping or rejecting. The numerator counts the items on which all agree, the
    denominator the items that two or more people decided on. Interval: jackknife, Student's t on Fisher's scale."""
    label_alpha: Result
    """Krippendorff's alpha of the labels given with an acceptance or an edit, by the metric of the scale."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a review shows about the people, and about the generators."""

    overall: Accord
    tests: Mapping[str, Accord]
    """By test, sorted."""
    rejection: Result
    """Share of rejected items among those that are accepted or rejected."""
    rejection_by_test: Mapping[str, Result]
    rejection_by_generator: Mapping[str, Result]
    modes: Mapping[ReviewMode, int]
    """How many decisions that stand, adjudications included, were made in each mode."""
    reviewers: int
    """People whose decisions stand, adjudicators included."""


class _Reviewed(NamedTuple):
    """An item, with the decisions on it and their result."""

    item: ReviewItem
    standing: list[ReviewDecision]
    """The decision of each reviewer that stands."""
    first: list[ReviewDecision]
    """The first decision of each that is not undone: whoever goes back and changes sides has seen the others'."""
    settling: ReviewDecision | None
    """The adjudicator's decision, if there is one."""
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

    Agreement is measured on each person's first decision, rejection on the decisions that stand.

    `metric` is the metric of the labels, for all tests or by test; where tests differ, the overall metric is nominal.

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
    return _rate(counts, unit="pair", empty=NO_PAIR, excluded={TOO_FEW: alone})


def _rejection(reviewed: Sequence[_Reviewed]) -> Result:
    settled = [_Counted(one.origin, int(one.rejected), 1) for one in reviewed if one.rejected is not None]
    return _rate(settled, unit="item", empty=NONE_SETTLED, excluded={NOT_SETTLED: len(reviewed) - len(settled)})


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


def _rate(counts: Sequence[_Counted], *, unit: Unit, empty: str, excluded: dict[str, int]) -> Result:
    from umpirical.stats.intervals import cluster_wilson

    missing = {reason: count for reason, count in excluded.items() if count}
    sums: dict[tuple[str, str], tuple[int, int]] = {}
    for origin, numerator, denominator in counts:
        if denominator:
            y, n = sums.get(origin, (0, 0))
            sums[origin] = (y + numerator, n + denominator)
    if len(sums) < 2:
        return Undefined(ONE_ORIGINAL if sums else empty, excluded=missing)
    numerators, denominators = zip(*sums.values(), strict=True)
    found = cluster_wilson(numerators, denominators)
    return Estimate(
        value=found.value,
        numerator=float(sum(numerators)),
        denominator=sum(denominators),
        unit=unit,
        interval=Interval(found.low, found.high, method="cluster-Wilson over originals"),
        clusters=found.clusters,
        design_effect=found.design_effect,
        excluded=missing,
    )


def _alpha(
    reviewed: Sequence[_Reviewed], values: Sequence[Sequence[float]], metric: LabelMetric, *, empty: str = NO_PAIR
) -> Result:
    """Alpha for any number of people, each of whom decided on some of the items."""
    from umpirical.stats.agreement import Ratings, krippendorff_alpha

    rated = [(one.origin, given) for one, given in zip(reviewed, values, strict=True) if len(given) >= 2]
    alone = len(reviewed) - len(rated)
    missing = {TOO_FEW: alone} if alone else {}
    origins = {origin: number for number, origin in enumerate(dict.fromkeys(origin for origin, _ in rated))}
    if len(origins) < 2:
        return Undefined(ONE_ORIGINAL if rated else empty, excluded=missing)
    # An item that m people decided on counts 1/(m - 1) for each ordered pair. The kernel adds every pair in the other
    # order too, so each is passed in both orders at half that weight: the interval must not depend on who came first.
    rows = [
        (a, b, 0.5 / (len(given) - 1), origins[origin])
        for origin, given in rated
        for pair in combinations(given, 2)
        for a, b in (pair, pair[::-1])
    ]
    found = krippendorff_alpha(Ratings.of(*zip(*rows, strict=True)), metric=metric)
    if not isfinite(found.value):
        return Undefined(ALL_ONE, excluded=missing)
    return Estimate(
        value=found.value,
        numerator=float(sum(len(set(given)) == 1 for _, given in rated)),
        denominator=len(rated),
        unit="item",
        interval=Interval(found.low, found.high, method="jackknife over originals, Student's t on Fisher's scale"),
        clusters=found.clusters,
        excluded=missing,
    )
