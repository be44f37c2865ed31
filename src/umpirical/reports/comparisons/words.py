"""What a difference between two judges comes to, in words, and the margin within which they count as equivalent."""

from collections.abc import Mapping
from typing import Literal

from umpirical.domain.errors import UsageError
from umpirical.measures.catalogue import Scale
from umpirical.reports.comparisons.families import Standing
from umpirical.reports.record import EstimateRecord, IntervalRecord, UndefinedRecord

Words = Literal[
    "first better",
    "second better",
    "first ahead",
    "second ahead",
    "equivalent",
    "differs",
    "undecided",
    "not comparable",
]
"""`better`: shown in a row of the primary family; `ahead`: a hint in any other row; `differs`: either of them, in a
measure for which neither direction is better; `equivalent`: shown to be within the margin; `undecided`: nothing shown.
"""

Worse = Literal["higher", "lower", "depends"]

MARGINS: Mapping[Scale, float] = {"rate": 0.05}
"""The difference that does not matter, by the scale of a measure. Only shares are compared pair by pair."""

NARROWER: Mapping[str, float] = {"unparsed-rate": 0.02, "failure-rate": 0.02}
"""Margins of single measures: where the usual limit is 0.02, a difference of 0.05 matters."""


def margin_of(measure: str, scale: Scale, given: float | None = None) -> float:
    """Returns the margin of a measure; `given` is what a person chose for all of them."""
    return given if given is not None else NARROWER.get(measure, MARGINS.get(scale, MARGINS["rate"]))


def refuse_margin(given: float | None) -> None:
    """Raises UsageError for a margin that no difference of two shares can have."""
    if given is not None and not 0 < given < 1:
        raise UsageError(f"the margin is {given:g}", fix="give a difference of two shares, such as 0.05")


def words_on(  # noqa: PLR0911  # one line for each of the words
    difference: EstimateRecord | UndefinedRecord,
    worse: Worse,
    standing: Standing,
    *,
    narrow: IntervalRecord | None,
    margin: float,
    missing: tuple[float, float],
) -> Words:
    """Returns what a difference, the second less the first, comes to.

    `narrow` is its 90 % interval, and `missing` the shares of both judges' units without an answer. What is missing
    never helps: equivalence has to hold however those units would have come out, and a judge is not called better by
    less than its own missing share.
    """
    if not isinstance(difference, EstimateRecord):
        return "not comparable"
    if _within(narrow, margin - sum(missing)):
        return "equivalent"
    if not standing.shown:
        return "undecided"
    if worse == "depends":
        return "differs"
    first = (difference.value > 0) == (worse == "higher")
    if abs(difference.value) <= missing[0 if first else 1]:
        return "undecided"
    if standing.family == "primary":
        return "first better" if first else "second better"
    return "first ahead" if first else "second ahead"


def letter(place: int) -> str:
    """Returns the sign of a judge in charts and matrices.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    rest, last = divmod(place, 26)
    return (letter(rest - 1) if rest else "") + chr(ord("A") + last)


def _within(narrow: IntervalRecord | None, margin: float) -> bool:
    if narrow is None or narrow.low is None or narrow.high is None:
        return False
    return -margin <= narrow.low and narrow.high <= margin
