"""The datasheet record, `judge-datasheet/1`."""

from importlib.resources import files
from typing import Literal

from pydantic import Field

from umpirical.reports.decision import DecisionRecord
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    AuditRow,
    GateRecord,
    GroupedMeasure,
    JudgeRecord,
    LimitRecord,
    MeasureRecord,
    ReasoningRecord,
    Record,
    RunRecord,
    SmallestDifference,
    SpendRecord,
    Strict,
    TroubleRecord,
    schema_text,
)

FORMAT: Literal["judge-datasheet/1"] = "judge-datasheet/1"


class StimuliRecord(Strict):
    """How the stimuli were made, and what was checked."""

    tiers: list[str] = Field(default=[], description="`T1 templates`, and so on; never pooled.")
    tasks: int = 0
    task_families: dict[str, int] = Field(default={}, description="Tasks by task family.")
    domains: dict[str, int] = Field(default={}, description="Tasks by domain.")
    counts: dict[str, int] = Field(default={}, description="Stimuli by stimulus family.")
    makers: list[str] = Field(default=[], description="What made them, with version.")
    gates: list[GateRecord] = Field(default=[])


class AnswerRecord(Strict):
    """What the judge said to one presentation of a stimulus."""

    order: str = Field(description="`uv` or `vu`: which candidate sat in slot 1.")
    repeat: int = 0
    said: str = Field(description="The answer as it was read: `u`, `v`, `tie`, a grade.")
    words: str = Field(description="The judge's own, shortened; text from outside.")


class ExampleRecord(Strict):
    """A stimulus on which the judge failed, with its words."""

    measure: str = Field(description="What it failed.")
    arm: str
    family: str
    stratum: str
    delta: float | None
    task_id: str
    task: str
    candidate_u: str
    candidate_v: str
    expectation: str
    answers: list[AnswerRecord]


class GradeRow(Strict):
    """Answers of one quality that a `grade` judge gave one grade."""

    arm: str
    family: str
    level: float = Field(description="Requirements met, by construction.")
    score: float = Field(description="Steps above the least grade of the scale.")
    answers: int


class ProfileRecord(Strict):
    """A sketch of how the judge behaves on these stimuli: a description, not a class it belongs to."""

    name: str
    description: str
    rule: str = Field(description="What has to hold for this sketch.")


class Datasheet(Record):
    """A judge, measured."""

    format: Literal["judge-datasheet/1"] = FORMAT
    judge: JudgeRecord
    run: RunRecord
    complete: bool = Field(description="Every planned trial has a response.")
    measures: list[MeasureRecord]
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = Field(
        default=None, description="Reasonings held against their verdicts; null if no verdict came with one."
    )
    findings: list[str] = Field(description="What the measures say, by stated rules, in plain sentences.")
    non_claims: list[str]
    limits: list[LimitRecord] = Field(default=[])
    smallest_differences: list[SmallestDifference] = Field(
        default=[], description="What this run could have seen, limit by limit and of every difference."
    )
    policy: Policy | None = Field(default=None, description="What the judge was held to, whole.")
    decision: DecisionRecord | None = None
    profile: ProfileRecord | None = None
    stimuli: StimuliRecord | None = None
    spend: SpendRecord | None = None
    examples: list[ExampleRecord] = Field(default=[], description="Failures, with the judge's words.")
    grades: list[GradeRow] = Field(default=[], description="Grades by the quality that was planted.")
    parts: list[GroupedMeasure] = Field(
        default=[], description="Failures by answer format, language and domain; intervals hold for all parts together."
    )


def datasheet_schema() -> str:
    """Returns the schema that ships with this version."""
    return (files("umpirical.protocols.datasheet") / "judge-datasheet-1.schema.json").read_text(encoding="utf-8")


def generated_schema() -> str:
    """Returns the schema that follows from the code; a test compares the shipped one with it."""
    return schema_text(Datasheet)
