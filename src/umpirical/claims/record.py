"""The corrected estimate, `corrected-estimate/1`, and the claim that joins it with a datasheet, `judge-claim/2`."""

from typing import Annotated, Literal

from pydantic import Field

from umpirical.datasets.verdicts.targets import Estimand
from umpirical.domain.measures import Estimate, Undefined
from umpirical.reports.decision import Advice
from umpirical.reports.record import MeasureRecord, ResultRecord, Strict

LabelSample = Literal["random", "by-label"]
"""How the labelled rows were chosen: at random from all rows, or so many of each label."""

Method = Literal["labels", "rogan-gladen", "confusion", "bounds"]


class SourceRecord(Strict):
    """The file that the verdicts are in."""

    name: str
    sha256: str
    rows: int
    columns: dict[str, str] = Field(description="The column used for each role.")


class MatchRecord(Strict):
    """A file that something rests on, by its content."""

    name: str
    sha256: str


class SettingsRecord(Strict):
    """What a person has said, so that everything can be computed again."""

    estimate: Estimand
    low: float = Field(default=0.0, description="Lowest value of the scale.")
    high: float = Field(default=1.0, description="Highest value of the scale.")
    labels: LabelSample = "random"
    step: float = Field(default=1.0, description="For bounds: the smallest difference that counts, in requirements.")
    sensitivity: str = Field(default="", description="Hits and units, such as 45/50; empty if not given.")
    specificity: str = ""
    record: MatchRecord | None = Field(default=None, description="The judge's record that the error rates come from.")


class ErrorRateRecord(Strict):
    """How often the judge is right or wrong about one kind of row, as it was measured elsewhere or on the labels."""

    name: str
    value: float
    numerator: float
    denominator: float
    units: float = Field(
        description="Effective sample size: the number of independent units with the same information."
    )
    limit: float | None = Field(default=None, description="For bounds: the one-sided limit used.")
    origin: str


class BoundsRecord(Strict):
    """What a value can be. There is no estimate: nothing between the bounds can be ruled out."""

    kind: Literal["bounds"] = "bounds"
    low: float
    high: float
    level: float = 0.95
    method: str
    learned: bool = Field(description="False if the bounds exclude almost nothing.")


CorrectedRecord = Annotated[Estimate | BoundsRecord | Undefined, Field(discriminator="kind")]


class SystemRecord(Strict):
    """One system that was judged; one without a name if the file names none."""

    system: str
    rows: int
    labels: int = Field(description="Rows with a label and a verdict.")
    without: dict[str, int] = Field(description="Rows without a verdict, by reason. They are not imputed.")
    uncorrected: ResultRecord = Field(description="The estimate from the judge's verdicts alone.")
    corrected: CorrectedRecord = Field(
        description="Numerator and denominator count labels, or verdicts if the error rates come from another source."
    )
    method: Method
    tuning: float | None = Field(default=None, description="PPI++: the weight of the judge, 0 to 1.")
    separation: float | None = Field(
        default=None, description="How well the judge separates the true labels: Youden's J."
    )
    with_missing: tuple[float, float] | None = Field(
        default=None, description="The interval if rows without a verdict could have any value; null if there are none."
    )
    error_rates: list[ErrorRateRecord] = Field(default=[])
    warnings: list[str] = Field(default=[])


class Correction(Strict):
    """A downstream estimate, corrected for the errors of the judge that it rests on."""

    format: Literal["corrected-estimate/1"] = "corrected-estimate/1"
    umpirical_version: str
    source: SourceRecord
    settings: SettingsRecord
    systems: list[SystemRecord]
    systems_differ: float | None = Field(
        default=None,
        description="P-value for the hypothesis that the judge errs equally on all systems; null for a single system.",
    )
    assumptions: list[str]


class JudgeSummary(Strict):
    """The judge, as its record has it."""

    name: str
    model: str
    fingerprint: str
    run: str
    protocol: str
    complete: bool
    decision: Advice | None
    policy: str = Field(description="The policy's name; empty for a protocol without policies.")
    policy_digest: str
    policy_shipped: bool
    measures: list[MeasureRecord]


class Claim(Strict):
    """A corrected estimate and the datasheet of its judge, to be published together."""

    format: Literal["judge-claim/2"] = "judge-claim/2"
    umpirical_version: str
    correction: Correction
    correction_sha256: str = Field(description="Digest of the corrected estimate's JSON.")
    datasheet: MatchRecord
    judge: JudgeSummary
    evidence_file: MatchRecord = Field(description="The judge's record on natural text; may be the datasheet itself.")
    evidence: JudgeSummary = Field(description="The same judge on natural text with labels.")
    sentences: list[str] = Field(description="The statement, derived from the other fields.")
    assumptions: list[str]
