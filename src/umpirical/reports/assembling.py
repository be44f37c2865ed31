"""Measures and a run's facts to the datasheet record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from umpirical.domain.measures import Estimate, Interval, Measure
from umpirical.domain.tallies import CallTally
from umpirical.measures.spec import MeasureSpec
from umpirical.reports.findings import find
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

__all__ = ["assemble"]

NON_CLAIMS = [
    "Quality here means requirements met in constructed answers; it is not natural answer quality.",
    "The measures describe this judge with this prompt and these settings, not its model in general.",
    "A profile on these stimuli is a description, not a class the judge belongs to.",
    "Nothing here says that the judge agrees with people.",
]

Planted = Mapping[tuple[str, str], float]
"""(measure, stratum) to true value; known for simulated judges only."""


def assemble(  # noqa: PLR0913  # the parts of a datasheet, each once
    judge: JudgeRecord,
    run: RunRecord,
    measured: Sequence[tuple[MeasureSpec, Measure]],
    calls: Iterable[CallTally],
    trouble: list[TroubleRecord],
    *,
    planted: Planted,
) -> Datasheet:
    """The datasheet of one run."""
    measures = [_measure(spec, measure, planted) for spec, measure in measured]
    audit = _audit(calls)
    return Datasheet(
        judge=judge,
        run=run,
        complete=not any(row.unasked for row in audit),
        measures=measures,
        audit=audit,
        trouble=trouble,
        findings=find(measures),
        non_claims=NON_CLAIMS,
    )


def _measure(spec: MeasureSpec, measure: Measure, planted: Planted) -> MeasureRecord:
    return MeasureRecord(
        name=spec.name,
        title=spec.title,
        about=spec.about,
        worse=spec.worse,
        arm=measure.arm,
        stratum=measure.stratum,
        result=_estimate(measure.result)
        if isinstance(measure.result, Estimate)
        else UndefinedRecord(**asdict(measure.result)),
        planted=planted.get((measure.name, measure.stratum)),
    )


def _estimate(estimate: Estimate) -> EstimateRecord:
    values = {name: getattr(estimate, name) for name in EstimateRecord.model_fields if name != "kind"}
    values |= {"interval": _interval(estimate.interval), "planning_interval": _interval(estimate.planning_interval)}
    return EstimateRecord(**values)


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
