"""The parts of every protocol's record: measures with their numbers, the judge, the run, and its costs.

Every other rendering is a pure function of the record.
"""

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    WrapSerializer,
    model_serializer,
    model_validator,
)

from umpirical.domain.bills import BillingFault
from umpirical.domain.measures import Estimate, Measure, Undefined, Unit
from umpirical.domain.scales import JudgeKind
from umpirical.measures.catalogue import MeasureSpec, Scale

Planted = Mapping[tuple[str, str, str], float]
"""Maps (arm, measure, stratum) to the true value, which is known for simulated judges only."""


class Strict(BaseModel):
    """A part of a record: frozen, and without fields nobody agreed on."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Sparse(Strict):
    """A part of a record that leaves out what it seldom has, so that other records stay as they were."""

    seldom: ClassVar[tuple[str, ...]]
    """Fields that are left out where they are empty."""

    # The return type is not named: pydantic would take it for the schema of the whole.
    @model_serializer(mode="wrap")
    def _as_known(self, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # noqa: ANN202
        known: dict[str, Any] = handler(self)
        return {name: each for name, each in known.items() if each or name not in self.seldom}


def schema_text(model: type[BaseModel]) -> str:
    """Returns the JSON Schema of a record, or of a part of a study file, as text."""
    schema = model.model_json_schema(mode="serialization")
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}, indent=1) + "\n"


_RARE = {"joint", "heavy_hits", "heavy_misses"}
"""Fields of an estimate that are left out where they are empty."""


# The return type is not named: pydantic would take it for the schema of the whole.
def _kind_first(result: object, handler: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]  # noqa: ANN202
    known: dict[str, Any] = handler(result)
    kept = {name: each for name, each in known.items() if each or name not in _RARE}
    return {"kind": kept.pop("kind"), **kept}


def _with_levels(given: Any) -> Any:  # noqa: ANN401  # whatever was given
    """Refuses an interval in a file that does not say its level. Only what measures takes the usual one."""
    ends = [given.get(name) for name in ("interval", "planning_interval")] if isinstance(given, dict) else []
    if any(isinstance(each, dict) and "level" not in each for each in ends):
        raise ValueError("an interval has no level")
    return given


EstimateRecord = Annotated[Estimate, BeforeValidator(_with_levels), WrapSerializer(_kind_first)]
UndefinedRecord = Annotated[Undefined, WrapSerializer(_kind_first)]
ResultRecord = Annotated[EstimateRecord | UndefinedRecord, Field(discriminator="kind")]
"""A result as a part of a record."""


class MeasureRecord(Strict):
    """One named property of the judge."""

    name: str
    title: str
    symbol: str = Field(default="", description="What the Dark Current paper calls it; empty if it does not have it.")
    about: str = Field(description="What it measures, in one sentence.")
    worse: Literal["higher", "lower", "depends"] = Field(description="Which direction is bad news.")
    arm: str
    stratum: str = Field(description="The part of the design it is about; empty for the whole.")
    scale: Scale = "rate"
    result: ResultRecord
    planted: float | None = Field(default=None, description="The true value, known only for a simulated judge.")

    @model_validator(mode="before")
    @classmethod
    def _threshold_counts_requirements(cls, values: Any) -> Any:  # noqa: ANN401  # whatever was given
        """Fills in `scale` for older records, in which one measure is not a rate."""
        if isinstance(values, dict) and values.get("name") == "detection-threshold":
            return {"scale": "requirements"} | values
        return values


class GroupedMeasure(MeasureRecord):
    """One named property of the judge on data that has groups."""

    group: str = Field(default="", description="A part of the data, `subset=math`; empty for all of it.")


class JudgeRecord(Sparse):
    """The configuration under test."""

    seldom: ClassVar = ("test_prompts",)

    name: str
    kind: JudgeKind
    model: str
    fingerprint: str
    served_by: list[str] = Field(description="What the servers said of themselves.")
    decoding: dict[str, float | int | str | bool | None]
    instruction: str = Field(description="The prompt template, placeholders unfilled.")
    answer_schema: str
    capabilities: dict[str, bool]
    prompts: dict[str, str] = Field(default={}, description="The prompt template of each arm.")
    test_prompts: dict[str, str] = Field(default={}, description="Those for single tests; left out if there is none.")
    scale: str = Field(default="", description="What a `grade` judge may answer, in words.")
    grades: int | None = Field(default=None, description="How many grades there are; null on a scale of numbers.")


class RevisionRecord(Strict):
    """An earlier state of this datasheet, and what changed since."""

    date: str
    what: str
    kind: Literal["judge", "protocol", "measurement", "document"] = "document"


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
    steps: dict[str, list[float]] = Field(
        default={}, description="Of each probe, the steps at which it was asked; every other arm was asked everything."
    )
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


class ContradictionRecord(Strict):
    """A verdict other than the one that its own reasoning states."""

    trial_id: str
    arm: str
    family: str
    said: str = Field(description="The verdict as it was read: a slot, `tie`, a grade.")
    stated: str = Field(description="The verdict that the reasoning states.")
    words: str = Field(description="The end of the reasoning; text from outside, to be shown as inert text.")


class ReasoningRecord(Strict):
    """The reasonings that came with verdicts, held against them."""

    reasoned: int = Field(description="Verdicts with a reasoning.")
    stated: int = Field(description="Verdicts whose reasoning states a verdict outright.")
    contradicted: int = Field(description="Verdicts other than the one that their reasoning states.")
    examples: list[ContradictionRecord] = Field(default=[], description="Some of them, with the judge's words.")


class TroubleRecord(Strict):
    """One kind of answer that is no verdict, with the judge's words."""

    outcome: Literal["unparsed", "failed"]
    why: str
    count: int
    example: str = Field(description="One such answer, shortened; text from outside, to be shown as inert text.")


class GateRecord(Strict):
    """A check that the stimuli had to stand before they were used."""

    name: str
    passed: bool
    found: str | float
    allowed: str | float
    blocks: bool = Field(description="Whether failing it stops a run; else it is reported only.")


class BudgetRecord(Strict):
    """What the run has booked in the budget of its study, over all commands, retries and processes, in US dollars."""

    booked: Decimal
    billed: Decimal = Field(description="By the provider's own count, as far as that can be true.")
    uncertain: Decimal = Field(description="The most that the rest can have cost: nobody knows what was billed.")
    billed_calls: int
    uncertain_calls: int
    faults: dict[BillingFault, int] = Field(description="Why it is uncertain, or more than it could have been.")


class SpendRecord(Sparse):
    """What the run took."""

    seldom: ClassVar = ("budget", "reused")

    calls: int
    reused: int = Field(default=0, description="Answers from other runs among them, paid for there; left out if none.")
    cost: Decimal | None = Field(default=None, description="US dollars; null if not known.")
    cost_per_1000: Decimal | None = Field(default=None, description="US dollars for 1,000 calls made here.")
    budget: BudgetRecord | None = Field(default=None, description="Left out if no call had a price.")
    price_table: str = ""
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


LimitVerdict = Literal["PASS", "FAIL", "INCONCLUSIVE", "N/A"]


LimitState = Literal["met", "made up for", "broken", "open"]
"""What a limit comes to: it passes; a way of use makes up for it; it fails and nothing does; or none of these."""


class PartRecord(Strict):
    """A part of the test cases in which the judge is shown to fail."""

    part: str = Field(description="Its kind and its name: `format=json`; empty if most parts fail.")
    failed: float
    pairs: int
    families: int = Field(description="Task families behind it.")
    bound: float = Field(description="The lower bound of the failure rate, for all parts together.")


class ConditionRecord(Sparse):
    """A condition held against one measure."""

    seldom: ClassVar = ("failing",)

    measure: str
    title: str = Field(default="", description="The measure's, for sentences.")
    stratum: str
    kind: Literal["at_most", "at_least"]
    value: float
    verdict: LimitVerdict
    bound: float | None = Field(
        default=None, description="The one-sided bound that had to lie inside, missing answers counted the worst way."
    )
    level: float | None = Field(default=None, description="How often that bound errs, at most.")
    needed: int | None = Field(
        default=None, description="Units in all that would settle an INCONCLUSIVE one, in nine samples of ten."
    )
    more_needed: int | None = Field(default=None, description="The same, less the units there are.")
    unit: Unit | None = None
    unanswered: int = Field(default=0, description="Units without an answer that prevent a PASS.")
    why: str = Field(default="", description="How the verdict came about, in words.")
    failing: list[PartRecord] = Field(default=[], description="Of a check on each part: those that fail it.")


class CureRecord(Strict):
    """A way of use that may make up for a limit, and what it needs."""

    way: str
    needs: list[ConditionRecord]
    works: bool


class LimitRecord(ConditionRecord):
    """A limit of the policy held against one measure."""

    arm: str
    essential: bool = Field(default=False, description="A judge is not used unless this is met or has a cure.")
    refuses: bool = Field(default=True, description="Whether missing it speaks against the judge.")
    state: LimitState = Field(default="open", description="What it comes to in the decision.")
    cures: list[CureRecord] = Field(default=[], description="Ways of use that may make up for it, the best first.")
    way: str = Field(default="", description="The way of use that makes up for it, if one does.")
    good_for: str = Field(default="", description="Said about a judge that meets it.")
    not_for: str = Field(default="", description="Said about a judge that does not meet it, or is not shown to.")


class SmallestDifference(Strict):
    """The smallest true difference from a limit, or from 0, that a run of this size shows in four cases of five."""

    measure: str
    title: str
    arm: str
    stratum: str
    scale: Scale
    kind: Literal["at_most", "at_least", "none"] = Field(description="The kind of limit; `none`: held against 0.")
    value: float = Field(description="The limit, or 0.")
    below: float | None = Field(default=None, description="How far below it the truth has to be; null if never shown.")
    above: float | None = Field(default=None, description="How far above it the truth has to be; null if never shown.")
    units: int | None = None
    unit: Unit | None = None
    clusters: int | None = None
    design_effect: float | None = Field(default=None, description="Of a rate: units that count as one.")
    power: float = Field(default=0.80, description="How often a true difference of this size is shown.")
    error: float = Field(default=0.05, description="How often a difference of 0 is shown, at most.")
    method: str = Field(default="", description="What has to show it, on one side or on two.")
    why_not: str = Field(default="", description="Why there is none, on one side or on both.")

    @property
    def inside(self) -> float | None:
        """How far inside its limit the truth has to be to pass."""
        return self.above if self.kind == "at_least" else self.below


class Record(Strict):
    """The record of one run, measured: what a record of every protocol holds.

    The fields are declared to the type checker alone, because each protocol's file has them in an order of its own.
    """

    if TYPE_CHECKING:
        format: str
        reasoning: ReasoningRecord | None
        judge: JudgeRecord
        run: RunRecord
        complete: bool
        measures: list[Any]
        audit: list[AuditRow]
        trouble: list[TroubleRecord]
        spend: SpendRecord | None
        smallest_differences: list[SmallestDifference]
        non_claims: list[str]


FAILED_SHARE = 0.10
"""A run with more failed calls than this is not done: it is not decided on, and can be resumed."""


def why_unfinished(*, complete: bool, audit: Sequence[AuditRow]) -> str:
    """Says what a run lacks before anything is decided on it; empty if it lacks nothing."""
    planned, unasked, failed = (sum(getattr(row, name) for row in audit) for name in ("planned", "unasked", "failed"))
    if not complete:
        return f"{unasked:,} of {planned:,} calls were not made" if unasked else "calls are missing"
    return f"{failed:,} of {planned:,} calls failed" if failed > FAILED_SHARE * planned else ""


def record_json(record: Strict) -> str:
    """Renders a record as in its JSON file: the same record gives the same bytes."""
    return record.model_dump_json(indent=1) + "\n"


def first_problem(error: ValidationError) -> str:
    """Returns the first problem of a record or another document, and where it is."""
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg'].removeprefix('Value error, ')}"


def part_record(spec: MeasureSpec, measure: Measure) -> GroupedMeasure:
    """Returns a measure of one part of the test cases."""
    return GroupedMeasure(**dict(measure_record(spec, measure)), group=measure.group)


def measure_record(spec: MeasureSpec, measure: Measure, planted: Planted = MappingProxyType({})) -> MeasureRecord:
    """Returns a measure as a part of a record, with its true value if that was planted."""
    return MeasureRecord(
        name=spec.name,
        title=spec.title,
        symbol=spec.symbol_at(measure.stratum),
        about=spec.about,
        worse=spec.worse,
        arm=measure.arm,
        stratum=measure.stratum,
        scale=spec.scale,
        result=measure.result,
        planted=planted.get((measure.arm, measure.name, measure.stratum)),
    )
