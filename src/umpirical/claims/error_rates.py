"""How often a judge errs, from counts that a person gives, from a record of the judge, or for bounds as limits."""

import re
from dataclasses import dataclass

from umpirical.claims.record import ErrorRateRecord
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import BASELINE
from umpirical.protocols.catalogue import ReadRecord
from umpirical.reports.bounds import Side, design_effect, one_sided
from umpirical.reports.record import EstimateRecord, MeasureRecord
from umpirical.stats.misclassification import Counted
from umpirical.stats.partial_bounds import Limits

_COUNTS = re.compile(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", re.ASCII)

RIGHT, WRONG, EQUAL = "target-sensitivity", "wrong-choice-rate", "raw-false-preference"
"""The measures of a datasheet that bounds rest on: the better is named, the worse is, and one of two equals is."""

LABELS_NEEDED = "label a random sample of the rows: no record is needed then"


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
        if not isinstance(estimate, EstimateRecord):
            why = f": {estimate.reason}" if estimate else ""
            message = f"{found.file.name} does not say how often the judge is wrong on each side ({wrong}{why})"
            raise UsageError(message, fix=f"name a stress report whose data has gold labels; or {LABELS_NEEDED}")
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
        if measure is None or not isinstance(estimate, EstimateRecord):
            raise _no_rate(found, name, stratum)
        limits[name] = one_sided(measure, estimate, side, alpha=alpha / 3, count_missing=True)
        rate = Counted(estimate.numerator, estimate.denominator)
        title = f"{name} at {stratum}" if stratum else name
        shown.append(_shown(title, rate, rate.units / design_effect(estimate), found.file.name, limits[name]))
    better, worse, free = (limits[RIGHT], 1.0), (0.0, limits[WRONG]), (0.0, 1.0)
    rows = ((better, free, worse), (free, (1 - limits[EQUAL], 1.0), free), (worse, free, better))
    return PairLimits(rows, tuple(shown))


def _no_rate(found: ReadRecord, name: str, stratum: str) -> UsageError:
    steps = ", ".join(m.stratum for m in found.record.measures if m.name == name and m.arm == BASELINE)
    known = f"; it has it at {steps}" if steps and stratum else ""
    message = f"{found.file.name} has no {name}{f' at {stratum}' if stratum else ''}{known}"
    return UsageError(message, fix=f"name the datasheet of a judge that compares; or {LABELS_NEEDED}")


def _counts(text: str, name: str) -> Counted:
    found = _COUNTS.fullmatch(text)
    if not found or int(found[1]) > int(found[2]) or int(found[2]) == 0:
        fix = f"how many of how many, such as --{name} 45/50: a share alone does not say how sure it is"
        raise UsageError(f"{text!r:.60} is no {name}", fix=fix)
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
    """Returns a measure of the baseline, over all groups of the data."""
    for measure in found.record.measures:
        if (measure.name, measure.arm, measure.stratum, getattr(measure, "group", "")) == (name, BASELINE, stratum, ""):
            return measure if isinstance(measure, MeasureRecord) else None
    return None
