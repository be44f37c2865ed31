"""The four ways to correct an estimate, each with what it refuses, and why."""

from dataclasses import dataclass, field

import numpy as np

from umpirical.claims.error_rates import KnownRates, PairLimits
from umpirical.claims.record import ErrorRateRecord, Method
from umpirical.claims.samples import Sample, Scores
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.reports import numbers
from umpirical.stats.exact import exact_high, exact_low, few_clusters
from umpirical.stats.misclassification import Corrected, Counted, confusion_inverse, rogan_gladen, separation
from umpirical.stats.partial_bounds import score_bounds
from umpirical.stats.prediction_powered import powered_mean, selection_p
from umpirical.stats.wilson import Bounds

FEWEST_LABELS, ENOUGH_LABELS = 20, 200
FEWEST_CLUSTERS = 10
FEW_EVENTS = 10
"""Labels of the rarer side below which the estimate is biased: by a third of its standard error at four of 200."""

LEAST_SEPARATION = 0.3
"""Youden's index below which nothing is divided by it: an error of the index moves the result several times as far."""

SELECTED, DOUBTFUL = 0.001, 0.05
"""P-values of a random sample at which labels are refused, and at which there is a warning."""

ALPHA = 0.05

RANDOM = "label rows that are drawn at random from all rows"

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
        interval=Interval(mean.low, mean.high, PPI),
        clusters=mean.clusters,
    )
    return Found("labels", estimate, tuning=mean.tuning, warnings=tuple(_label_warnings(labelled, others, mean.tuning)))


def _unfit_labels(labelled: Scores, others: Scores) -> str:
    """Returns why labels cannot correct anything; empty if they can."""
    if len(labelled) < FEWEST_LABELS:
        return f"{_n(len(labelled), 'label')}, at least {FEWEST_LABELS} are needed: {RANDOM}"
    if (clusters := _clusters(labelled)) < FEWEST_CLUSTERS:
        return f"labels from {_n(clusters, 'cluster')}, at least {FEWEST_CLUSTERS} are needed: {RANDOM}"
    if len(np.unique(labelled.labels)) == 1:
        return f"all {len(labelled)} labels are the same, so they show no spread: label more rows"
    return _selected(labelled, others) if len(others) else ""


def _selected(labelled: Scores, others: Scores) -> str:
    """Returns how the labelled rows are seen to be no random sample; empty if they are not."""
    if len(np.unique(labelled.judged)) == 1 and (others.judged != labelled.judged[0]).any():
        return f"the judge said the same about every labelled row, and not about the others: {RANDOM}"
    if (p := _selection(labelled, others)) < SELECTED:
        means = " and ".join(numbers.rate(float(each.judged.mean())) for each in (labelled, others))
        return (
            f"the labelled rows are no random sample: the judge's mean is {means} on the others "
            f"({numbers.p_value(p)}). {RANDOM.capitalize()}; if you chose so many of each label, say --labels by-label"
        )
    return ""


def _label_warnings(labelled: Scores, others: Scores, tuning: float) -> list[str]:
    warnings = []
    if len(labelled) < ENOUGH_LABELS:
        warnings.append(f"{len(labelled)} labels: below {ENOUGH_LABELS}, intervals may cover less than 95 %.")
    if (rare := float(min(labelled.labels.sum(), (1 - labelled.labels).sum()))) < FEW_EVENTS:
        side = f"One side has {numbers.count(rare)} of the labels"
        warnings.append(f"{side}: below {FEW_EVENTS}, the estimate leans away from it.")
    if not len(others):
        warnings.append("Every row has a label: this is the mean of the labels, and the judge adds nothing.")
    elif tuning == 0:
        warnings.append("The judge does not agree with the labels more than chance would: it is left out of account.")
    elif (p := _selection(labelled, others)) < DOUBTFUL:
        warnings.append(
            f"The judge's verdicts differ on labelled and other rows ({numbers.p_value(p)}): a random sample?"
        )
    return warnings


def _selection(labelled: Scores, others: Scores) -> float:
    return selection_p(labelled.judged, others.judged, clusters=labelled.clusters, other_clusters=others.clusters)


def by_label(sample: Sample) -> Found:
    """Rogan and Gladen: so many rows of each label show how often the judge errs; the other rows are the target."""
    labelled, target = sample.labelled, sample.others
    if not len(target):
        reason = "every row has a label, so none is left to estimate: keep the target's rows without labels"
        return Found("rogan-gladen", Undefined(reason))
    truths = np.unique(labelled.labels)
    kinds = np.unique(np.concatenate([labelled.judged, target.judged, truths]))[::-1]
    method: Method = "rogan-gladen" if set(kinds) <= {0.0, 1.0} else "confusion"
    rows = [labelled.among(labelled.labels == kind) for kind in kinds]
    for kind, row in zip(kinds, rows, strict=True):
        if len(row) < FEWEST_LABELS:
            reason = f"{_n(len(row), 'label')} of {_called(float(kind))}, at least {FEWEST_LABELS} are needed of each"
            return Found(method, Undefined(reason))
    if len(kinds) < 2:
        return Found(method, Undefined("all labels and verdicts are the same: nothing can be told apart"))
    confusion = [np.array([row.share(row.judged == kind).rate for kind in kinds]) for row in rows]
    units = [min(row.share(row.judged == kind).units for kind in kinds) for row in rows]
    shown = tuple(
        ErrorRateRecord(
            name=f"right where the label is {_called(float(kind))}",
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
        interval=Interval(found.low, found.high, words),
        clusters=_clusters(target),
    )
    return Found(method, estimate, separation=found.separation, error_rates=shown)


def _too_close(apart: float) -> str:
    return (
        f"the judge hardly tells the truths apart (Youden's index {numbers.rate(apart)}, at least "
        f"{numbers.rate(LEAST_SEPARATION)} is needed): dividing by that magnifies every error. "
        "Label a random sample of the rows, or use a better judge"
    )


def _called(score: float) -> str:
    return {1.0: "win or pass", 0.5: "tie", 0.0: "loss or fail"}.get(score, numbers.rate(score))


def _clusters(scores: Scores) -> int:
    return len(scores) if scores.clusters is None else len(np.unique(scores.clusters))


def _n(count: int, noun: str) -> str:
    return f"{numbers.count(count)} {numbers.units(noun, count)}"
