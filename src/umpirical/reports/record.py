"""The datasheet record, `judge-datasheet/1`: the one document every other rendering is a pure function of."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from umpirical.reports.record_sources import ExampleRecord, GradeRow, RevisionRecord, SpendRecord, StimuliRecord
from umpirical.reports.record_verdicts import DecisionRecord, LimitRecord, ProfileRecord
from umpirical.reports.strict import Strict

__all__ = ["FORMAT", "AuditRow", "Datasheet", "MeasureRecord", "Scale", "parse_datasheet", "render_json"]

FORMAT: Literal["judge-datasheet/1"] = "judge-datasheet/1"

Scale = Literal["rate", "difference", "requirements", "latent", "steps", "p-value", "ratio", "bits", "coefficient"]
"""What kind of number a measure is: a share; a difference of shares; a number of requirements; standard deviations of
the judge's noise; grades; a probability under a null hypothesis; a ratio; bits of entropy; a coefficient of agreement
or correlation, at most 1."""


class IntervalRecord(Strict):
    """Limits; `low` or `high` is null where the interval is open on that side."""

    low: float | None
    high: float | None
    level: float
    method: str


class EstimateRecord(Strict):
    """A measured value, with its numerator and denominator."""

    kind: Literal["estimate"] = "estimate"
    value: float
    numerator: float
    denominator: int
    unit: Literal["call", "prompt", "pair", "item", "task"]
    interval: IntervalRecord | None
    clusters: int = Field(description="Number of tasks behind it.")
    design_effect: float | None = None
    planning_interval: IntervalRecord | None = Field(
        default=None, description="At 0 or 1: the interval under an assumed intra-task correlation."
    )
    censoring: Literal["none", "left", "right"] = "none"
    left_out: dict[str, int] = Field(default={}, description="Units not in the denominator, by reason.")
    bounds: tuple[float, float] | None = Field(
        default=None, description="The value with every left-out unit counted the one way and the other."
    )


class UndefinedRecord(Strict):
    """No value, and why."""

    kind: Literal["undefined"] = "undefined"
    reason: str
    left_out: dict[str, int] = Field(default={})


class MeasureRecord(Strict):
    """One named property of the judge."""

    name: str
    title: str
    about: str = Field(description="What it measures, in one sentence.")
    worse: Literal["higher", "lower", "depends"] = Field(description="Which direction is bad news.")
    arm: str
    stratum: str = Field(description="The part of the design it is about; empty for the whole.")
    scale: Scale = "rate"
    result: Annotated[EstimateRecord | UndefinedRecord, Field(discriminator="kind")]
    planted: float | None = Field(default=None, description="The true value, known only for a simulated judge.")

    @model_validator(mode="before")
    @classmethod
    def _threshold_counts_requirements(cls, values: Any) -> Any:  # noqa: ANN401  # whatever was given
        """Records older than `scale` hold one measure that is no rate."""
        if isinstance(values, dict) and values.get("name") == "detection-threshold":
            return {"scale": "requirements"} | values
        return values


class JudgeRecord(Strict):
    """The configuration under test."""

    name: str
    kind: Literal["compare", "grade"]
    model: str
    fingerprint: str
    served_by: list[str] = Field(description="What the servers said of themselves.")
    decoding: dict[str, float | int | str | bool | None]
    instruction: str = Field(description="The prompt template, placeholders unfilled.")
    answer_schema: str
    capabilities: dict[str, bool]
    prompts: dict[str, str] = Field(default={}, description="The prompt template of each arm.")
    scale: str = Field(default="", description="What a `grade` judge may answer, in words.")


class RunRecord(Strict):
    """Which run this is read from."""

    id: str
    created: str
    umpirical_version: str
    protocol: str
    stimuli: str = Field(description="Digest of the stimulus set.")
    seed: int
    tasks: list[str]
    arms: list[str]
    repeats: int
    trials: int
    responses_sha256: str = Field(description="Digest over every response read, in order of trial id.")
    command: str = Field(description="Reproduces this datasheet.")
    python: str = Field(default="", description="Version it was read with.")
    packages: dict[str, str] = Field(default={}, description="Versions of the packages that can change a number.")
    revisions: list[RevisionRecord] = Field(default=[])


class AuditRow(Strict):
    """Every trial of one part of the design, by outcome. The outcome columns add up to `planned`."""

    arm: str
    family: str
    stratum: str
    delta: float | None
    planned: int
    slot_1: int
    slot_2: int
    tie: int
    abstained: int
    unparsed: int
    failed: int
    unasked: int
    graded: int = Field(default=0, description="Calls of a `grade` judge that gave a grade.")


class TroubleRecord(Strict):
    """One kind of answer that is no verdict, with the judge's words."""

    outcome: Literal["unparsed", "failed"]
    why: str
    count: int
    example: str = Field(description="One such answer, shortened; text from outside, to be shown as inert text.")


class Datasheet(Strict):
    """A judge, measured."""

    format: Literal["judge-datasheet/1"] = FORMAT
    judge: JudgeRecord
    run: RunRecord
    complete: bool = Field(description="Every planned trial has a response.")
    measures: list[MeasureRecord]
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    findings: list[str] = Field(description="What the measures say, by stated rules, in plain sentences.")
    non_claims: list[str]
    limits: list[LimitRecord] = Field(default=[])
    decision: DecisionRecord | None = None
    profile: ProfileRecord | None = None
    stimuli: StimuliRecord | None = None
    spend: SpendRecord | None = None
    examples: list[ExampleRecord] = Field(default=[], description="Failures, with the judge's words.")
    grades: list[GradeRow] = Field(default=[], description="Grades by the quality that was planted.")


def render_json(datasheet: Datasheet) -> str:
    """The record as text: the same datasheet gives the same bytes."""
    return datasheet.model_dump_json(indent=1) + "\n"


def parse_datasheet(text: str) -> Datasheet:
    return Datasheet.model_validate_json(text)
