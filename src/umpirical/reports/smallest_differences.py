"""Statistical power: the smallest differences that a finished run could have shown.

A run of this size, with pairs of one family as alike as they were found to be, would most likely not have shown a
smaller difference. Read an INCONCLUSIVE check, or a difference that is not shown, beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.domain.trials import BASELINE
from umpirical.reports import numbers
from umpirical.reports.checks import effective_units
from umpirical.reports.policy import at
from umpirical.reports.record import CheckRecord, MeasureRecord, Record, SmallestDifference
from umpirical.stats.intervals import student
from umpirical.stats.precision import errors_to_see, smallest_exact_difference, smallest_rate_difference

POWER = 0.80
"""Four runs of five show a difference of this size."""

ERROR = 0.05
"""How often a run shows a difference of 0, on one side or on two."""

EXACT = "one-sided exact bound on the effective units"
WILSON = "two-sided Wilson interval with Student's t over clusters; noncentral t for the power"
ONE_SIDED = "one-sided, by the standard error of the interval; noncentral t over clusters"
TWO_SIDED = "two-sided, by the standard error of the interval; noncentral t over clusters"

Rule = Literal["bound", "interval"]
"""What shows a difference: a one-sided bound, as in a datasheet, or the whole interval, as everywhere else."""


@dataclass(frozen=True, slots=True)
class Standard:
    """What a measure is held against: a threshold, or no difference; and what shows that it is elsewhere."""

    kind: Literal["at_most", "at_least", "none"]
    value: float
    rule: Rule = "interval"


NO_DIFFERENCE = Standard("none", 0.0, "interval")


def smallest_differences(
    measures: Sequence[MeasureRecord], checks: Sequence[CheckRecord], *, rule: Rule = "interval"
) -> list[SmallestDifference]:
    """Returns what could have been seen: of every check on the judge's own prompt, and of every difference.

    `rule` is what the checks are held by.
    """
    found = {(measure.variant, measure.name, measure.stratum): measure for measure in measures}
    limited = {(check.measure, check.stratum) for check in checks}
    held = [
        smallest_difference(measure, Standard(check.kind, check.value, rule))
        for check in checks
        if check.variant == BASELINE and (measure := found.get((check.variant, check.measure, check.stratum)))
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
        "variant": measure.variant,
        "stratum": measure.stratum,
        "scale": measure.scale,
        "kind": standard.kind,
        "value": standard.value,
    }
    estimate = measure.result
    if isinstance(estimate, Undefined):
        return SmallestDifference(**known, why_not=estimate.reason)
    if estimate.clusters < 2:
        return SmallestDifference(**known, why_not="it has only one cluster, so the spread between clusters is unknown")
    known |= {"units": estimate.denominator, "unit": estimate.unit, "clusters": estimate.clusters}
    if measure.scale == "rate" and 0 < standard.value < 1:
        return SmallestDifference(**known, **_of_rate(estimate, standard))
    if estimate.censoring != "none" or estimate.interval is None:
        return SmallestDifference(**known, why_not="it has no interval on both sides")
    return SmallestDifference(**known, **_of_other(estimate, estimate.interval, standard.rule))


def _of_rate(estimate: Estimate, standard: Standard) -> dict[str, object]:
    if standard.rule == "bound":
        method, effect = EXACT, estimate.denominator / effective_units(estimate, estimate.denominator, alpha=ERROR)
        sides = [
            smallest_exact_difference(
                standard.value, above=up, effective=estimate.denominator / effect, power=POWER, alpha=ERROR
            )
            for up in (False, True)
        ]
    else:
        # At 0 and 1 the interval has no design effect either.
        method, effect = WILSON, estimate.design_effect or 1.0
        sides = [
            smallest_rate_difference(
                standard.value,
                above=up,
                clusters=estimate.clusters,
                effective=estimate.denominator / effect,
                power=POWER,
            )
            for up in (False, True)
        ]
    ends = [numbers.rate(end) for end, side in zip((0, 1), sides, strict=True) if side is None]
    why_not = f"not even a rate of {' or '.join(ends)} would be distinguishable from the threshold" if ends else ""
    return {"below": sides[0], "above": sides[1], "design_effect": effect, "method": method, "why_not": why_not}


def _of_other(estimate: Estimate, ends: Interval, rule: Rule) -> dict[str, object]:
    """The longer side of the interval counts for both: at the end of a scale the other one may have no length."""
    lengths = [abs(end - estimate.value) for end in (ends.low, ends.high) if end is not None]
    if len(lengths) < 2 or not max(lengths):
        return {"why_not": "its interval is open on one side" if len(lengths) < 2 else "its interval has no width"}
    level = 1 - ERROR if rule == "interval" else 1 - 2 * ERROR
    errors = errors_to_see(estimate.clusters, power=POWER, level=level) / student(estimate.clusters, ends.level)
    far = max(lengths) * errors
    return {"below": far, "above": far, "method": TWO_SIDED if rule == "interval" else ONE_SIDED}


def smallest_words(rows: Sequence[SmallestDifference]) -> list[str]:
    """Returns what a run could have seen, in a sentence or two; nothing without checks or differences."""
    return [*_check_words([row for row in rows if row.kind != "none"]), *_shift_words(rows)]


def record_words(record: Record) -> list[str]:
    """Returns the same for a record. That of a plugin's protocol may have no such rows."""
    return smallest_words(getattr(record, "smallest_differences", []))


def _check_words(rows: Sequence[SmallestDifference]) -> Iterator[str]:
    if not rows:
        return
    passing = [(far, row) for row in rows if (far := _within_reach(row, rows)) is not None]
    if not passing:
        yield "A run of this size is too small to pass any check with 80% power."
        return
    (least, easiest), (most, hardest) = (f(passing, key=lambda one: one[0]) for f in (min, max))
    spread = f"{_distance(least, easiest)} ({_name(easiest)})"
    if hardest is not easiest:
        spread += f" to {_distance(most, hardest)} ({_name(hardest)})"
    yield f"At this size, a judge must beat a threshold by {spread} to pass with 80% power."
    names = dict.fromkeys(_name(row) for row in rows)
    never = [name for name in names if name not in {_name(row) for _, row in passing}]
    if never:
        checks = f"{numbers.count(len(never))} of the {numbers.count(len(names))} checks"
        yield f"This run is too small to pass {checks}: {', '.join(never)}."


def _distance(far: float, row: SmallestDifference) -> str:
    return numbers.gap(far) if row.scale in {"rate", "difference"} else numbers.scaled(far, row.scale)


def _within_reach(row: SmallestDifference, rows: Sequence[SmallestDifference]) -> float | None:
    """Returns how far inside its threshold the truth has to be, or None where that is off the scale or past another."""
    far = row.inside
    if far is None:
        return None
    inward = row.value + far if row.kind == "at_least" else row.value - far
    if row.scale in {"rate", "difference"} and abs(inward) > 1:
        return None
    same = [one for one in rows if (one.measure, one.variant, one.stratum) == (row.measure, row.variant, row.stratum)]
    width = max(one.value for one in same) - min(one.value for one in same)
    return None if len(same) > 1 and 2 * far > width else far


def _shift_words(rows: Sequence[SmallestDifference]) -> Iterator[str]:
    shifts = [row for row in rows if row.kind == "none" and row.measure.endswith("-shift") and row.above is not None]
    if shifts:
        said = ", ".join(f"{_distance(row.above or 0.0, row)} in {_name(row)} ({row.variant})" for row in shifts)
        yield f"Smallest shift that this run could have shown: {said}."


def _name(row: SmallestDifference) -> str:
    name = row.title[:1].lower() + row.title[1:]
    return f"{name}{at(row.stratum)}"
