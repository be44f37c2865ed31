"""Cost and accuracy of everything that could be taken: the judges compared, their readouts, and juries of them."""

from decimal import Decimal
from typing import Literal

from pydantic import Field, NonNegativeInt

from umpirical.reports.prices import PriceRecord
from umpirical.reports.record import ResultRecord, Strict

OptionKind = Literal["judge", "readout", "jury"]

Standing = Literal["front", "dominated", "not told apart", "apart"]
"""`dominated`: another is no dearer, and shown to be more accurate. `not told apart`: another may be no dearer, and is
at least as accurate as measured, but is not shown to be both. `front`: neither. `apart`: price or accuracy is unknown.
"""


class PointPrice(Strict):
    """Dollars for a percentage point of balanced accuracy above the baseline, for 1,000 verdicts."""

    least: Decimal | None = Field(default=None, description="At the measured accuracy and the least price.")
    most: Decimal | None = Field(default=None, description="At the measured accuracy and the greatest price.")
    low: Decimal | None = Field(default=None, description="At the least price and the upper end of the accuracy.")
    high: Decimal | None = Field(
        default=None, description="At the greatest price and the lower end; null if that is at the baseline."
    )
    why_not: str = Field(default="", description="Why there is none.")


class CurveStep(Strict):
    """What an interval of the accuracy of some width takes, in a design like that of the run."""

    half_width: float
    families: int
    calls: int
    dollars: tuple[Decimal, Decimal] | None = Field(description="At least and at most; null if no price is known.")


class CostRecord(Strict):
    """One judge, readout or jury."""

    kind: OptionKind
    sign: str = Field(description="Its letters on the page: `A`, `A both-orders`, `A+B+C`.")
    name: str
    judges: list[NonNegativeInt] = Field(description="The places of the judges that are asked.")
    calls_per_verdict: int
    price: PriceRecord
    accuracy: ResultRecord = Field(
        description="Balanced accuracy, on the calls that all were asked but pairs of identical answers."
    )
    per_point: PointPrice
    curve: list[CurveStep] = Field(default=[], description="The cost curve: dollars by the half-width of the interval.")
    no_curve: str = Field(default="", description="Why there is no curve.")
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = Field(
        default=None, description="Of a jury, the slowest of its members in each call."
    )
    standing: Standing
    dominated_by: list[NonNegativeInt] = Field(default=[], description="Places in `options`.")
    not_told_from: list[NonNegativeInt] = Field(default=[], description="Places in `options`.")


class AccuracyDifference(Strict):
    """The balanced accuracy of two options, on the calls that may speak for both."""

    first: NonNegativeInt
    second: NonNegativeInt
    difference: ResultRecord = Field(description="The second less the first.")
    adjusted_p: float | None = Field(description="By Holm's correction, over all pairs of options.")


class Costs(Strict):
    """Cost and accuracy, and who is on the front of both."""

    baseline: float = Field(description="The balanced accuracy of always saying that it is a tie.")
    options: list[CostRecord]
    differences: list[AccuracyDifference]
    stimuli: str = Field(description="What making the stimuli cost.")
    findings: list[str]
