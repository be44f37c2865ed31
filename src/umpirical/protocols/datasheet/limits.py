"""Holds measures against the limits of a policy: the only place where a number of a datasheet becomes PASS or FAIL.

Each essential limit is

- *met*, if it passes;
- *made up for*, if it fails or is INCONCLUSIVE, at most a tenth of it has no answer, and everything that one of its
  ways of use needs passes; or if the design does not measure it and the policy says how to use such a judge;
- *broken*, if it fails, it speaks against the judge, and something that each of its ways of use needs fails too;
- *open*, otherwise. Undefined is open: it never counts as a pass, and nothing makes up for it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from umpirical.domain.scales import JudgeKind
from umpirical.protocols.datasheet.policy import Condition, Limit, Policy
from umpirical.reports import numbers
from umpirical.reports.bounds import Side, design_effect, one_sided
from umpirical.reports.forecast import settling_units, units_to_settle
from umpirical.reports.record import (
    ConditionRecord,
    CureRecord,
    EstimateRecord,
    LimitRecord,
    LimitState,
    LimitVerdict,
    MeasureRecord,
)

MOST_MISSING = 0.10
"""Nothing makes up for a limit if more than this share of its units has no answer: whatever is amiss may hide there."""


@dataclass(frozen=True, slots=True)
class Levels:
    """How often a verdict may err."""

    accept: float
    refuse: float


def hold_limits(
    policy: Policy,
    kind: JudgeKind,
    measures: Sequence[MeasureRecord],
    arms: Iterable[str],
    *,
    grades: int | None = None,
) -> list[LimitRecord]:
    """Returns every limit of a policy for every arm, in the order of the policy. What was not measured is N/A."""
    found = {(measure.arm, measure.name, measure.stratum): measure for measure in measures}
    titles = {measure.name: measure.title for measure in measures}
    limits = policy.limits(kind, grades=grades)
    refuse = policy.refusing_level(limits)
    return [
        _Holding(arm, found, titles, Levels(policy.accepting_level(limit, limits), refuse)).limit(limit)
        for arm in arms
        for limit in limits
    ]


@dataclass(frozen=True, slots=True)
class _Holding:
    """What one limit and its cures are held against."""

    arm: str
    found: Mapping[tuple[str, str, str], MeasureRecord]
    titles: Mapping[str, str]
    levels: Levels

    def limit(self, limit: Limit) -> LimitRecord:
        own = self.condition(limit)
        hidden = _missing_share(self.found.get((self.arm, *limit.key))) > MOST_MISSING
        cures = [self._cure(cure.way, cure.needs, hidden=hidden) for cure in limit.cures]
        absent = (self.arm, *limit.key) not in self.found and limit.unmeasured
        way = limit.unmeasured if absent else next((cure.way for cure in cures if cure.works), "")
        state = _state(limit, own.verdict, cures, way)
        return LimitRecord(
            **dict(own),
            arm=self.arm,
            essential=limit.essential,
            refuses=limit.refuses,
            state=state,
            cures=cures,
            way=way if state == "made up for" else "",
            good_for=limit.good_for,
            not_for=limit.not_for,
        )

    def condition(self, condition: Condition) -> ConditionRecord:
        measure = self.found.get((self.arm, *condition.key))
        known = {
            "measure": condition.measure,
            "title": self.titles.get(condition.measure, condition.measure.replace("-", " ").capitalize()),
            "stratum": condition.at,
            "kind": condition.kind,
            "value": condition.value,
        }
        if measure is None:
            return ConditionRecord(**known, verdict="N/A", why="not measured")
        if not isinstance(measure.result, EstimateRecord):
            return ConditionRecord(**known, verdict="N/A", why=measure.result.reason)
        return _held(condition, measure, measure.result, self.levels, known)

    def _cure(self, way: str, needs: Sequence[Condition], *, hidden: bool) -> CureRecord:
        """`hidden`: too much of what is to be made up for was never seen."""
        held = [self.condition(need) for need in needs]
        return CureRecord(way=way, needs=held, works=not hidden and all(need.verdict == "PASS" for need in held))


def _missing_share(measure: MeasureRecord | None) -> float:
    if measure is None or not isinstance(measure.result, EstimateRecord):
        return 0.0
    missing = sum(measure.result.left_out.values())
    return missing / (missing + measure.result.denominator)


def _held(
    condition: Condition, measure: MeasureRecord, estimate: EstimateRecord, levels: Levels, known: Mapping[str, object]
) -> ConditionRecord:
    inner: Side = "high" if condition.kind == "at_most" else "low"
    outer: Side = "low" if condition.kind == "at_most" else "high"
    worst = one_sided(measure, estimate, inner, alpha=levels.accept, count_missing=True)
    seen = one_sided(measure, estimate, inner, alpha=levels.accept, count_missing=False)
    other = one_sided(measure, estimate, outer, alpha=levels.refuse, count_missing=False)
    verdict: LimitVerdict = (
        "PASS" if _inside(worst, condition) else "FAIL" if _outside(other, condition) else "INCONCLUSIVE"
    )
    unanswered = sum(estimate.left_out.values()) if verdict == "INCONCLUSIVE" and _inside(seen, condition) else 0
    needed = _needed(condition, measure, estimate, levels) if verdict == "INCONCLUSIVE" and not unanswered else None
    bound, level = (other, levels.refuse) if verdict == "FAIL" else (worst, levels.accept)
    return ConditionRecord.model_validate(
        {
            **known,
            "verdict": verdict,
            "bound": bound if abs(bound) < float("inf") else None,
            "level": level,
            "needed": needed,
            "more_needed": None if needed is None else needed - estimate.denominator,
            "unit": estimate.unit,
            "unanswered": unanswered,
            "why": _why(condition, measure, estimate, verdict, bound, needed, unanswered),
        }
    )


def _inside(bound: float, condition: Condition) -> bool:
    return bound <= condition.value if condition.kind == "at_most" else bound >= condition.value


def _outside(bound: float, condition: Condition) -> bool:
    return bound > condition.value if condition.kind == "at_most" else bound < condition.value


def _needed(condition: Condition, measure: MeasureRecord, estimate: EstimateRecord, levels: Levels) -> int | None:
    leaning = _inside(estimate.value, condition)
    alpha = levels.accept if leaning else levels.refuse
    if measure.scale == "rate" and 0 <= estimate.value <= 1:
        return settling_units(
            estimate.value,
            condition.value,
            effect=design_effect(estimate),
            units=estimate.denominator,
            alpha=alpha,
        )
    side: Side = "high" if leaning == (condition.kind == "at_most") else "low"
    bound = one_sided(measure, estimate, side, alpha=alpha, count_missing=False)
    if abs(bound) == float("inf") or bound == estimate.value:
        return None
    return units_to_settle(estimate.value, condition.value, bound=bound, units=estimate.denominator, is_rate=False)


def _why(  # noqa: PLR0913, PLR0917  # what a sentence is made of
    condition: Condition,
    measure: MeasureRecord,
    estimate: EstimateRecord,
    verdict: LimitVerdict,
    bound: float,
    needed: int | None,
    unanswered: int,
) -> str:
    seen = f"{numbers.measured_value(measure, estimate)} against {numbers.limit(condition.kind, condition.value)}"
    if verdict == "PASS":
        side = "at most" if condition.kind == "at_most" else "at least"
        return f"{seen}: it is {side} {numbers.scaled(bound, measure.scale)}"
    if verdict == "FAIL":
        side = "at least" if condition.kind == "at_most" else "at most"
        return f"{seen}: it is {side} {numbers.scaled(bound, measure.scale)}"
    side = "as high as" if condition.kind == "at_most" else "as low as"
    shown = (
        f"it may be {side} {numbers.scaled(bound, measure.scale)}" if abs(bound) < float("inf") else "it has no bound"
    )
    if unanswered:
        lost = f"{numbers.count(unanswered)} {numbers.units(estimate.unit, unanswered)}"
        return f"{seen}: {shown}, since {lost} without an answer count against it"
    if needed is None:
        return f"{seen}: {shown}, and at this value more of the same would not settle it"
    way = "a pass" if _inside(estimate.value, condition) else "a fail"
    total = f"about {numbers.about(needed)} {numbers.units(estimate.unit, needed)} in all"
    return f"{seen}: {shown}; if this is its true value, {total} would most likely settle it as {way}"


def _state(limit: Limit, verdict: LimitVerdict, cures: Sequence[CureRecord], way: str) -> LimitState:
    if verdict == "PASS":
        return "met"
    if verdict == "N/A":
        return "made up for" if limit.unmeasured and way == limit.unmeasured else "open"
    if any(cure.works for cure in cures):
        return "made up for"
    hopeless = all(any(need.verdict == "FAIL" for need in cure.needs) for cure in cures)
    return "broken" if verdict == "FAIL" and limit.refuses and hopeless else "open"
