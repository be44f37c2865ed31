"""The agent record, `judge-agent/1`: one judge of agents, and everything that its page is made from."""

from typing import ClassVar, Literal

from pydantic import Field

from umpirical.reports.decision import PartsDecision
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    AuditRow,
    GroupedMeasure,
    JudgeRecord,
    LimitRecord,
    ReasoningRecord,
    Record,
    RunRecord,
    SmallestDifference,
    Sparse,
    SpendRecord,
    Strict,
    TroubleRecord,
)
from umpirical.stimuli.transcripts.cases import MessageChange


class TranscriptsRecord(Strict):
    """The transcripts that the judge was shown."""

    count: int = Field(description="Transcripts that were read.")
    used: int = Field(description="Of these: those that gave a case.")
    notes: list[str] = Field(default=[], description="Remarks on how they were read.")
    skipped: dict[str, int] = Field(default={}, description="Rules that gave no case, by reason.")


class EditRecord(Strict):
    """One kind of edit."""

    name: str
    about: str
    cases: int = Field(description="Transcripts that were edited or rewritten; for a judge that compares, pairs.")
    dropped: dict[str, int] = Field(default={}, description="Attempts of models that are no cases, by reason.")


class AgentMeasure(GroupedMeasure):
    """One named property of the judge under one kind of edit, named by `stratum`; empty for all together."""

    group: str = Field(default="", description="A part of these texts, `place=late`; empty for all of them.")


class WrongText(Strict):
    """A text about which the judge was wrong."""

    transcript: str = Field(description="What the user calls it.")
    edit: str = Field(description="`original` for a transcript as it was.")
    policy: str
    gold: str
    violated: float | None = Field(
        default=None, description="Share of the verdicts that say the policy is violated; null if graded in levels."
    )
    given: list[str] = Field(default=[], description="What it was given, for a text that is graded in levels.")
    changes: list[MessageChange] = Field(default=[], description="What the edit changed; the rest is as it was.")
    evidence: dict[str, str] = Field(default={})


class GradedAs(Strict):
    """Texts of one level that were given one."""

    gold: str
    given: str = Field(description="Empty for texts without a verdict.")
    texts: float = Field(description="A text that was asked several times counts the share of its verdicts.")


LEVEL_MEASURES = (
    "accuracy", "within-one", "mean-absolute-error", "grade-bias", "weighted-kappa", "flip-detection", "right-on-both",
)  # fmt: skip
"""How exact the level is and how far off, and the last two: a rewritten text beside the verdict on its original."""


class LevelItem(Strict):
    """An item of the rubric that is graded in levels. Its truth is what verifiers agreed on."""

    name: str
    text: str = Field(description="As the judge reads it.")
    labels: list[str] = Field(description="The levels, worst first.")
    measures: list[AgentMeasure] = Field(description="By test in `stratum`; empty for all texts of the item.")
    graded: list[GradedAs] = Field(description="All texts of the item, by level and by what the judge gave.")
    wrong: list[WrongText] = Field(default=[], description="Those that it graded farthest off.")


class WrongPair(Strict):
    """A pair of runs about which the judge was wrong, asked in both orders under one policy."""

    transcript: str = Field(description="What the user calls it.")
    edit: str
    policy: str
    keeps: Literal["original", "edited"] = Field(description="The run that keeps the policy.")
    right: float = Field(description="Share of the answers that name that run.")
    wrong: float = Field(description="Share of the answers that name the other; the rest are ties and abstentions.")
    slot_1: float = Field(description="Share of the answers that name slot 1.")
    changes: list[MessageChange] = Field(default=[], description="What the edit changed; the rest is as it was.")
    evidence: dict[str, str] = Field(default={})


class AgentDecision(PartsDecision):
    """What to do with the judge."""

    weak_at: list[str] = Field(default=[], description="Parts in which it misses what it sees elsewhere.")


class AgentReport(Record, Sparse):
    """A judge of agents, measured."""

    seldom: ClassVar = ("policy",)

    format: Literal["judge-agent/1"] = "judge-agent/1"
    judge: JudgeRecord
    run: RunRecord
    transcripts: TranscriptsRecord
    labels: tuple[str, str] | None = Field(
        description="What it says of a broken policy, and of a kept one; null for a judge that compares."
    )
    complete: bool = Field(description="Every planned trial has a response.")
    policy: Policy | None = Field(default=None, description="A policy of the user's own; left out for the shipped one.")
    decision: AgentDecision
    limits: list[LimitRecord]
    smallest_differences: list[SmallestDifference] = Field(
        default=[], description="What this run could have seen, limit by limit."
    )
    edits: list[EditRecord]
    measures: list[AgentMeasure]
    findings: list[str]
    levels: list[LevelItem] = Field(default=[], description="Items that are graded in levels, each for itself.")
    wrong: list[WrongText] = Field(default=[])
    wrong_pairs: list[WrongPair] = Field(default=[], description="For a judge that compares.")
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = None
    spend: SpendRecord | None = None
    non_claims: list[str]
