"""The smallest differences that a finished run could have seen.

A run of this size, with pairs of one family as alike as they were found to be, would most likely not have shown a
smaller one. So a limit that is INCONCLUSIVE, or a difference that is not shown, is read beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.domain.trials import BASELINE
from umpirical.reports import numbers
from umpirical.reports.bounds import design_effect
from umpirical.reports.record import (
    EstimateRecord,
    IntervalRecord,
    LimitRecord,
    MeasureRecord,
    Record,
    SmallestDifference,
    UndefinedRecord,
)
from umpirical.stats.clusters import student
from umpirical.stats.precision import errors_to_see, smallest_rate_difference

__all__ = [
    "LEVEL",
    "POWER",
    "Standard",
    "record_words",
    "smallest_difference",
    "smallest_differences",
    "smallest_words",
]

POWER = 0.80
"""Four runs of five show a difference of this size."""

LEVEL = 0.95
"""Of the interval that has to exclude the limit, or 0."""

RATE = "Wilson's interval on the effective units, with Student's t over clusters; noncentral t for the power"
OTHER = "standard error from the interval, noncentral t over clusters"


@dataclass(frozen=True, slots=True)
class Standard:
    """What a measure is held against: a limit, or no difference."""

    kind: Literal["at_most", "at_least", "none"]
    value: float


NO_DIFFERENCE = Standard("none", 0.0)


def smallest_differences(measures: Sequence[MeasureRecord], limits: Sequence[LimitRecord]) -> list[SmallestDifference]:
    """Returns what could have been seen: of every limit on the judge's own prompt, and of every difference."""
    found = {(measure.arm, measure.name, measure.stratum): measure for measure in measures}
    limited = {(limit.measure, limit.stratum) for limit in limits}
    held = [
        smallest_difference(measure, Standard(limit.kind, limit.value))
        for limit in limits
        if limit.arm == BASELINE and (measure := found.get((limit.arm, limit.measure, limit.stratum)))
    ]
    differences = [
        smallest_difference(measure, NO_DIFFERENCE)
        for measure in measures
        if measure.scale == "difference" and not measure.stratum and (measure.name, "") not in limited
    ]
    return [*held, *differences]


def smallest_difference(measure: MeasureRecord, standard: Standard) -> SmallestDifference:
    """Returns how far from its standard a measure would truly have to be for that to be shown."""
    known = {
        "measure": measure.name,
        "title": measure.title,
        "arm": measure.arm,
        "stratum": measure.stratum,
        "scale": measure.scale,
        "kind": standard.kind,
        "value": standard.value,
    }
    estimate = measure.result
    if isinstance(estimate, UndefinedRecord):
        return SmallestDifference(**known, why_not=estimate.reason)
    if estimate.clusters < 2:
        return SmallestDifference(**known, why_not="it rests on one cluster, so nothing says how much clusters differ")
    known |= {"units": estimate.denominator, "unit": estimate.unit, "clusters": estimate.clusters}
    if measure.scale == "rate" and 0 < standard.value < 1:
        effect = design_effect(estimate)
        return SmallestDifference(**known, **_of_rate(estimate, standard.value, effect), method=RATE)
    if estimate.censoring != "none" or estimate.interval is None:
        return SmallestDifference(**known, why_not="it has no interval on both sides")
    return SmallestDifference(**known, **_of_other(estimate, estimate.interval), method=OTHER)


def _of_rate(estimate: EstimateRecord, limit: float, effect: float) -> dict[str, object]:
    below, above = (
        smallest_rate_difference(
            limit, above=up, clusters=estimate.clusters, effective=estimate.denominator / effect, power=POWER
        )
        for up in (False, True)
    )
    ends = [str(end) for end, side in ((0, below), (1, above)) if side is None]
    why_not = f"not even a rate of {' or of '.join(ends)} would be told from the limit" if ends else ""
    return {"below": below, "above": above, "design_effect": effect, "why_not": why_not}


def _of_other(estimate: EstimateRecord, ends: IntervalRecord) -> dict[str, object]:
    """A value below the standard is shown by its upper end, and one above it by its lower."""
    errors = errors_to_see(estimate.clusters, power=POWER) / student(estimate.clusters, ends.level)
    below = None if ends.high is None else (ends.high - estimate.value) * errors
    above = None if ends.low is None else (estimate.value - ends.low) * errors
    open_ends = below is None or above is None
    return {"below": below, "above": above, "why_not": "its interval is open on one side" if open_ends else ""}


def smallest_words(rows: Sequence[SmallestDifference]) -> list[str]:
    """Returns what a run could have seen, in a sentence or two; nothing without limits or differences."""
    return [*_limit_words([row for row in rows if row.kind != "none"]), *_shift_words(rows)]


def record_words(record: Record) -> list[str]:
    """Returns the same for a record. That of a plugin's protocol may have no such rows."""
    return smallest_words(getattr(record, "smallest_differences", []))


def _limit_words(rows: Sequence[SmallestDifference]) -> Iterator[str]:
    if not rows:
        return
    passing = [(far, row) for row in rows if (far := row.inside) is not None]
    never = [row for row in rows if row.inside is None]
    said = "The smallest difference from a limit that this run could have seen, in four runs of five"
    if not passing:
        yield f"{said}: none that would pass one."
        return
    (least, easiest), (most, hardest) = (f(passing, key=lambda one: one[0]) for f in (min, max))
    spread = f"{_name(easiest)} has to be {numbers.rate(least)} inside its limit to pass"
    if hardest is not easiest:
        spread += f", and {_name(hardest)} {numbers.rate(most)}"
    yield f"{said}: {spread}."
    if never:
        total = f"{numbers.count(len(never))} of {numbers.count(len(rows))} limits"
        yield f"{total} cannot be shown to be met by a run of this size: {', '.join(_name(row) for row in never)}."


def _shift_words(rows: Sequence[SmallestDifference]) -> Iterator[str]:
    shifts = [row for row in rows if row.kind == "none" and row.measure.endswith("-shift") and row.above is not None]
    if shifts:
        said = ", ".join(f"{numbers.rate(row.above or 0.0)} in {_name(row)} ({row.arm})" for row in shifts)
        yield f"The smallest shift that it could have seen: {said}."


def _name(row: SmallestDifference) -> str:
    name = row.title[:1].lower() + row.title[1:]
    return f"{name} at {numbers.part(row.stratum)}" if row.stratum else name
