"""The record of labelled pairs, `judge-pairs/1`: one judge that compares, and everything that its page is made from."""

from typing import Literal

from pydantic import Field

from umpirical.protocols.pairs.spec import PairsPolicy
from umpirical.reports.decision import PartsDecision
from umpirical.reports.record import (
    AuditRow,
    GroupedMeasure,
    JudgeRecord,
    LimitRecord,
    ReasoningRecord,
    Record,
    ResultRecord,
    RunRecord,
    SpendRecord,
    Strict,
    TroubleRecord,
)


class PairEditRecord(Strict):
    """One kind of edit, made in one answer of a pair."""

    name: str
    title: str
    about: str
    made: int = Field(description="Edited pairs.")
    unchanged: int = Field(description="Answers that it leaves as they are, or that it makes the same as another.")


class PairsData(Strict):
    """The pairs that the judge was asked about."""

    source: str = Field(description="The file's name.")
    rows: int = Field(description="Rows of the whole file.")
    taken: int = Field(description="Rows of the sample.")
    pairs: int = Field(description="Of these: labelled pairs, each a question of its own.")
    clusters: int = Field(description="Prompts, or what the study names as a cluster.")
    left_out: dict[str, int] = Field(description="Rows of the sample that are no pair, by reason.")
    columns: dict[str, str] = Field(description="The columns that were read, by role.")
    longer: dict[str, int] = Field(description="Pairs by the answer with more characters: chosen, rejected, neither.")
    longer_chosen: ResultRecord = Field(
        description="Share of the pairs whose longer answer is the chosen one: the accuracy of a judge of length."
    )
    edits: list[PairEditRecord]


class PairsMeasure(GroupedMeasure):
    """One named property of the judge under one edit, named by `stratum`; empty for pairs as they are."""

    group: str = Field(default="", description="A part of the pairs, `subset=math`, or the edited `side`; or empty.")


class WrongChoice(Strict):
    """A pair about which the judge was wrong. All of its text is from outside."""

    pair: str = Field(description="What the user calls it.")
    edit: str = Field(description="The edit of the rejected answer that won the judge over; empty for none.")
    groups: dict[str, str]
    task: str
    chosen: str
    rejected: str
    right: float = Field(description="Share of the answers that name the chosen one.")
    wrong: float = Field(description="Share of the answers that name the other; the rest are ties and abstentions.")
    slot_1: float = Field(description="Share of the answers that name slot 1.")


class PairsDecision(PartsDecision):
    """What to do with the judge."""

    weak_at: list[str] = Field(default=[], description="Parts in which it is shown to be right less often than asked.")


class PairsReport(Record):
    """A judge that compares, measured on labelled pairs."""

    format: Literal["judge-pairs/1"] = "judge-pairs/1"
    judge: JudgeRecord
    run: RunRecord
    data: PairsData
    complete: bool = Field(description="Every planned trial has a response.")
    policy: PairsPolicy
    decision: PairsDecision
    limits: list[LimitRecord]
    measures: list[PairsMeasure]
    findings: list[str]
    wrong: list[WrongChoice] = Field(default=[])
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = None
    spend: SpendRecord | None = None
    non_claims: list[str]
