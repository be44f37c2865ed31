"""Corrects an estimate that rests on a judge's verdicts, system by system, and says what that assumes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.special import chdtrc

from umpirical.claims.documents import correction_assumptions, sha256
from umpirical.claims.methods import (
    ALPHA,
    LARGEST_MISSING,
    LINEAR,
    Found,
    KnownRates,
    PairLimits,
    Sample,
    by_bounds,
    by_error_rates,
    by_label,
    by_random_labels,
    counted_rates,
    pair_limits,
    recorded_rates,
)
from umpirical.claims.record import (
    BoundsRecord,
    Correction,
    LabelSample,
    MatchRecord,
    Method,
    SettingsRecord,
    SourceRecord,
    SystemRecord,
)
from umpirical.datasets.verdicts.past_verdicts import parse_scale
from umpirical.datasets.verdicts.targets import ESTIMANDS, Estimand, TargetFile, TargetSpec, read_target
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.reports import numbers
from umpirical.stats.intervals import Bounds, cluster_wilson
from umpirical.study.results import find_run

NOTHING_LEARNED = 0.95
"""Share of the scale that bounds leave open, from which on nothing is learned."""

FEWEST_TO_COMPARE = 2


@dataclass(frozen=True, kw_only=True)
class CorrectionOptions:
    """What a person asks for."""

    estimate: Estimand
    columns: Mapping[str, str] | None = None
    scale: str = ""
    """The ends of the scale of a mean score, such as 1..5."""
    labels: LabelSample = "random"
    record: str | Path | None = None
    sensitivity: str = ""
    specificity: str = ""
    step: float = 1.0


def find_record(target: str | Path) -> ReadRecord:
    """Reads the record that a person means: a JSON file, the folder of a run, or the name of a run or a judge."""
    path = Path(target)
    return read_record(path if path.is_file() else find_run(target))


def correct_file(file: Path, options: CorrectionOptions) -> Correction:
    if options.estimate not in ESTIMANDS:
        raise UsageError(f"unknown estimate {options.estimate!r}", fix=f"choose one of: {', '.join(ESTIMANDS)}")
    low, high = _ends(options)
    target = read_target(file, TargetSpec(options.estimate, options.columns or {}, low, high))
    record = None if options.record is None else find_record(options.record)
    match = None if record is None else MatchRecord(name=record.file.name, sha256=sha256(record.text))
    settings = SettingsRecord(
        estimate=options.estimate,
        low=low,
        high=high,
        labels=options.labels,
        step=options.step,
        sensitivity=options.sensitivity,
        specificity=options.specificity,
        record=match,
    )
    return correct_target(target, settings, record)


def correct_target(target: TargetFile, settings: SettingsRecord, record: ReadRecord | None) -> Correction:
    """Corrects the estimate of each system by its own labels, or by what is known about the judge."""
    correct, method = _chosen(target, settings, record)
    samples = {name: Sample(rows, "cluster" in target.columns) for name, rows in target.systems.items()}
    systems = [_system(name, sample, settings, correct, method) for name, sample in sorted(samples.items())]
    return Correction(
        umpirical_version=version("umpirical"),
        source=SourceRecord(name=target.name, sha256=target.sha256, rows=target.rows, columns=target.columns),
        settings=settings,
        systems=systems,
        systems_differ=_systems_differ(list(samples.values())) if method == "labels" else None,
        assumptions=correction_assumptions(method, settings, target.columns, systems=len(systems)),
    )


def _ends(options: CorrectionOptions) -> tuple[float, float]:
    """Returns the ends of the scale: given for a mean score, 0 and 1 for any rate."""
    if options.estimate != "mean-score":
        if options.scale:
            raise UsageError(f"--scale does not apply to a {options.estimate}", fix="omit --scale")
        return 0.0, 1.0
    if not options.scale:
        raise UsageError("a mean score needs a scale", fix="give its ends, for example --scale 1..5")
    scale = parse_scale(options.scale)
    ends = (scale.low, scale.high) if scale.kind == "interval" else (scale.labels[0], scale.labels[-1])
    try:
        return float(ends[0] or 0.0), float(ends[1] or 0.0)
    except ValueError:
        raise UsageError(
            f"invalid scale {options.scale!r:.60}: its ends must be numbers", fix="for example --scale 1..5"
        ) from None


Correct = Callable[[Sample], Found]


def _chosen(target: TargetFile, settings: SettingsRecord, record: ReadRecord | None) -> tuple[Correct, Method]:
    """Returns how to correct, by what there is: labels first, since only they are about these very rows."""
    labelled = any(row.label is not None for rows in target.systems.values() for row in rows)
    counted = bool(settings.sensitivity or settings.specificity)
    if labelled and (record is not None or counted):
        fix = "omit --record, --sensitivity and --specificity, or use a file without labels"
        raise UsageError("the file has labels, so error rates from another source are not used", fix=fix)
    if labelled and settings.labels == "by-label":
        if settings.estimate == "mean-score":
            raise UsageError(
                "--labels by-label does not work for a mean score", fix="label a random sample of the rows"
            )
        return by_label, "rogan-gladen"
    if labelled:
        return by_random_labels, "labels"
    if record is not None and counted:
        raise UsageError("you gave both a record and error counts", fix="give only one of them")
    if settings.estimate == "win-rate" and record is not None:
        limits: PairLimits = pair_limits(record, step=settings.step, alpha=ALPHA / 2)
        return lambda sample: by_bounds(sample, limits), "bounds"
    if settings.estimate == "pass-rate" and (record is not None or counted):
        rates: KnownRates = (
            counted_rates(settings.sensitivity, settings.specificity) if record is None else recorded_rates(record)
        )
        if len(target.systems) > 1:
            message = (
                f"the file has {len(target.systems)} systems but only one pair of error rates, and a judge may err "
                "more on some systems"
            )
            raise UsageError(message, fix="label rows of each system at random, or correct one system at a time")
        return lambda sample: by_error_rates(sample, rates), "rogan-gladen"
    raise UsageError(
        f"{target.name} has no labels, and you gave no error rates for the judge",
        fix={
            "win-rate": "label a random sample of the rows, or get bounds with --record DATASHEET",
            "pass-rate": "label a random sample of the rows, or pass a stress report with --record",
            "mean-score": "label a random sample of the rows",
        }[settings.estimate],
    )


def _system(name: str, sample: Sample, settings: SettingsRecord, correct: Correct, method: Method) -> SystemRecord:
    uncorrected = _uncorrected(sample)
    missing = sum(sample.without.values())
    if method != "bounds" and sample.missing > LARGEST_MISSING:
        reason = (
            f"{numbers.count(missing)} of {numbers.count(len(sample.rows))} rows have no verdict, more than "
            f"{numbers.level(LARGEST_MISSING)}: run the judge on these rows again"
        )
        found = Found(method, Undefined(reason, sample.without))
    elif isinstance(uncorrected, Undefined):
        found = Found(method, uncorrected)
    else:
        found = correct(sample)
    corrected = _scaled(found.result, settings)
    return SystemRecord(
        system=name,
        rows=len(sample.rows),
        labels=len(sample.labelled),
        without=sample.without,
        uncorrected=_scaled(uncorrected, settings),
        corrected=corrected,
        method=found.method,
        tuning=found.tuning,
        separation=found.separation,
        with_missing=_with_missing(corrected, sample.missing, settings) if missing else None,
        error_rates=list(found.error_rates),
        warnings=list(found.warnings),
    )


def _uncorrected(sample: Sample) -> Result:
    """Returns what the verdicts alone say: their mean, cluster-Wilson."""
    answered = sample.answered
    clusters = np.arange(len(answered)) if answered.clusters is None else answered.clusters
    ids = np.unique(clusters, return_inverse=True)[1]
    if not len(answered) or ids.max() < 1:
        return Undefined("there are verdicts on fewer than two rows, or from only one cluster", sample.without)
    rate = cluster_wilson(np.bincount(ids, answered.judged), np.bincount(ids))
    return Estimate(
        value=rate.value,
        numerator=float(answered.judged.sum()),
        denominator=len(answered),
        unit="item",
        interval=Interval(rate.low, rate.high, method="cluster-Wilson"),
        clusters=rate.clusters,
        design_effect=rate.design_effect,
        excluded=sample.without,
    )


def _scaled(result: Estimate | Bounds | Undefined, settings: SettingsRecord) -> Estimate | BoundsRecord | Undefined:
    low, span = settings.low, settings.high - settings.low
    if isinstance(result, Bounds):
        learned = result.high - result.low < NOTHING_LEARNED
        return BoundsRecord(low=result.low, high=result.high, method=LINEAR, learned=learned)
    if (low, span) == (0.0, 1.0) or isinstance(result, Undefined) or result.interval is None:
        return result
    ends = {name: low + span * end for name in ("low", "high") if (end := getattr(result.interval, name)) is not None}
    return replace(
        result,
        value=low + span * result.value,
        numerator=low * result.denominator + span * result.numerator,
        interval=replace(result.interval, **ends),
    )


def _with_missing(
    corrected: Estimate | BoundsRecord | Undefined, missing: float, settings: SettingsRecord
) -> tuple[float, float] | None:
    """Returns the interval over all rows, if those without a verdict may have any value. Bounds have it in them."""
    if not isinstance(corrected, Estimate) or corrected.interval is None:
        return None
    low, high = corrected.interval.low, corrected.interval.high
    if low is None or high is None:
        return None
    return (1 - missing) * low + missing * settings.low, (1 - missing) * high + missing * settings.high


def _systems_differ(samples: Sequence[Sample]) -> float | None:
    """Returns how likely so different mean errors of the judge are, if it errs alike on every system.

    A chi-square test of the means of label less verdict, each with its variance over clusters.
    """
    means, weights = [], []
    for sample in samples:
        labelled = sample.labelled
        if len(labelled) < FEWEST_TO_COMPARE:
            continue
        errors = labelled.labels - labelled.judged
        clusters = np.arange(len(errors)) if labelled.clusters is None else labelled.clusters
        ids = np.unique(clusters, return_inverse=True)[1]
        groups = ids.max() + 1
        variance = float((np.bincount(ids, errors - errors.mean()) ** 2).sum()) / len(errors) ** 2
        if groups < FEWEST_TO_COMPARE or variance <= 0:
            continue
        means.append(float(errors.mean()))
        weights.append((groups - 1) / groups / variance)
    if len(means) < FEWEST_TO_COMPARE:
        return None
    centre = np.average(means, weights=weights)
    return float(chdtrc(len(means) - 1, float(np.array(weights) @ (np.array(means) - centre) ** 2)))
