"""The datasheet record, `judge-datasheet/2`."""

from importlib.resources import files
from typing import Literal

from pydantic import Field

from umpirical.reports.decision import DecisionRecord
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    AuditRow,
    CheckRecord,
    GateRecord,
    GroupedMeasure,
    JudgeRecord,
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
from umpirical.text.quoted import Quoted

FORMAT: Literal["judge-datasheet/2"] = "judge-datasheet/2"


class StimuliRecord(Strict):
    """How the test cases were made and checked."""

    tiers: list[str] = Field(default=[], description="The tiers of the test cases, such as `T1`; never pooled.")
    tasks: int = 0
    task_families: dict[str, int] = Field(default={}, description="Tasks by task family.")
    domains: dict[str, int] = Field(default={}, description="Tasks by domain.")
    counts: dict[str, int] = Field(default={}, description="Test cases by family.")
    makers: list[str] = Field(default=[], description="The programs that made them, with versions.")
    gates: list[GateRecord] = Field(default=[])


class AnswerRecord(Strict):
    """The judge's reply to one presentation of a test case."""

    order: str = Field(description="`ab` if answer A was shown first, `ba` if answer B was.")
    repeat: int = 0
    said: str = Field(description="The verdict as it was read: `a`, `b`, `tie`, or a grade.")
    words: Quoted = Field(description="The judge's reply, shortened. Untrusted text.")


class ExampleRecord(Strict):
    """A test case on which the judge failed, with its replies."""

    measure: str = Field(description="The measure it failed on.")
    variant: str
    family: str
    stratum: str
    delta: float | None
    task_id: str
    task: Quoted
    candidate_a: Quoted
    candidate_b: Quoted
    expectation: str
    answers: list[AnswerRecord]


class GradeRow(Strict):
    """Answers of one quality that a `grade` judge gave one grade."""

    variant: str
    family: str
    level: float = Field(description="Requirements met, known by construction.")
    score: float = Field(description="Steps above the lowest grade of the scale.")
    answers: int


class ProfileRecord(Strict):
    """A short description of how the judge behaves on these test cases. It is not a class."""

    name: str
    description: str
    rule: str = Field(description="The rule for this profile.")


class Datasheet(Record):
    """The datasheet of one judge."""

    format: Literal["judge-datasheet/2"] = FORMAT
    judge: JudgeRecord
    run: RunRecord
    complete: bool = Field(description="Whether every planned call has a response.")
    measures: list[MeasureRecord]
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = Field(
        default=None, description="Reasoning compared with its verdicts; null if no verdict came with reasoning."
    )
    findings: list[str] = Field(description="Key findings in plain sentences, by fixed rules.")
    non_claims: list[str]
    checks: list[CheckRecord] = Field(default=[])
    smallest_differences: list[SmallestDifference] = Field(
        default=[], description="Statistical power, for each check and each difference."
    )
    policy: Policy | None = Field(default=None, description="The whole policy that the judge was checked against.")
    decision: DecisionRecord | None = None
    profile: ProfileRecord | None = None
    stimuli: StimuliRecord | None = None
    spend: SpendRecord | None = None
    examples: list[ExampleRecord] = Field(default=[], description="Example failures, with the judge's replies.")
    grades: list[GradeRow] = Field(default=[], description="Grades by the known quality of the answers.")
    parts: list[GroupedMeasure] = Field(
        default=[],
        description="Failures by answer format, language and domain. The intervals hold for all parts together.",
    )


def datasheet_schema() -> str:
    """Returns the schema that ships with this version."""
    return (files("umpirical.protocols.datasheet") / "judge-datasheet-2.schema.json").read_text(encoding="utf-8")


def generated_schema() -> str:
    """Returns the schema that follows from the code; a test compares the shipped one with it."""
    return schema_text(Datasheet)
