"""The record of labeled pairs, `judge-pairs/2`: one comparing judge, and everything on its page."""

from typing import Literal

from pydantic import Field

from umpirical.protocols.pairs.spec import PairsPolicy
from umpirical.reports.decision import PartsDecision
from umpirical.reports.record import (
    AuditRow,
    CheckRecord,
    GroupedMeasure,
    JudgeRecord,
    ReasoningRecord,
    Record,
    ResultRecord,
    RunRecord,
    SpendRecord,
    Strict,
    TroubleRecord,
)
from umpirical.text.quoted import Quoted


class PairEditRecord(Strict):
    """One kind of edit, made in one answer of a pair."""

    name: str
    title: str
    about: str
    made: int = Field(description="Edited pairs.")
    unchanged: int = Field(description="Answers without an edit: unchanged, or made equal to the other answer.")


class PairsData(Strict):
    """The pairs shown to the judge."""

    source: str = Field(description="File name.")
    rows: int = Field(description="Rows of the whole file.")
    taken: int = Field(description="Rows of the sample.")
    pairs: int = Field(description="Of those: distinct labeled pairs.")
    clusters: int = Field(description="Number of prompts, or of clusters set in the study.")
    excluded: dict[str, int] = Field(description="Rows of the sample without a valid pair, by reason.")
    columns: dict[str, str] = Field(description="Columns read, by role.")
    longer: dict[str, int] = Field(description="Pairs by the longer answer in characters: chosen, rejected, neither.")
    longer_chosen: ResultRecord = Field(
        description="Share of pairs whose chosen answer is longer. A judge that picks the longer one gets these right."
    )
    edits: list[PairEditRecord]


class PairsMeasure(GroupedMeasure):
    """One measure of the judge under one edit, named by `stratum`; empty for unedited pairs."""

    group: str = Field(
        default="", description="Part of the pairs, such as `subset=math`, or the edited `side`; empty for all."
    )


class WrongChoice(Strict):
    """A pair that the judge got wrong. All of its text is from outside."""

    pair: str = Field(description="Your name for it.")
    edit: str = Field(description="Edit of the rejected answer that made it win; empty for none.")
    groups: dict[str, str]
    task: Quoted
    chosen: Quoted
    rejected: Quoted
    right: float = Field(description="Share of answers that pick the chosen one.")
    wrong: float = Field(description="Share of answers that pick the other; the rest are ties and abstentions.")
    position_1: float = Field(description="Share of answers that pick the first position.")


class PairsDecision(PartsDecision):
    """What to do with the judge."""

    weak_at: list[str] = Field(default=[], description="Parts of the data in which accuracy is below the threshold.")


class PairsReport(Record):
    """The report of one comparing judge on labeled pairs."""

    format: Literal["judge-pairs/2"] = "judge-pairs/2"
    judge: JudgeRecord
    run: RunRecord
    data: PairsData
    complete: bool = Field(description="Every planned trial has a response.")
    policy: PairsPolicy
    decision: PairsDecision
    checks: list[CheckRecord]
    measures: list[PairsMeasure]
    findings: list[str]
    wrong: list[WrongChoice] = Field(default=[])
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = None
    spend: SpendRecord | None = None
    non_claims: list[str]
