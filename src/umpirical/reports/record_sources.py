"""Parts of the record that say what the measures rest on: stimuli, money and time, and the judge's own words."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from umpirical.reports.strict import Strict

__all__ = [
    "AnswerRecord",
    "ExampleRecord",
    "GateRecord",
    "GradeRow",
    "RevisionRecord",
    "SpendRecord",
    "StimuliRecord",
]


class GateRecord(Strict):
    """A check that the stimuli had to stand before they were used."""

    name: str
    passed: bool
    found: str | float
    allowed: str | float
    blocks: bool = Field(description="Whether failing it stops a run; else it is reported only.")


class StimuliRecord(Strict):
    """How the stimuli were made, and what was checked."""

    tiers: list[str] = Field(default=[], description="`T1 templates`, and so on; never pooled.")
    tasks: int = 0
    task_families: dict[str, int] = Field(default={}, description="Tasks by task family.")
    domains: dict[str, int] = Field(default={}, description="Tasks by domain.")
    counts: dict[str, int] = Field(default={}, description="Stimuli by stimulus family.")
    makers: list[str] = Field(default=[], description="What made them, with version.")
    gates: list[GateRecord] = Field(default=[])


class SpendRecord(Strict):
    """What the run took."""

    calls: int
    cost: Decimal | None = Field(default=None, description="US dollars; null if not known.")
    cost_per_1000: Decimal | None = Field(default=None, description="US dollars for 1,000 calls.")
    price_table: str = ""
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


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


class RevisionRecord(Strict):
    """An earlier state of this datasheet, and what changed since."""

    date: str
    what: str
    kind: Literal["judge", "protocol", "measurement", "document"] = "document"
