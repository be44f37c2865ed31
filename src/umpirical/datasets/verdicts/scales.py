"""The scale of grades that nobody has described, found in the grades themselves."""

import math
from collections.abc import Iterable

from umpirical.datasets.values import number_of
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale

ORDERS = (("I", "C"), ("I", "P", "C"), ("false", "true"), ("no", "yes"), ("fail", "pass"), ("incorrect", "correct"))
"""Labels whose order is known, lowest first: Inspect's, and plain words."""

MOST_STEPS = 20
"""Whole numbers that lie no farther apart than this are grades of an ordinal scale, used or not."""

OTHER = "(any other)"
"""Stands for the labels that were never used, where only one was."""


def scale_of(grades: Iterable[str]) -> GradeScale:
    """Returns the least scale that holds all grades. A scale whose ends were never used looks shorter than it is."""
    found = sorted(set(grades))
    numbers = [number for number in map(number_of, found) if number is not None]
    if found and len(numbers) == len(found):
        return _numeric(min(numbers), max(numbers), whole=all(number.is_integer() for number in numbers))
    for labels in ORDERS:
        if found and set(found) <= set(labels):
            return GradeScale("binary" if len(labels) == 2 else "ordinal", labels)
    return GradeScale("nominal", tuple(found) if len(found) > 1 else (*found, OTHER, "")[:2] if found else (OTHER, ""))


def on_scale(grade: str, scale: GradeScale) -> str | float | None:
    """Returns a grade as the scale has it: a label or, on an interval scale, a number; None if it is not on it."""
    number = number_of(grade)
    if scale.kind == "interval":
        return number if number is not None and scale.holds(number) else None
    if grade in scale.labels:
        return grade
    # 4.0 is the grade 4, as programs store whole numbers beside missing ones.
    whole = f"{number:.0f}" if number is not None and number.is_integer() else ""
    return whole if whole in scale.labels else None


def parse_scale(text: str) -> GradeScale:
    """Returns the scale that a person has typed: `1..5`, `0..1`, or labels with commas, lowest first."""
    low, dots, high = text.partition("..")
    if dots:
        ends = number_of(low.strip()), number_of(high.strip())
        if ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
            raise UsageError(f"{text!r} is no scale", fix="such as 1..5, or bad,fair,good")
        steps = ends[1] - ends[0]
        return _numeric(ends[0], ends[1], whole=ends[0].is_integer() and ends[1].is_integer() and steps > 1)
    labels = tuple(label.strip() for label in text.split(",") if label.strip())
    if len(set(labels)) != len(labels) or len(labels) < 2:
        raise UsageError(f"{text!r} is no scale", fix="at least two different labels: bad,fair,good")
    return GradeScale("binary" if len(labels) == 2 else "ordinal", labels)


def _numeric(low: float, high: float, *, whole: bool) -> GradeScale:
    if whole and 1 <= high - low <= MOST_STEPS:
        labels = tuple(str(number) for number in range(math.floor(low), math.floor(high) + 1))
        return GradeScale("binary" if len(labels) == 2 else "ordinal", labels)
    return GradeScale("interval", low=low, high=high if high > low else low + 1)
