"""A policy's limits held against what was measured."""

from collections.abc import Iterable, Sequence
from math import inf, isfinite

from umpirical.reports.numbers import about, limit, measured_interval, measured_value, units
from umpirical.reports.policy import Limit
from umpirical.reports.record import EstimateRecord, MeasureRecord
from umpirical.reports.record_verdicts import LimitRecord, LimitVerdict
from umpirical.reports.settling import units_to_settle

__all__ = ["hold_limits"]


def hold_limits(policy: Iterable[Limit], measures: Sequence[MeasureRecord], arms: Iterable[str]) -> list[LimitRecord]:
    """Every limit on every arm, in the order of the policy. What was not measured is N/A."""
    found = {(measure.arm, measure.name, measure.stratum): measure for measure in measures}
    titles = {measure.name: measure.title for measure in measures}
    held = list(policy)
    return [
        _hold(limit, found.get((arm, limit.measure, limit.stratum)), arm, titles.get(limit.measure, limit.measure))
        for arm in arms
        for limit in held
    ]


def _hold(limit: Limit, measure: MeasureRecord | None, arm: str, title: str) -> LimitRecord:
    known = {
        "measure": limit.measure,
        "title": title,
        "arm": arm,
        "stratum": limit.stratum,
        "kind": limit.kind,
        "value": limit.value,
        "essential": limit.essential,
    }
    if measure is None:
        return LimitRecord(**known, verdict="N/A", why="not measured")
    if not isinstance(measure.result, EstimateRecord):
        return LimitRecord(**known, verdict="N/A", why=measure.result.reason)
    estimate = measure.result
    verdict = _verdict(limit, estimate)
    needed = _needed(limit, measure, estimate) if verdict == "INCONCLUSIVE" else None
    return LimitRecord(
        **known,
        verdict=verdict,
        needed=needed,
        more_needed=None if needed is None else needed - estimate.denominator,
        unit=estimate.unit,
        why=_why(limit, measure, estimate, verdict, needed),
    )


def _verdict(limit: Limit, estimate: EstimateRecord) -> LimitVerdict:
    low, high = _ends(estimate)
    if limit.kind == "at_most":
        return "PASS" if high <= limit.value else "FAIL" if low > limit.value else "INCONCLUSIVE"
    return "PASS" if low >= limit.value else "FAIL" if high < limit.value else "INCONCLUSIVE"


def _ends(estimate: EstimateRecord) -> tuple[float, float]:
    """The interval's; an open end holds everything, and so does no interval."""
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    return -inf if low is None else low, inf if high is None else high


def _needed(limit: Limit, measure: MeasureRecord, estimate: EstimateRecord) -> int | None:
    low, high = _ends(estimate)
    bound = high if estimate.value < limit.value else low
    if not (isfinite(bound) and isfinite(estimate.value)):
        return None
    is_rate = measure.scale == "rate"
    return units_to_settle(estimate.value, limit.value, bound=bound, units=estimate.denominator, is_rate=is_rate)


def _why(
    held: Limit, measure: MeasureRecord, estimate: EstimateRecord, verdict: LimitVerdict, needed: int | None
) -> str:
    seen = f"{measured_value(measure, estimate)} {measured_interval(measure, estimate.interval)}"
    words = f"{seen} against {limit(held.kind, held.value)}"
    if verdict != "INCONCLUSIVE":
        return f"{words}: the whole interval is {'inside' if verdict == 'PASS' else 'outside'}"
    if needed is None:
        return f"{words}: the interval holds the limit, and at this rate more of the same would not settle it"
    way = "a pass" if (estimate.value < held.value) == (held.kind == "at_most") else "a fail"
    return f"{words}: at the same rate about {about(needed)} {units(estimate.unit, needed)} would settle it as {way}"
