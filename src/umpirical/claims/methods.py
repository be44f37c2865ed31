"""How an estimate is corrected: the rows of one system as arrays, how often the judge errs, and the methods."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from umpirical.claims.record import ErrorRateRecord, Method
from umpirical.datasets.verdicts.targets import JudgedRow
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.domain.trials import BASELINE
from umpirical.protocols.catalogue import ReadRecord
from umpirical.reports import numbers
from umpirical.reports.checks import Side, design_effect, one_sided
from umpirical.reports.record import MeasureRecord
from umpirical.stats.corrections import (
    Corrected,
    Counted,
    Limits,
    confusion_inverse,
    powered_mean,
    rogan_gladen,
    score_bounds,
    selection_p,
    separation,
)
from umpirical.stats.intervals import Bounds, cluster_wilson, exact_high, exact_low, few_clusters

Floats = NDArray[np.float64]

LARGEST_MISSING = 0.10
"""Share of rows without a verdict above which nothing is corrected: too much depends on what they would have said."""


@dataclass(frozen=True)
class Scores:
    """Some rows with a verdict."""

    judged: Floats
    labels: Floats
    """As many, or none."""
    clusters: NDArray[np.str_] | None
    """None if each row stands for itself."""

    def __len__(self) -> int:
        return len(self.judged)

    def share(self, hits: NDArray[np.bool_]) -> Counted:
        """Returns a share of these rows on its effective number of units, which is never more than there are."""
        units = float(len(hits))
        if self.clusters is None or not 0 < hits.sum() < len(hits):
            return Counted(float(hits.sum()), units)
        numbers = np.unique(self.clusters, return_inverse=True)[1]
        if numbers.max() == 0:
            return Counted(float(hits.mean()), 1.0)
        rate = cluster_wilson(np.bincount(numbers, hits), np.bincount(numbers))
        effective = units / max(1.0, rate.design_effect or 1.0)
        return Counted(float(hits.mean()) * effective, effective)

    def among(self, mask: NDArray[np.bool_]) -> "Scores":
        labels = self.labels[mask] if len(self.labels) else self.labels
        return Scores(self.judged[mask], labels, None if self.clusters is None else self.clusters[mask])


@dataclass(frozen=True)
class Sample:
    """Everything there is about one system."""

    rows: Sequence[JudgedRow]
    clustered: bool

    @cached_property
    def labelled(self) -> Scores:
        return self._scores([row for row in self.rows if row.score is not None and row.label is not None])

    @cached_property
    def others(self) -> Scores:
        return self._scores([row for row in self.rows if row.score is not None and row.label is None])

    @cached_property
    def answered(self) -> Scores:
        return self._scores([row for row in self.rows if row.score is not None])

    @property
    def without(self) -> dict[str, int]:
        """Rows without a verdict, by reason."""
        return dict(sorted(Counter(row.why_not for row in self.rows if row.score is None).items()))

    @property
    def missing(self) -> float:
        """Share of rows without a verdict."""
        return sum(self.without.values()) / len(self.rows)

    def _scores(self, rows: Sequence[JudgedRow]) -> Scores:
        labels = [row.label for row in rows if row.label is not None]
        return Scores(
            np.array([row.score for row in rows], dtype=float),
            np.array(labels if len(labels) == len(rows) else [], dtype=float),
            np.array([row.cluster for row in rows], dtype=str) if self.clustered else None,
        )


# How often a judge errs, from counts that a person gives, from a record of the judge, or for bounds as limits.


_COUNTS = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", re.ASCII)

RIGHT, WRONG, EQUAL = "target-sensitivity", "wrong-choice-rate", "raw-false-preference"
"""The measures of a datasheet that bounds rest on: the better is named, the worse is, and one of two equals is."""

LABELS_NEEDED = "label a random sample of the rows, which needs no record"


@dataclass(frozen=True, slots=True)
class KnownRates:
    """Sensitivity and specificity that were measured elsewhere."""

    sensitivity: Counted
    specificity: Counted
    shown: tuple[ErrorRateRecord, ...]


@dataclass(frozen=True, slots=True)
class PairLimits:
    """How often, at most, a judge that compares errs: for truths win, tie, loss and verdicts win, tie, loss."""

    limits: Limits
    shown: tuple[ErrorRateRecord, ...]


def counted_rates(sensitivity: str, specificity: str) -> KnownRates:
    """Reads counts such as 45/50: true positives among positives, true negatives among negatives."""
    given = {"sensitivity": sensitivity, "specificity": specificity}
    rates = {name: _counts(text, name) for name, text in given.items()}
    shown = [_shown(name, rate, rate.units, "given") for name, rate in rates.items()]
    return KnownRates(rates["sensitivity"], rates["specificity"], tuple(shown))


def recorded_rates(found: ReadRecord) -> KnownRates:
    """Takes both rates from a stress report on originals with gold labels. A datasheet has neither."""
    rates, shown = [], []
    for name, wrong in (("sensitivity", "false-negative-rate"), ("specificity", "false-positive-rate")):
        measure = _measure(found, wrong, "original") or _measure(found, wrong, "")
        estimate = measure.result if measure else None
        if not isinstance(estimate, Estimate):
            why = f": {estimate.reason}" if estimate else ""
            message = f"{found.file.name} does not contain both error rates of the judge ({wrong}{why})"
            raise UsageError(message, fix=f"use a stress report on data with gold labels, or {LABELS_NEEDED}")
        hits, units = estimate.denominator - estimate.numerator, float(estimate.denominator)
        effective = units / design_effect(estimate)
        rates.append(Counted(hits / units * effective, effective))
        shown.append(_shown(name, Counted(hits, units), effective, f"{found.file.name}, 1 - {wrong}"))
    return KnownRates(rates[0], rates[1], tuple(shown))


def pair_limits(found: ReadRecord, *, step: float, alpha: float) -> PairLimits:
    """Takes three rates from a datasheet, each by a one-sided limit: all hold with an error of at most `alpha`.

    They are how often the better of two answers is named, how often the worse, and how often one of two equals. Calls
    without an answer count against the judge.
    """
    limits: dict[str, float] = {}
    shown = []
    wanted: tuple[tuple[str, str, Side], ...]
    wanted = ((RIGHT, f"{step:g}", "low"), (WRONG, f"{step:g}", "high"), (EQUAL, "", "high"))
    for name, stratum, side in wanted:
        measure = _measure(found, name, stratum)
        estimate = measure.result if measure else None
        if measure is None or not isinstance(estimate, Estimate):
            raise _no_rate(found, name, stratum)
        limits[name] = one_sided(measure, estimate, side, alpha=alpha / 3, count_missing=True)
        rate = Counted(estimate.numerator, estimate.denominator)
        title = f"{name} at {stratum}" if stratum else name
        shown.append(_shown(title, rate, rate.units / design_effect(estimate), found.file.name, limits[name]))
    better, worse, free = (limits[RIGHT], 1.0), (0.0, limits[WRONG]), (0.0, 1.0)
    rows = ((better, free, worse), (free, (1 - limits[EQUAL], 1.0), free), (worse, free, better))
    return PairLimits(rows, tuple(shown))


def _no_rate(found: ReadRecord, name: str, stratum: str) -> UsageError:
    steps = ", ".join(m.stratum for m in found.record.measures if m.name == name and m.variant == BASELINE)
    known = f"; it is available at {steps}" if steps and stratum else ""
    message = f"{found.file.name} has no {name}{f' at {stratum}' if stratum else ''}{known}"
    return UsageError(message, fix=f"use the datasheet of a compare judge, or {LABELS_NEEDED}")


def _counts(text: str, name: str) -> Counted:
    found = _COUNTS.fullmatch(text)
    if not found or int(found[1]) > int(found[2]) or int(found[2]) == 0:
        fix = (
            f"give a count and a total, for example --{name} 45/50: a proportion alone does not show how certain it is"
        )
        raise UsageError(f"invalid {name} {text!r:.60}", fix=fix)
    return Counted(float(found[1]), float(found[2]))


def _shown(name: str, rate: Counted, units: float, origin: str, limit: float | None = None) -> ErrorRateRecord:
    return ErrorRateRecord(
        name=name,
        value=rate.rate,
        numerator=rate.hits,
        denominator=rate.units,
        units=units,
        limit=limit,
        origin=origin,
    )


def _measure(found: ReadRecord, name: str, stratum: str) -> MeasureRecord | None:
    for measure in found.record.measures:
        if (measure.name, measure.variant, measure.stratum, getattr(measure, "group", "")) == (
            name,
            BASELINE,
            stratum,
            "",
        ):
            return measure if isinstance(measure, MeasureRecord) else None
    return None


# The four ways to correct an estimate, each with what it refuses, and why.


FEWEST_LABELS, ENOUGH_LABELS = 20, 200
FEWEST_CLUSTERS = 10
FEW_EVENTS = 10
"""Labels of the rarer side below which the estimate is biased: by a third of its standard error at four of 200."""

LEAST_SEPARATION = 0.3
"""Youden's index below which nothing is divided by it: an error of the index moves the result several times as far."""

SELECTED, DOUBTFUL = 0.001, 0.05
"""P-values of a random sample at which labels are refused, and at which there is a warning."""

ALPHA = 0.05

RANDOM = "label rows drawn at random from all rows"

PPI = "PPI++, Wilson on the effective sample size, Student's t"
LANG = "Rogan-Gladen, Lang and Reiczigel's interval"
INVERSE = "inverted confusion matrix, delta method"
LINEAR = "partial identification: linear program over one-sided limits"


@dataclass(frozen=True, slots=True)
class Found:
    """What a method has come to, with scores from 0 to 1."""

    method: Method
    result: Estimate | Bounds | Undefined
    """Bounds are those of partial identification."""
    tuning: float | None = None
    separation: float | None = None
    error_rates: tuple[ErrorRateRecord, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def by_random_labels(sample: Sample) -> Found:
    """PPI++: few labels, drawn at random, correct what the judge says about all rows."""
    labelled, others = sample.labelled, sample.others
    if refused := _unfit_labels(labelled, others):
        return Found("labels", Undefined(refused))
    mean = powered_mean(
        labelled.labels,
        labelled.judged,
        others.judged,
        clusters=labelled.clusters,
        other_clusters=others.clusters,
    )
    estimate = Estimate(
        value=min(max(mean.value, 0.0), 1.0),
        numerator=float(labelled.labels.sum()),
        denominator=len(labelled),
        unit="item",
        interval=Interval(mean.low, mean.high, method=PPI),
        clusters=mean.clusters,
    )
    return Found("labels", estimate, tuning=mean.tuning, warnings=tuple(_label_warnings(labelled, others, mean.tuning)))


def _unfit_labels(labelled: Scores, others: Scores) -> str:
    """Returns why labels cannot correct anything; empty if they can."""
    if len(labelled) < FEWEST_LABELS:
        return f"{_n(len(labelled), 'label')}, but at least {FEWEST_LABELS} are needed: {RANDOM}"
    if (clusters := _clusters(labelled)) < FEWEST_CLUSTERS:
        return f"labels from {_n(clusters, 'cluster')}, but at least {FEWEST_CLUSTERS} are needed: {RANDOM}"
    if len(np.unique(labelled.labels)) == 1:
        return f"all {len(labelled)} labels are the same, so their variation is unknown: label more rows"
    return _selected(labelled, others) if len(others) else ""


def _selected(labelled: Scores, others: Scores) -> str:
    """Returns how the labelled rows are seen to be no random sample; empty if they are not."""
    if len(np.unique(labelled.judged)) == 1 and (others.judged != labelled.judged[0]).any():
        return f"the judge gave every labeled row the same verdict but not the other rows: {RANDOM}"
    if (p := _selection(labelled, others)) < SELECTED:
        means = " and ".join(numbers.ratio(float(each.judged.mean())) for each in (labelled, others))
        return (
            f"the labeled rows are not a random sample: the judge's mean is {means} on the others "
            f"({numbers.p_value(p)}). {RANDOM.capitalize()}. If you chose how many rows of each label to label, pass "
            "--labels by-label"
        )
    return ""


def _label_warnings(labelled: Scores, others: Scores, tuning: float) -> list[str]:
    warnings = []
    if len(labelled) < ENOUGH_LABELS:
        warnings.append(
            f"{len(labelled)} labels: with fewer than {ENOUGH_LABELS}, the true coverage of intervals may be below 95%."
        )
    if (rare := float(min(labelled.labels.sum(), (1 - labelled.labels).sum()))) < FEW_EVENTS:
        side = f"One side has {numbers.count(rare)} of the labels"
        warnings.append(f"{side}: with fewer than {FEW_EVENTS}, the estimate is biased away from it.")
    if not len(others):
        warnings.append("Every row has a label: the result is the mean of the labels, and the verdicts add nothing.")
    elif tuning == 0:
        warnings.append("The judge agrees with the labels no more than by chance: its verdicts are ignored.")
    elif (p := _selection(labelled, others)) < DOUBTFUL:
        warnings.append(
            f"The judge's verdicts differ between labeled and other rows ({numbers.p_value(p)}). Check that the sample "
            "is random."
        )
    return warnings


def _selection(labelled: Scores, others: Scores) -> float:
    return selection_p(labelled.judged, others.judged, clusters=labelled.clusters, other_clusters=others.clusters)


def by_label(sample: Sample) -> Found:
    """Rogan and Gladen: so many rows of each label show how often the judge errs; the other rows are the target."""
    labelled, target = sample.labelled, sample.others
    if not len(target):
        reason = "every row has a label, so nothing is left to estimate: keep the target's rows without labels"
        return Found("rogan-gladen", Undefined(reason))
    truths = np.unique(labelled.labels)
    kinds = np.unique(np.concatenate([labelled.judged, target.judged, truths]))[::-1]
    method: Method = "rogan-gladen" if set(kinds) <= {0.0, 1.0} else "confusion"
    rows = [labelled.among(labelled.labels == kind) for kind in kinds]
    for kind, row in zip(kinds, rows, strict=True):
        if len(row) < FEWEST_LABELS:
            reason = (
                f"{_n(len(row), 'label')} of {_called(float(kind))}, but at least {FEWEST_LABELS} of each are needed"
            )
            return Found(method, Undefined(reason))
    if len(kinds) < 2:
        return Found(method, Undefined("all labels and verdicts are the same, so error rates cannot be estimated"))
    confusion = [np.array([row.share(row.judged == kind).rate for kind in kinds]) for row in rows]
    units = [min(row.share(row.judged == kind).units for kind in kinds) for row in rows]
    shown = tuple(
        ErrorRateRecord(
            name=f"correct where the label is {_called(float(kind))}",
            value=float(confusion[place][place]),
            numerator=float((row.judged == kind).sum()),
            denominator=len(row),
            units=units[place],
            origin="the labels",
        )
        for place, (kind, row) in enumerate(zip(kinds, rows, strict=True))
    )
    apart = separation(np.array(confusion))
    if apart < LEAST_SEPARATION:
        return Found(method, Undefined(_too_close(apart)), separation=apart, error_rates=shown)
    if method == "rogan-gladen":
        rates = [Counted(confusion[place][place] * units[place], units[place]) for place in (0, 1)]
        found = rogan_gladen(target.share(target.judged == kinds[0]), rates[0], rates[1])
        return _corrected(method, found, target, shown, LANG)
    given = [target.share(target.judged == kind) for kind in kinds]
    least = min(share.units for share in given)
    found = confusion_inverse(
        [share.rate * least for share in given],
        [row * count for row, count in zip(confusion, units, strict=True)],
        kinds,
    )
    return _corrected(method, found, target, shown, INVERSE)


def by_error_rates(sample: Sample, rates: KnownRates) -> Found:
    """Rogan and Gladen, with sensitivity and specificity from elsewhere."""
    apart = rates.sensitivity.rate + rates.specificity.rate - 1
    if apart < LEAST_SEPARATION:
        return Found("rogan-gladen", Undefined(_too_close(apart)), separation=apart, error_rates=rates.shown)
    target = sample.answered
    found = rogan_gladen(target.share(target.judged == 1), rates.sensitivity, rates.specificity)
    return _corrected("rogan-gladen", found, target, rates.shown, LANG)


def by_bounds(sample: Sample, limits: PairLimits) -> Found:
    """Partial identification: all win rates that the verdicts and the limits of a datasheet allow."""
    alpha, answered = ALPHA / 2 / 6, sample.answered
    shares = [answered.share(answered.judged == kind) for kind in (1.0, 0.5, 0.0)]
    if answered.clusters is not None:
        less = few_clusters(_clusters(answered), alpha)
        shares = [Counted(share.hits * less, share.units * less) for share in shares]
    ends = [(exact_low(*share, alpha), exact_high(*share, alpha)) for share in shares]
    bounds = score_bounds(ends, limits.limits, (1.0, 0.5, 0.0), missing=sample.missing)
    assert bounds is not None  # noqa: S101  # a judge without errors is within any such limits, and gives any verdicts
    return Found("bounds", bounds, error_rates=limits.shown)


def _corrected(
    method: Method, found: Corrected, target: Scores, shown: tuple[ErrorRateRecord, ...], words: str
) -> Found:
    estimate = Estimate(
        value=found.value,
        numerator=float(target.judged.sum()),
        denominator=len(target),
        unit="item",
        interval=Interval(found.low, found.high, method=words),
        clusters=_clusters(target),
    )
    return Found(method, estimate, separation=found.separation, error_rates=shown)


def _too_close(apart: float) -> str:
    return (
        f"the judge hardly separates the true labels (Youden's index {apart:.2f}, at least {LEAST_SEPARATION:.2f} is "
        "needed), and the correction would magnify every error. Label a random sample of the rows, or use a better "
        "judge"
    )


def _called(score: float) -> str:
    return {1.0: "win or pass", 0.5: "tie", 0.0: "loss or fail"}.get(score, f"{score:g}")


def _clusters(scores: Scores) -> int:
    return len(scores) if scores.clusters is None else len(np.unique(scores.clusters))


def _n(count: int, noun: str) -> str:
    return f"{numbers.count(count)} {numbers.units(noun, count)}"
