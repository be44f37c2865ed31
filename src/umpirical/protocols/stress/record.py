"""The stress record, `judge-stress/1`: one judge, every stress test, and everything that its pages are made from."""

from decimal import Decimal
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from umpirical.domain.measures import Unit
from umpirical.domain.stimuli import GoldSource
from umpirical.protocols.review_record import ReviewRecord
from umpirical.protocols.stress.policy import ScaleRecord, StressPolicy, TestKind
from umpirical.reports.decision import VerdictRecord
from umpirical.reports.limits import Leaning
from umpirical.reports.record import (
    AuditRow,
    GroupedMeasure,
    JudgeRecord,
    LimitRecord,
    LimitVerdict,
    ReasoningRecord,
    Record,
    RunRecord,
    SmallestDifference,
    Sparse,
    SpendRecord,
    Strict,
    TroubleRecord,
)

FindingKind = Literal["rehearsal", "breaks", "holds", "undecided", "not-judged", "noise", "agreement", "unanswered"]


class ResponsesRecord(Strict):
    """How a model wrote the responses, for a dataset that has tasks only."""

    model: str
    simulated: bool = Field(description="Whether a program stood in for it: then they are nonsense, for a rehearsal.")
    wanted: int = Field(description="Rows that were to have a response.")
    written: int = Field(description="Of those: rows that have one, and are judged.")
    without: dict[str, int] = Field(description="The others, by reason: refused, cut off, empty.")
    stale: int = Field(description="Rows whose label was given to another response, and is not used.")
    spend: "WriterSpendRecord | None" = None


class DatasetRecord(Sparse):
    """The user's data that the tests were made from."""

    seldom: ClassVar = ("responses",)

    name: str = Field(description="Name of the file or dataset, without its path.")
    rows: int = Field(description="Rows that were read.")
    items: int = Field(description="Items that the rows gave.")
    sampled: int = Field(description="Items that the tests were made from.")
    unlabelled: int = Field(description="Of those sampled: items without a label.")
    duplicates: int = Field(default=0, description="Rows that repeat an earlier one, and are no independent evidence.")
    labels: dict[str, int] = Field(description="Sampled items by label, in the order of the scale.")
    strata: dict[str, dict[str, int]] = Field(default={}, description="Sampled items by stratum and its values.")
    scale: str = Field(description="The scale in words.")
    digest: str = Field(description="Digest of the sampled items.")
    responses: ResponsesRecord | None = Field(
        default=None, description="How they were written; left out for responses of the user's own."
    )


class MadeRecord(Sparse):
    """How the stimuli of one test were made, and what became of those that were wanted."""

    seldom: ClassVar = ("by_fallback", "simulated", "sources")

    wanted: int = Field(description="Stimuli that were wanted.")
    proved: int = Field(default=0, description="Made by program, with a proof that nothing else has changed.")
    attempts: int = Field(default=0, description="Attempts of a language model.")
    generated: int = Field(default=0, description="Texts that it wrote; attempts less refusals.")
    rejected: dict[str, int] = Field(default={}, description="Attempts that are no stimuli, by reason.")
    accepted: int = Field(default=0, description="Generated texts that became stimuli.")
    validated: int = Field(default=0, description="Of those: texts that validators were asked about and agreed on.")
    by_fallback: int = Field(
        default=0, description="Of those: texts on which a fallback was asked, since the validator refused."
    )
    validators: str = Field(default="", description="Who validated and what they said, in words.")
    reviewed: int = Field(default=0, description="Of those accepted: texts that at least one person decided on.")
    edited: int = Field(default=0, description="Of those: shown to the judge with a person's text.")
    relabelled: int = Field(default=0, description="Of those: with a person's label.")
    rejected_by_review: int = Field(default=0, description="Of those: not shown to the judge, people rejected them.")
    undecided: int = Field(default=0, description="Of those accepted: texts that people have not settled.")
    left_out: int = Field(default=0, description="Of those undecided: not shown to the judge, by the study's policy.")
    simulated: int = Field(
        default=0, description="Of those accepted: nonsense that a program wrote in the generator's place."
    )
    given_up: int = Field(default=0, description="Wanted, but no attempt was accepted.")
    unchanged: int = Field(default=0, description="Wanted, but there was nothing to change.")
    skipped: dict[str, int] = Field(default={}, description="Wanted, but not tried, by reason.")
    gold_from: dict[GoldSource, int] = Field(default={}, description="Stimuli with a gold label, by whose word it is.")
    levels: dict[str, str] = Field(
        default={}, description="Where new texts were written for each level: how many, and why not more."
    )
    sources: str = Field(default="", description="Where each original was to have them: how many have every level.")


class WriterSpendRecord(Strict):
    """What one of the models took that wrote and validated the stimuli. All judges of a study share it."""

    role: Literal["responder", "generator", "validator", "fallback"]
    model: str
    calls: int = Field(description="Including those for texts that were rejected or given up.")
    refused: int = Field(default=0, description="Of those: answered by a refusal.")
    failed: int = Field(default=0, description="Of those: without an answer.")
    cost: Decimal | None = Field(default=None, description="US dollars; null unless the cost of every call is known.")
    price_table: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class StressTest(Strict):
    """One test: what it changes, what the judge should do, and how its stimuli were made."""

    name: str
    title: str
    about: str
    kind: TestKind
    made: MadeRecord


class StressMeasure(GroupedMeasure):
    """One named property of the judge under one test, named by `stratum`."""

    group: str = Field(default="", description="A stratum of the user's, `grade_level=8`; empty for all items.")


class PartVerdict(Strict):
    """One limit held against one measure. A limit passes only if the whole interval lies inside it."""

    measure: str
    title: str
    least: float | None = Field(description="The least that is allowed; null: no limit below.")
    most: float | None
    verdict: LimitVerdict
    why: str = Field(description="How the verdict came about, in words.")
    needed: int | None = Field(default=None, description="Units in all that would settle an INCONCLUSIVE one.")
    more_needed: int | None = Field(default=None, description="The same, less the units there are.")
    leaning: Leaning | None = Field(default=None, description="What it would be settled as, if the value stays.")
    unit: Unit | None = None
    unanswered: int = Field(
        default=0, description="Units left out that forbid a PASS, since counted the worst way they would take it away."
    )
    p_value: float | None = Field(
        default=None, description="One-sided, of the limit being kept, by inverting the interval; null if not measured."
    )


class CellVerdict(Strict):
    """What one test says of the judge: FAIL if a part fails, PASS if all pass."""

    test: str
    verdict: LimitVerdict
    why: str
    parts: list[PartVerdict] = Field(default=[], description="The limits it is held to.")
    needed: int | None = None
    more_needed: int | None = None
    leaning: Leaning | None = None
    unit: Unit | None = None
    unanswered: int = Field(default=0, description="That of its parts, where more items would not settle it.")
    p_value: float | None = Field(default=None, description="That of its parts together, by Bonferroni's bound.")


class WorstItem(Strict):
    """An item on which the judge did worst in one test. All of its texts are from outside."""

    item: str = Field(description="What the user calls it.")
    test: str
    group: str = Field(default="", description="Its strata.")
    gold: str = Field(default="", description="The right label of the original; empty if none is known.")
    gold_from: GoldSource | None = None
    original: str = Field(default="", description="The user's text; empty for a text written from nothing.")
    changed: str = Field(default="", description="The text as the test changed it; empty where nothing is changed.")
    cut: bool = Field(default=False, description="Whether a text was cut.")
    verdicts_original: list[str] = Field(default=[], description="Every answer to the original.")
    verdicts_changed: list[str] = Field(default=[])
    required: str = Field(default="", description="The label that the changed text should be given.")
    words_original: str = Field(default="", description="The judge's own, on the original.")
    words_changed: str = ""
    evidence: dict[str, str] = Field(default={}, description="What speaks for the changed text, by kind.")
    distance: float | None = Field(default=None, description="How far off it is; sorts the items.")
    why: str = Field(default="", description="What makes it one of the worst, in words.")


class FindingRecord(Strict):
    """One line in plain words."""

    kind: FindingKind
    words: str


class StressReport(Record, Sparse):
    """A judge under stress, on the user's own data."""

    seldom: ClassVar = ("writing", "own_policy")

    format: Literal["judge-stress/1"] = "judge-stress/1"
    judge: JudgeRecord
    run: RunRecord
    dataset: DatasetRecord
    scale: ScaleRecord
    margin: float = Field(gt=0, lt=1, description="Of a rate; of the scale's range for a shift.")
    complete: bool = Field(description="Every planned trial has a response.")
    tests: list[StressTest]
    measures: list[StressMeasure]
    decision: VerdictRecord
    verdicts: list[CellVerdict] = Field(description="One for each test, of all items.")
    answered: list[LimitRecord] = Field(default=[], description="Limits on answers that are no verdict.")
    smallest_differences: list[SmallestDifference] = Field(
        default=[], description="What this run could have seen, limit by limit."
    )
    findings: list[FindingRecord]
    policy: list[str] = Field(description="The limits as they stand, and why.")
    own_policy: StressPolicy | None = Field(
        default=None, description="A policy of the user's own, whole; left out for the shipped one."
    )
    worst: list[WorstItem] = Field(default=[])
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = Field(
        default=None, description="Reasonings held against their verdicts; null if no verdict came with one."
    )
    spend: SpendRecord | None = None
    writing: list[WriterSpendRecord] = Field(
        default=[], description="What writing and validating the stimuli took; left out if nothing was written."
    )
    review: ReviewRecord | None = Field(
        default=None, description="What people said of the texts; null if none was asked."
    )
    non_claims: list[str]

    @model_validator(mode="after")
    def _one_verdict_for_each_test(self) -> Self:
        names = [test.name for test in self.tests]
        if len(set(names)) != len(names) or [cell.test for cell in self.verdicts] != names:
            raise ValueError("a stress report has one verdict for each test, in the order of the tests")
        return self
