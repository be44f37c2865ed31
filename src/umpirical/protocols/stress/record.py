"""The stress record, `judge-stress/2`: one judge, every stress test, and everything on its pages."""

from decimal import Decimal
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from umpirical.domain.measures import Unit
from umpirical.domain.stimuli import GoldSource
from umpirical.protocols.review_record import ReviewRecord
from umpirical.protocols.stress.policy import ScaleRecord, StressPolicy, TestKind
from umpirical.reports.checks import Leaning
from umpirical.reports.decision import VerdictRecord
from umpirical.reports.record import (
    AuditRow,
    CheckRecord,
    CheckVerdict,
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
from umpirical.text.quoted import QUOTED, Quoted

FindingKind = Literal[
    "rehearsal", "breaks", "self-preference", "holds", "undecided", "not-judged", "noise", "agreement", "unanswered"
]


class ResponsesRecord(Strict):
    """How a model wrote the responses, for a dataset that has tasks only."""

    model: str
    simulated: bool = Field(description="Whether a simulated model wrote them, as meaningless texts for a dry run.")
    wanted: int = Field(description="Rows that need a response.")
    written: int = Field(description="Of those: rows that have one and are judged.")
    without: dict[str, int] = Field(description="The others, by reason: refused, cut off, empty.")
    stale: int = Field(description="Rows whose label belongs to another response and is not used.")
    spend: "WriterSpendRecord | None" = None


class DatasetRecord(Sparse):
    """Your data, from which the tests were made."""

    seldom: ClassVar = ("responses",)

    name: str = Field(description="Name of the file or dataset, without its path.")
    rows: int = Field(description="Rows read.")
    items: int = Field(description="Items found in the rows.")
    sampled: int = Field(description="Items used for the tests.")
    unlabelled: int = Field(description="Of those sampled: items without a label.")
    duplicates: int = Field(default=0, description="Rows that repeat an earlier row: not independent evidence.")
    labels: dict[str, int] = Field(description="Sampled items by label, in the order of the scale.")
    strata: dict[str, dict[str, int]] = Field(default={}, description="Sampled items by stratum and its values.")
    scale: str = Field(description="The scale in words.")
    digest: str = Field(description="Digest of the sampled items.")
    responses: ResponsesRecord | None = Field(
        default=None, description="How they were written; absent for your own responses."
    )


class MadeRecord(Sparse):
    """How the test cases of one test were made, and why some were not."""

    seldom: ClassVar = ("by_fallback", "simulated", "sources")

    wanted: int = Field(description="Number of test cases wanted.")
    proved: int = Field(default=0, description="Made by a program, with a proof that nothing else changed.")
    attempts: int = Field(default=0, description="Attempts by a language model.")
    generated: int = Field(default=0, description="Texts it wrote: attempts minus refusals.")
    rejected: dict[str, int] = Field(default={}, description="Rejected attempts, by reason.")
    accepted: int = Field(default=0, description="Generated texts that became test cases.")
    validated: int = Field(default=0, description="Of those: texts that validators checked and agreed on.")
    by_fallback: int = Field(
        default=0, description="Of those: texts checked by the fallback validator because the validator refused."
    )
    validators: str = Field(default="", description="Who validated and what they said.")
    reviewed: int = Field(default=0, description="Of those accepted: texts that at least one reviewer decided on.")
    edited: int = Field(default=0, description="Of those: shown to the judge with a reviewer's edit.")
    relabelled: int = Field(default=0, description="Of those: with a reviewer's label.")
    rejected_by_review: int = Field(default=0, description="Of those: rejected by reviewers, not shown to the judge.")
    undecided: int = Field(default=0, description="Of those accepted: texts that reviewers have not decided on.")
    excluded: int = Field(default=0, description="Of those undecided: excluded by the study's review policy.")
    simulated: int = Field(
        default=0, description="Of those accepted: meaningless texts written by a simulated generator."
    )
    given_up: int = Field(default=0, description="Wanted, but no attempt was accepted.")
    unchanged: int = Field(default=0, description="Wanted, but the text had nothing to change.")
    skipped: dict[str, int] = Field(default={}, description="Wanted, but not attempted, by reason.")
    gold_from: dict[GoldSource, int] = Field(default={}, description="Test cases with a gold label, by its source.")
    levels: dict[str, str] = Field(
        default={}, description="If new texts were written for each level: how many, and why not more."
    )
    sources: str = Field(default="", description="With texts for each original: how many have every level.")


class WriterSpendRecord(Strict):
    """Calls and cost of one model that wrote or validated test cases. All judges of a study share them."""

    role: Literal["responder", "generator", "own-generator", "validator", "fallback"]
    model: str
    calls: int = Field(description="Calls, including those for rejected or abandoned texts.")
    refused: int = Field(default=0, description="Of those: refused by the model.")
    failed: int = Field(default=0, description="Of those: without an answer.")
    cost: Decimal | None = Field(default=None, description="US dollars; null unless the cost of every call is known.")
    price_table: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class StressTest(Strict):
    """One test: what it changes, what the judge should do, and how its test cases were made."""

    name: str
    title: str
    about: str
    kind: TestKind
    made: MadeRecord


class StressMeasure(GroupedMeasure):
    """One measure of the judge under one test, named by `stratum`."""

    group: str = Field(default="", description="One of your strata, `grade_level=8`; empty for all items.")


class PartVerdict(Strict):
    """One check of one measure. It passes only if the whole interval meets the threshold."""

    measure: str
    title: str
    least: float | None = Field(description="Minimum allowed value; null for none.")
    most: float | None
    verdict: CheckVerdict
    why: str = Field(description="Reason for the verdict.")
    needed: int | None = Field(default=None, description="Total units that would resolve an INCONCLUSIVE verdict.")
    more_needed: int | None = Field(default=None, description="The same, minus the units in the run.")
    leaning: Leaning | None = Field(default=None, description="Expected outcome if the value stays the same.")
    unit: Unit | None = None
    unanswered: int = Field(
        default=0, description="Excluded units that prevent a PASS: counted against the judge, they would undo it."
    )
    p_value: float | None = Field(
        default=None,
        description="One-sided p-value for meeting the threshold, by inverting the interval; null if not measured.",
    )


class CellVerdict(Strict):
    """The result of one test: FAIL if any check fails, PASS if all pass."""

    test: str
    verdict: CheckVerdict
    why: str
    parts: list[PartVerdict] = Field(default=[], description="Checks that make up this test.")
    needed: int | None = None
    more_needed: int | None = None
    leaning: Leaning | None = None
    unit: Unit | None = None
    unanswered: int = Field(default=0, description="The same for its parts, if more items would not resolve it.")
    p_value: float | None = Field(default=None, description="Combined p-value of its parts, by Bonferroni's bound.")


class WorstItem(Strict):
    """An item on which the judge did worst in one test. All of its texts are from outside."""

    item: str = Field(description="Your name for it.")
    test: str
    group: str = Field(default="", description="Its strata.")
    gold: str = Field(default="", description="Correct label of the original; empty if unknown.")
    gold_from: GoldSource | None = None
    original: Quoted = Field(default="", description="Your text; empty for a text written from scratch.")
    changed: Quoted = Field(default="", description="Text after the change; empty if the test changes nothing.")
    cut: bool = Field(default=False, description="Whether a text was truncated.")
    verdicts_original: list[str] = Field(default=[], description="Every answer to the original.")
    verdicts_changed: list[str] = Field(default=[])
    required: str = Field(default="", description="The label that the changed text should be given.")
    words_original: Quoted = Field(default="", description="The judge's explanation for the original.")
    words_changed: Quoted = ""
    evidence: Annotated[dict[str, str], QUOTED] = Field(
        default={}, description="Evidence for the changed text, by kind."
    )
    distance: float | None = Field(default=None, description="How far off the verdict is; used to sort items.")
    why: str = Field(default="", description="Why it is one of the worst items.")


class FindingRecord(Strict):
    """One line in plain words."""

    kind: FindingKind
    words: str


class StressReport(Record, Sparse):
    """The stress report of one judge on your own data."""

    seldom: ClassVar = ("writing", "own_policy")

    format: Literal["judge-stress/2"] = "judge-stress/2"
    judge: JudgeRecord
    run: RunRecord
    dataset: DatasetRecord
    scale: ScaleRecord
    margin: float = Field(gt=0, lt=1, description="Margin: of a rate, or of the scale's range for a shift.")
    complete: bool = Field(description="Every planned trial has a response.")
    tests: list[StressTest]
    measures: list[StressMeasure]
    decision: VerdictRecord
    verdicts: list[CellVerdict] = Field(description="One verdict for each test, over all items.")
    answered: list[CheckRecord] = Field(default=[], description="Checks on unusable replies.")
    smallest_differences: list[SmallestDifference] = Field(
        default=[], description="Statistical power of this run, check by check."
    )
    findings: list[FindingRecord]
    policy: list[str] = Field(description="The checks in use, with reasons.")
    own_policy: StressPolicy | None = Field(
        default=None, description="Your own policy in full; absent for the built-in policy."
    )
    worst: list[WorstItem] = Field(default=[])
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    reasoning: ReasoningRecord | None = Field(
        default=None, description="Consistency of reasoning and verdict; null if no verdict came with reasoning."
    )
    spend: SpendRecord | None = None
    writing: list[WriterSpendRecord] = Field(
        default=[], description="Cost of writing and validating the test cases; absent if nothing was written."
    )
    review: ReviewRecord | None = Field(default=None, description="Human review of the texts; null if there was none.")
    non_claims: list[str]

    @model_validator(mode="after")
    def _one_verdict_for_each_test(self) -> Self:
        names = [test.name for test in self.tests]
        if len(set(names)) != len(names) or [cell.test for cell in self.verdicts] != names:
            raise ValueError("a stress report has one verdict for each test, in the order of the tests")
        return self
