"""The agent record, `judge-agent/2`: one agent judge, and everything on its page."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from umpirical.reports.decision import PartsDecision
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    AuditRow,
    CheckRecord,
    GroupedMeasure,
    JudgeRecord,
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
from umpirical.text.quoted import QUOTED, Quoted


class TranscriptsRecord(Strict):
    """The transcripts that the judge was shown."""

    count: int = Field(description="Transcripts read.")
    used: int = Field(description="Of those: transcripts with at least one case.")
    notes: list[str] = Field(default=[], description="Notes on how they were read.")
    skipped: dict[str, int] = Field(default={}, description="Rules without a case, by reason.")


class EditRecord(Strict):
    """One kind of edit."""

    name: str
    about: str
    cases: int = Field(description="Edited or rewritten transcripts; pairs for a judge that compares.")
    dropped: dict[str, int] = Field(default={}, description="Rejected attempts by models, by reason.")


class AgentMeasure(GroupedMeasure):
    """One measure of the judge under one kind of edit, named by `stratum`; empty for all edits together."""

    group: str = Field(default="", description="Part of these texts, such as `place=late`; empty for all.")


class WrongText(Strict):
    """A text that the judge got wrong."""

    transcript: str = Field(description="Your name for it.")
    edit: str = Field(description="`original` for an unchanged transcript.")
    policy: Quoted
    gold: str
    violated: float | None = Field(
        default=None, description="Share of verdicts that report a violation; null if graded in levels."
    )
    given: list[str] = Field(default=[], description="Grades it got, for a text graded in levels.")
    changes: list[MessageChange] = Field(default=[], description="Messages that the edit changed.")
    evidence: Annotated[dict[str, str], QUOTED] = Field(default={})


class GradedAs(Strict):
    """Number of texts of one level that got one grade."""

    gold: str
    given: str = Field(description="Empty for texts without a verdict.")
    texts: float = Field(description="Number of texts. A text with several verdicts counts in proportion.")


LEVEL_MEASURES = (
    "accuracy", "within-one", "mean-absolute-error", "grade-bias", "weighted-kappa", "flip-detection", "right-on-both",
)  # fmt: skip
"""How exact the level is and how far off, and the last two: a rewritten text beside the verdict on its original."""


class LevelItem(Strict):
    """A rubric item graded in levels. Verifiers agreed on the correct levels."""

    name: str
    text: str = Field(description="Text as the judge reads it.")
    labels: list[str] = Field(description="The levels, worst first.")
    measures: list[AgentMeasure] = Field(description="Measures by test in `stratum`; empty for all texts of the item.")
    graded: list[GradedAs] = Field(description="All texts of the item, by level and by the judge's grade.")
    wrong: list[WrongText] = Field(default=[], description="Texts with the largest errors.")


class WrongPair(Strict):
    """A pair of runs that the judge got wrong, in both orders under one policy."""

    transcript: str = Field(description="Your name for it.")
    edit: str
    policy: Quoted
    keeps: Literal["original", "edited"] = Field(description="The run that follows the policy.")
    right: float = Field(description="Share of answers that pick that run.")
    wrong: float = Field(description="Share of answers that pick the other; the rest are ties and abstentions.")
    position_1: float = Field(description="Share of answers that pick the first position.")
    changes: list[MessageChange] = Field(default=[], description="Messages that the edit changed.")
    evidence: Annotated[dict[str, str], QUOTED] = Field(default={})


class AgentDecision(PartsDecision):
    """What to do with the judge."""

    weak_at: list[str] = Field(default=[], description="Parts of the data in which it is weaker.")


class AgentReport(Record, Sparse):
    """The report of one agent judge."""

    seldom: ClassVar = ("policy",)

    format: Literal["judge-agent/2"] = "judge-agent/2"
    judge: JudgeRecord
    run: RunRecord
    transcripts: TranscriptsRecord
    labels: tuple[str, str] | None = Field(
        description="Its labels for a violated and a followed policy; null for a judge that compares."
    )
    complete: bool = Field(description="Every planned trial has a response.")
    policy: Policy | None = Field(default=None, description="Your own policy; absent for the built-in policy.")
    decision: AgentDecision
    checks: list[CheckRecord]
    smallest_differences: list[SmallestDifference] = Field(
        default=[], description="Statistical power of this run, check by check."
    )
    edits: list[EditRecord]
    measures: list[AgentMeasure]
    findings: list[str]
    levels: list[LevelItem] = Field(default=[], description="Items graded in levels, each measured separately.")
    wrong: list[WrongText] = Field(default=[])
    wrong_pairs: list[WrongPair] = Field(default=[], description="For a judge that compares.")
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = None
    spend: SpendRecord | None = None
    non_claims: list[str]
