"""Measures and a run's facts to the datasheet record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType

from umpirical.domain.measures import Estimate, Interval, Measure, Result
from umpirical.domain.tallies import CallTally, GradeTally
from umpirical.measures.catalogue import MeasureSpec
from umpirical.reports.decision import decide
from umpirical.reports.findings import find
from umpirical.reports.limits import hold_limits
from umpirical.reports.policy import POLICIES
from umpirical.reports.profile import sketch
from umpirical.reports.record import (
    AuditRow,
    Datasheet,
    EstimateRecord,
    IntervalRecord,
    JudgeRecord,
    MeasureRecord,
    RunRecord,
    TroubleRecord,
    UndefinedRecord,
)
from umpirical.reports.record_sources import ExampleRecord, GradeRow, SpendRecord, StimuliRecord

__all__ = ["NON_CLAIMS", "assemble", "measure_record", "result_record"]

MOST_EXAMPLES = 12
"""Failures that are shown; the responses hold them all."""

LONGEST_TEXT = 1_500
"""Characters of a task, a candidate or an answer that are shown."""

NON_CLAIMS = [
    "Quality here means requirements met in constructed answers; it is not natural answer quality.",
    "The measures describe this judge with this prompt and these settings, not its model in general.",
    "A profile on these stimuli is a description, not a class the judge belongs to.",
    "Nothing here says that the judge agrees with people.",
]

Planted = Mapping[tuple[str, str, str], float]
"""(arm, measure, stratum) to true value; known for simulated judges only."""


def assemble(  # noqa: PLR0913  # the parts of a datasheet, each once
    judge: JudgeRecord,
    run: RunRecord,
    measured: Sequence[tuple[MeasureSpec, Measure]],
    calls: Iterable[CallTally],
    trouble: list[TroubleRecord],
    *,
    planted: Planted,
    stimuli: StimuliRecord | None = None,
    spend: SpendRecord | None = None,
    examples: Sequence[ExampleRecord] = (),
    grades: Iterable[GradeTally] = (),
) -> Datasheet:
    """The datasheet of one run; what its measures amount to follows from them by the default policy."""
    measures = [measure_record(spec, measure, planted) for spec, measure in measured]
    audit = _audit(calls)
    complete = not any(row.unasked for row in audit)
    policy = POLICIES[judge.kind]
    limits = hold_limits(policy, measures, dict.fromkeys([*run.arms, *(measure.arm for measure in measures)]))
    return Datasheet(
        judge=judge,
        run=run,
        complete=complete,
        measures=measures,
        audit=audit,
        trouble=trouble,
        findings=find(measures),
        non_claims=NON_CLAIMS,
        limits=limits,
        decision=decide(
            policy,
            limits,
            complete=complete,
            gates=stimuli.gates if stimuli else (),
            not_measured=_not_measured(judge, run, measures, spend),
        ),
        profile=sketch(measures),
        stimuli=stimuli,
        spend=spend,
        examples=[_shortened(example) for example in examples[:MOST_EXAMPLES]],
        grades=_grades(grades),
    )


def result_record(result: Result) -> EstimateRecord | UndefinedRecord:
    """A measured result as it stands in a record."""
    if not isinstance(result, Estimate):
        return UndefinedRecord(**asdict(result))
    values = {name: getattr(result, name) for name in EstimateRecord.model_fields if name != "kind"}
    values |= {"interval": _interval(result.interval), "planning_interval": _interval(result.planning_interval)}
    return EstimateRecord(**values)


def measure_record(spec: MeasureSpec, measure: Measure, planted: Planted = MappingProxyType({})) -> MeasureRecord:
    """A measure as it stands in a record, with its true value where that was planted."""
    return MeasureRecord(
        name=spec.name,
        title=spec.title,
        about=spec.about,
        worse=spec.worse,
        arm=measure.arm,
        stratum=measure.stratum,
        scale=spec.scale,
        result=result_record(measure.result),
        planted=planted.get((measure.arm, measure.name, measure.stratum)),
    )


def _not_measured(
    judge: JudgeRecord, run: RunRecord, measures: Sequence[MeasureRecord], spend: SpendRecord | None
) -> list[str]:
    """What a reader may take for granted and nobody looked at."""
    said = []
    if run.repeats < 2:
        said.append("Repeatability: everything was asked once.")
    if judge.kind == "compare" and len({measure.arm for measure in measures}) < 2:
        said.append("Criterion shift: only one prompt was used.")
    if spend is None or spend.cost is None:
        said.append("Cost: no price is known.")
    return [*said, "Agreement with people, and answers that were not constructed."]


def _shortened(example: ExampleRecord) -> ExampleRecord:
    texts = {name: _cut(getattr(example, name)) for name in ("task", "candidate_u", "candidate_v")}
    answers = [answer.model_copy(update={"words": _cut(answer.words)}) for answer in example.answers]
    return example.model_copy(update={**texts, "answers": answers})


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} […]"


def _grades(tallies: Iterable[GradeTally]) -> list[GradeRow]:
    """Grades of all tasks together."""
    sums: dict[tuple[str, str, float, float], int] = {}
    for tally in tallies:
        key = (tally.arm, tally.family, tally.level, tally.score)
        sums[key] = sums.get(key, 0) + tally.answers
    return [
        GradeRow(arm=arm, family=family, level=level, score=score, answers=answers)
        for (arm, family, level, score), answers in sorted(sums.items())
    ]


def _interval(interval: Interval | None) -> IntervalRecord | None:
    return None if interval is None else IntervalRecord(**asdict(interval))


def _audit(calls: Iterable[CallTally]) -> list[AuditRow]:
    """Tallies of all tasks together, by part of the design."""
    rows: dict[tuple[str, str, str, float | None], dict[str, int]] = {}
    for tally in calls:
        sums = rows.setdefault((tally.arm, tally.family, tally.stratum, tally.delta), {})
        for name, value in asdict(tally).items():
            if name not in ("task_id", "arm", "family", "stratum", "delta"):
                sums[name] = sums.get(name, 0) + value
    keys = sorted(rows, key=lambda key: (key[0], key[1] != "vacuum", key[3] or 0.0, key[2]))
    return [
        AuditRow(arm=arm, family=family, stratum=stratum, delta=delta, **rows[arm, family, stratum, delta])
        for arm, family, stratum, delta in keys
    ]
