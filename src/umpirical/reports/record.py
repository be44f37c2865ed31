"""The parts of every protocol's record: measures with their numbers, the judge, the run, and its costs.

Every other rendering is a pure function of the record.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, cast, get_type_hints

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WrapSerializer,
    model_serializer,
    model_validator,
)

from umpirical.domain.bills import BillingFault
from umpirical.domain.measures import Estimate, Measure, Undefined, Unit
from umpirical.domain.scales import JudgeKind
from umpirical.measures.catalogue import MeasureSpec, Scale
from umpirical.reports.anytime import at_any_look, without_tasks
from umpirical.text.quoted import QUOTED, Quoted, digests_of

TrueValues = Mapping[tuple[str, str, str], float]
"""Maps (variant, measure, stratum) to the true value, which is known only for simulated judges."""


class Strict(BaseModel):
    """A part of a record: frozen, and without unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


StrictT = TypeVar("StrictT", bound=Strict)


class Sparse(Strict):
    """A part of a record that omits rare fields where they are empty."""

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


_RARE = {"joint", "heavy_hits", "heavy_misses", "per_task"}
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
        raise ValueError("an interval must state its level")
    return given


EstimateRecord = Annotated[Estimate, BeforeValidator(_with_levels), WrapSerializer(_kind_first)]
UndefinedRecord = Annotated[Undefined, WrapSerializer(_kind_first)]
ResultRecord = Annotated[EstimateRecord | UndefinedRecord, Field(discriminator="kind")]
"""A result as a part of a record."""


class MeasureRecord(Strict):
    """One named property of the judge."""

    name: str
    title: str
    symbol: str = Field(default="", description="Its symbol in the paper; empty if the paper does not have it.")
    about: str = Field(description="Its meaning, in one sentence.")
    worse: Literal["higher", "lower", "depends"] = Field(description="Which direction is worse.")
    variant: str
    stratum: str = Field(description="The part of the design; empty for the whole.")
    scale: Scale = "rate"
    result: ResultRecord
    true_value: float | None = Field(default=None, description="The true value, known only for simulated judges.")

    @model_validator(mode="before")
    @classmethod
    def _threshold_counts_requirements(cls, values: Any) -> Any:  # noqa: ANN401  # whatever was given
        """Fills in `scale` for older records, in which one measure is not a rate."""
        if isinstance(values, dict) and values.get("name") == "detection-threshold":
            return {"scale": "requirements"} | values
        return values


class GroupedMeasure(MeasureRecord):
    """One named property of the judge on data that has groups."""

    group: str = Field(default="", description="A part of the data, such as `subset=math`; empty for all of it.")


class JudgeRecord(Sparse):
    """The configuration under test."""

    seldom: ClassVar = ("test_prompts",)

    name: str
    kind: JudgeKind
    model: str
    fingerprint: str
    served_by: list[str] = Field(description="Names that the servers gave themselves.")
    decoding: dict[str, float | int | str | bool | None]
    instruction: str = Field(description="The prompt template, with its placeholders.")
    answer_schema: str
    capabilities: dict[str, bool]
    prompts: dict[str, str] = Field(default={}, description="The prompt template of each prompt variant.")
    test_prompts: dict[str, str] = Field(
        default={}, description="Templates for single tests; omitted if there are none."
    )
    scale: str = Field(default="", description="The grades that a `grade` judge may give, in words.")
    grades: int | None = Field(default=None, description="Number of grades; null on a scale of numbers.")


class RevisionRecord(Strict):
    """An earlier version of this datasheet, and what has changed since."""

    date: str
    what: str
    kind: Literal["judge", "protocol", "measurement", "document"] = "document"


class RunRecord(Sparse):
    """The run behind this record."""

    seldom: ClassVar = ("looks",)

    id: str
    created: str
    umpirical_version: str
    protocol: str
    stimuli: str = Field(description="Digest of the set of test cases.")
    seed: int
    tasks: list[str]
    variants: list[str]
    steps: dict[str, list[float]] = Field(
        default={},
        description="For each probe, the differences it was asked about. Every other one was asked everything.",
    )
    repeats: int
    trials: int
    responses_sha256: str = Field(description="Digest over every response, in order of trial id.")
    command: str = Field(description="Reproduces this datasheet.")
    python: str = Field(default="", description="Version used to read the run.")
    packages: dict[str, str] = Field(default={}, description="Versions of the packages that can change a number.")
    revisions: list[RevisionRecord] = Field(default=[])
    looks: int = Field(
        default=0, description="How often the run may be looked at, to stop once decided. 0 at a fixed size."
    )


class AuditRow(Strict):
    """Every trial of one part of the design, by outcome. The outcome columns add up to `planned`."""

    variant: str
    family: str
    stratum: str
    delta: float | None
    planned: int
    position_1: int
    position_2: int
    tie: int
    abstained: int
    unparsed: int
    failed: int
    unasked: int
    graded: int = Field(default=0, description="Calls of a `grade` judge that gave a grade.")


class ContradictionRecord(Strict):
    """A verdict that differs from the one its own reasoning states."""

    trial_id: str
    variant: str
    family: str
    said: str = Field(description="The verdict as it was read: a position, `tie`, or a grade.")
    stated: str = Field(description="The verdict stated in the reasoning.")
    words: Quoted = Field(description="The end of the reasoning. Untrusted text: show it escaped.")


class ReasoningRecord(Strict):
    """The reasoning that came with verdicts, compared with them."""

    reasoned: int = Field(description="Verdicts with reasoning.")
    stated: int = Field(description="Verdicts whose reasoning states a verdict explicitly.")
    contradicted: int = Field(description="Verdicts that differ from the one their reasoning states.")
    examples: list[ContradictionRecord] = Field(default=[], description="Examples, with the judge's words.")


class TroubleRecord(Strict):
    """One kind of unusable reply, with an example."""

    outcome: Literal["unparsed", "failed"]
    why: str
    count: int
    example: Quoted = Field(description="One such reply, shortened. Untrusted text: show it escaped.")


class GateRecord(Strict):
    """A check that the test cases had to pass before they were used."""

    name: str
    passed: bool
    found: str | float
    allowed: str | float
    blocks: bool = Field(description="Whether failing it stops a run. Otherwise it is only reported.")


class BudgetRecord(Strict):
    """What the run has spent from the budget of its study, over all commands, retries and processes, in US dollars."""

    spent: Decimal
    billed: Decimal = Field(description="By the provider's own count, as far as it is plausible.")
    uncertain: Decimal = Field(description="The most that the rest can have cost. The billed amount is unknown.")
    billed_calls: int
    uncertain_calls: int
    faults: dict[BillingFault, int] = Field(description="Why the cost is uncertain, or higher than expected.")


class SpendRecord(Sparse):
    """What the run used."""

    seldom: ClassVar = ("budget", "reused")

    calls: int
    reused: int = Field(
        default=0, description="How many of them reused replies that another run paid for; omitted if none."
    )
    cost: Decimal | None = Field(default=None, description="US dollars; null if unknown.")
    cost_per_1000: Decimal | None = Field(default=None, description="US dollars for 1,000 calls made here.")
    budget: BudgetRecord | None = Field(default=None, description="Omitted if no call had a price.")
    price_table: str = ""
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


CheckVerdict = Literal["PASS", "FAIL", "INCONCLUSIVE", "N/A"]


CheckState = Literal["met", "made up for", "broken", "open"]
"""What a check comes to: it passes; a way of use makes up for it; it fails and nothing does; or none of these."""


class PartRecord(Strict):
    """A part of the test cases in which the judge is shown to fail."""

    part: str = Field(description="Its kind and name, such as `format=json`; empty if most parts fail.")
    failed: float
    pairs: int
    families: int = Field(description="Number of task families.")
    bound: float = Field(description="The lower bound of the failure rate, for all parts together.")


class ConditionRecord(Sparse):
    """A threshold checked against one measure."""

    seldom: ClassVar = ("failing",)

    measure: str
    title: str = Field(default="", description="The title of the measure, for sentences.")
    stratum: str
    kind: Literal["at_most", "at_least"]
    value: float
    verdict: CheckVerdict
    bound: float | None = Field(
        default=None,
        description="The one-sided bound that is compared with the threshold. Missing answers count against the judge.",
    )
    level: float | None = Field(default=None, description="The highest error rate of that bound.")
    needed: int | None = Field(
        default=None, description="Units in total that would decide an INCONCLUSIVE check in nine of ten samples."
    )
    more_needed: int | None = Field(default=None, description="The same, minus the units there are.")
    unit: Unit | None = None
    unanswered: int = Field(default=0, description="Units without an answer that prevent a PASS.")
    why: str = Field(default="", description="The reason for the verdict, in words.")
    failing: list[PartRecord] = Field(default=[], description="For a check on each part: the parts that fail.")


class CureRecord(Strict):
    """A recommended use that may compensate for a check, and what it needs."""

    way: str
    needs: list[ConditionRecord]
    works: bool


class CheckRecord(ConditionRecord):
    """A check of the policy on one measure."""

    variant: str
    essential: bool = Field(
        default=False, description="Whether a judge must pass this, or compensate for it, to be used."
    )
    refuses: bool = Field(default=True, description="Whether failing it counts against the judge.")
    state: CheckState = Field(default="open", description="Its effect on the decision.")
    cures: list[CureRecord] = Field(
        default=[], description="Recommended uses that may compensate for it, the best first."
    )
    way: str = Field(default="", description="The recommended use that compensates for it, if one does.")
    good_for: str = Field(default="", description="Said about a judge that passes it.")
    not_for: str = Field(default="", description="Said about a judge that does not pass it.")


class SmallestDifference(Strict):
    """The smallest true difference from a threshold, or from 0, that a run of this size shows with 80% power."""

    measure: str
    title: str
    variant: str
    stratum: str
    scale: Scale
    kind: Literal["at_most", "at_least", "none"] = Field(
        description="The kind of threshold; `none` for a comparison with 0."
    )
    value: float = Field(description="The threshold, or 0.")
    below: float | None = Field(
        default=None, description="How far below it the true value must be; null if no distance is enough."
    )
    above: float | None = Field(
        default=None, description="How far above it the true value must be; null if no distance is enough."
    )
    units: int | None = None
    unit: Unit | None = None
    clusters: int | None = None
    design_effect: float | None = Field(default=None, description="For a rate: how many units count as one.")
    power: float = Field(default=0.80, description="How often a true difference of this size is shown.")
    error: float = Field(default=0.05, description="At most how often a difference of 0 is shown.")
    method: str = Field(default="", description="The test that shows it, one-sided or two-sided.")
    why_not: str = Field(default="", description="Why there is none, on one or both sides.")

    @property
    def inside(self) -> float | None:
        """How far inside its threshold the true value must be to pass."""
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


def redacted(record: StrictT) -> StrictT:
    """Returns a record with every text that it quotes replaced by its digest."""
    return cast("StrictT", _redacted(record))


def _redacted(value: object) -> object:
    if isinstance(value, Strict):
        fields = type(value).model_fields
        return value.model_copy(
            update={
                name: digests_of(each) if QUOTED in field.metadata else _redacted(each)
                for name, field in fields.items()
                if isinstance(each := getattr(value, name), str | list | dict | Strict)
            }
        )
    if is_dataclass(value) and not isinstance(value, type):
        hints = get_type_hints(type(value), include_extras=True)
        marked = [name for name, hint in hints.items() if QUOTED in getattr(hint, "__metadata__", ())]
        return replace(value, **{name: digests_of(getattr(value, name)) for name in marked}) if marked else value
    return [_redacted(each) for each in value] if isinstance(value, list) else value


def part_record(spec: MeasureSpec, measure: Measure) -> GroupedMeasure:
    """Returns a measure of one part of the test cases."""
    return GroupedMeasure(**dict(measure_record(spec, measure)), group=measure.group)


def measure_record(
    spec: MeasureSpec, measure: Measure, true_value: TrueValues = MappingProxyType({}), *, anytime: bool = False
) -> MeasureRecord:
    """Returns a measure as a part of a record, with its true value if that is known.

    With `anytime`, the run may stop as soon as it is decided, so the intervals of rates have to hold at every look.
    """
    return MeasureRecord(
        name=spec.name,
        title=spec.title,
        symbol=spec.symbol_at(measure.stratum),
        about=spec.about,
        worse=spec.worse,
        variant=measure.variant,
        stratum=measure.stratum,
        scale=spec.scale,
        result=at_any_look(measure.result, spec.scale) if anytime else without_tasks(measure.result),
        true_value=true_value.get((measure.variant, measure.name, measure.stratum)),
    )
