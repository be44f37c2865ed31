"""One difference between two judges, as it is computed and as it is recorded.

Judges are named by their place in the list of a comparison, from 0. A difference is the second value less the first, on
the units that both answered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, NonNegativeInt

from umpirical.domain.measures import Interval, Result
from umpirical.measures.catalogue import Scale
from umpirical.measures.contrasts import Contrast
from umpirical.reports.comparisons.families import Family, Standing
from umpirical.reports.comparisons.words import Words, Worse, margin_of, words_on
from umpirical.reports.record import (
    EstimateRecord,
    IntervalRecord,
    MeasureRecord,
    Strict,
    UndefinedRecord,
    result_record,
)

ResultRecord = Annotated[EstimateRecord | UndefinedRecord, Field(discriminator="kind")]

Place = NonNegativeInt


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """One measure of two judges, on the units that both answered."""

    measure: str
    arm: str
    stratum: str
    difference: Result
    """The second value less the first."""
    first: int = 0
    second: int = 1
    narrow: Interval | None = None
    """The 90 % interval of the difference."""
    sign_flip_p: float | None = None
    missing: tuple[float, float] = (0.0, 0.0)
    """Shares of both judges' units that have no answer."""


class DifferenceRecord(Strict):
    """One measure of two judges, and their difference."""

    first: Place
    second: Place
    measure: str
    title: str
    about: str
    worse: Worse = Field(description="By the policy's limit, if it has one on this measure.")
    scale: Scale
    arm: str
    stratum: str
    difference: ResultRecord = Field(description="The second less the first, on the same pairs.")
    equivalence: IntervalRecord | None = Field(description="The interval that has to lie within the margin.")
    margin: float = Field(description="The difference that does not matter, either way.")
    missing: tuple[float, float] = Field(description="Shares of both judges' units that have no answer.")
    family: Family = Field(description="Primary if a policy has a limit on it, under the judges' own prompts.")
    p_value: float | None = Field(description="Of no difference, the row taken alone.")
    adjusted_p: float | None = Field(description="For the row among those of its family, over all pairs of judges.")
    sign_flip_p: float | None = Field(description="If the two could be exchanged within each family of tasks.")
    words: Words


def paired_differences(contrasts: Iterator[Contrast], first: int, second: int) -> Iterator[PairedDifference]:
    """Yields what two judges differ by, each with its interval for equivalence and its sign-flip test."""
    for contrast in contrasts:
        measure = contrast.measure
        yield PairedDifference(
            measure.name,
            measure.arm,
            measure.stratum,
            measure.result,
            first,
            second,
            narrow=contrast.narrow(),
            sign_flip_p=contrast.sign_flip_p(),
            missing=contrast.missing,
        )


def difference_record(
    one: PairedDifference,
    standing: Standing,
    measured: MeasureRecord | None,
    *,
    limited: Worse | None = None,
    margin: float | None = None,
) -> DifferenceRecord:
    """Records a difference. `measured` is the measure of one of the judges, for its title and meaning.

    `limited` is the direction that a limit calls worse, and `margin` what a person chose for all measures.
    """
    scale = measured.scale if measured else "rate"
    worse: Worse = limited or (measured.worse if measured else "depends")
    allowed = margin_of(one.measure, scale, margin)
    difference = result_record(one.difference)
    narrow = _interval(one.narrow)
    return DifferenceRecord(
        first=one.first,
        second=one.second,
        measure=one.measure,
        title=measured.title if measured else one.measure,
        about=measured.about if measured else "",
        worse=worse,
        scale=scale,
        arm=one.arm,
        stratum=one.stratum,
        difference=difference,
        equivalence=narrow,
        margin=allowed,
        missing=one.missing,
        family=standing.family,
        p_value=standing.p_value,
        adjusted_p=standing.adjusted_p,
        sign_flip_p=one.sign_flip_p,
        words=words_on(difference, worse, standing, narrow=narrow, margin=allowed, missing=one.missing),
    )


def winner(one: DifferenceRecord) -> Place | None:
    """Returns the place of the judge that a row shows to be better."""
    return {"first better": one.first, "second better": one.second}.get(one.words)


def _interval(found: Interval | None) -> IntervalRecord | None:
    if found is None:
        return None
    return IntervalRecord(low=found.low, high=found.high, level=found.level, method=found.method)
