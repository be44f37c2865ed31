"""Checks measures against thresholds: the only place where a number becomes PASS, FAIL or INCONCLUSIVE.

There are two rules. By *interval*, a check passes only if the whole interval meets the threshold, and fails only if the
whole interval misses it. By *bound*, an exact bound on one side has to meet the threshold, with an error that the
policy sets. Either way, a missing answer counts the worst way: a judge may give no verdict where its verdict would have
changed, so an excluded answer must not help it to pass.

The state of a check in the decision is the same by both rules. It is

- *met*, if it passes;
- *made up for*, if it fails or is INCONCLUSIVE, at most a tenth of it has no answer, and everything that one of its
  ways of use needs passes; or if the design does not measure it and the policy says how to use such a judge;
- *broken*, if it fails, it speaks against the judge, and something that each of its ways of use needs fails too;
- *open*, otherwise. Undefined is open: it never counts as a pass, and nothing makes up for it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite, sqrt
from typing import Any, Literal

from scipy.special import stdtrit

from umpirical.domain.measures import Estimate
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import MEASURES
from umpirical.reports import numbers
from umpirical.reports.anytime import bound_at_any_look, units_at_any_look
from umpirical.reports.forecast import settling_units, units_to_settle
from umpirical.reports.parts import check_parts
from umpirical.reports.policy import EACH_PART, Check, Condition, Policy
from umpirical.reports.record import (
    CheckRecord,
    CheckState,
    CheckVerdict,
    ConditionRecord,
    CureRecord,
    GroupedMeasure,
    MeasureRecord,
)
from umpirical.stats.intervals import LEAST_EFFECT, exact_high, few_clusters, student

RARE = 0.02
"""Share of calls that may give no verdict, unless a policy says otherwise."""

NO_VERDICT = ("unparsed-rate", "failure-rate")
"""Measures of answers that are no verdict. What is left out of them is exactly what they count."""

MOST_MISSING = 0.10
"""Nothing makes up for a check if more than this share of its units has no answer: whatever is amiss may hide there."""

# The checks of a policy

Rule = Callable[[Condition, MeasureRecord, Estimate], Mapping[str, Any]]
"""Holds an estimate against a condition; returns the verdict, and the other fields of the condition's record."""


@dataclass(frozen=True, slots=True)
class Levels:
    """How often a verdict by bounds may err."""

    accept: float
    refuse: float

    def over(self, looks: int) -> "Levels":
        """Returns the levels of one look of so many, for a measure whose bound does not hold at all of them."""
        return Levels(self.accept / looks, self.refuse / looks)


def hold_checks(
    policy: Policy,
    kind: JudgeKind,
    measures: Sequence[MeasureRecord],
    variants: Iterable[str],
    *,
    grades: int | None = None,
    looks: int = 0,
) -> list[CheckRecord]:
    """Returns every check of a policy for every variant, by bounds, in the order of the policy. Not measured is N/A.

    Measures with a group are about a part of the test cases. `looks` is at how many points a run may stop, if it may.
    """
    parts = [measure for measure in measures if isinstance(measure, GroupedMeasure)]
    found = {(one.variant, one.name, one.stratum): one for one in measures if not isinstance(one, GroupedMeasure)}
    titles = {measure.name: measure.title for measure in measures}
    checks = policy.checks(kind, grades=grades)
    refuse = policy.refusing_level(checks)

    def title(name: str) -> str:
        known = MEASURES.get(name).title if name in MEASURES.names() else name.replace("-", " ").capitalize()
        return titles.get(name, known)

    return [
        _Holding(
            variant,
            found,
            title,
            partial(_by_bound, Levels(policy.accepting_level(check, checks), refuse), looks),
            partial(
                _by_part,
                [one for one in parts if (one.variant, one.name) == (variant, check.measure)],
                refuse / max(1, looks),
            ),
        ).check(check)
        for variant in variants
        for check in checks
    ]


def hold_intervals(checks: Iterable[Check], measures: Sequence[MeasureRecord]) -> list[CheckRecord]:
    """Returns checks on the judge's own prompt over all of the data, by intervals, in their order."""
    whole = [one for one in measures if one.variant == BASELINE and not getattr(one, "group", "")]
    found = {(one.variant, one.name, one.stratum): one for one in whole}
    titles = {one.name: one.title for one in whole}
    holding = _Holding(BASELINE, found, lambda name: titles.get(name, name), _by_interval)
    return [holding.check(check) for check in checks]


@dataclass(frozen=True, slots=True)
class _Holding:
    """What one check and its cures are held against, and by what rule."""

    variant: str
    found: Mapping[tuple[str, str, str], MeasureRecord]
    title: Callable[[str], str]
    rule: Rule
    in_parts: Callable[[Condition], Mapping[str, Any]] = lambda _: {"verdict": "N/A", "why": "not measured"}

    def check(self, check: Check) -> CheckRecord:
        own = self.condition(check)
        hidden = _missing_share(self.found.get((self.variant, *check.key))) > MOST_MISSING
        cures = [self._cure(cure.way, cure.needs, hidden=hidden) for cure in check.cures]
        absent = (self.variant, *check.key) not in self.found and check.unmeasured
        way = check.unmeasured if absent else next((cure.way for cure in cures if cure.works), "")
        state = _state(check, own.verdict, cures, way)
        return CheckRecord(
            **dict(own),
            variant=self.variant,
            essential=check.essential,
            refuses=check.refuses,
            state=state,
            cures=cures,
            way=way if state == "made up for" else "",
            good_for=check.good_for,
            not_for=check.not_for,
        )

    def condition(self, condition: Condition) -> ConditionRecord:
        measure = self.found.get((self.variant, *condition.key))
        held: Mapping[str, Any]
        if condition.at == EACH_PART:
            held = self.in_parts(condition)
        elif measure is None:
            held = {"verdict": "N/A", "why": "not measured"}
        elif not isinstance(measure.result, Estimate):
            held = {"verdict": "N/A", "why": measure.result.reason}
        else:
            held = self.rule(condition, measure, measure.result)
        return ConditionRecord(
            measure=condition.measure,
            title=self.title(condition.measure),
            stratum=condition.at,
            kind=condition.kind,
            value=condition.value,
            **held,
        )

    def _cure(self, way: str, needs: Sequence[Condition], *, hidden: bool) -> CureRecord:
        """`hidden`: too much of what is to be made up for was never seen."""
        held = [self.condition(need) for need in needs]
        return CureRecord(way=way, needs=held, works=not hidden and all(need.verdict == "PASS" for need in held))


def _missing_share(measure: MeasureRecord | None) -> float:
    if measure is None or not isinstance(measure.result, Estimate):
        return 0.0
    missing = sum(measure.result.excluded.values())
    return missing / (missing + measure.result.denominator)


def _state(check: Check, verdict: CheckVerdict, cures: Sequence[CureRecord], way: str) -> CheckState:
    if verdict == "PASS":
        return "met"
    if verdict == "N/A":
        return "made up for" if check.unmeasured and way == check.unmeasured else "open"
    if any(cure.works for cure in cures):
        return "made up for"
    hopeless = all(any(need.verdict == "FAIL" for need in cure.needs) for cure in cures)
    return "broken" if verdict == "FAIL" and check.refuses and hopeless else "open"


def settling(check: CheckRecord) -> list[ConditionRecord]:
    """Returns what has to be asked more of to settle an open check: itself, or what its nearest way of use needs."""
    if check.state != "open":
        return []
    ways = [[need for need in cure.needs if need.verdict != "PASS"] for cure in check.cures]
    # What has failed is not settled by more of itself.
    alone: list[list[ConditionRecord]] = [] if check.verdict == "FAIL" and ways else [[check]]
    return min([*alone, *ways], key=lambda way: max((_units(need) for need in way), default=float("inf")))


def _units(condition: ConditionRecord) -> float:
    return float("inf") if condition.more_needed is None else condition.more_needed


# By interval

Leaning = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class Held:
    """The result of holding an estimate against a check."""

    verdict: CheckVerdict
    leaning: Leaning
    """Which side of the threshold the value itself lies on."""
    needed: int | None = None
    """Total units that would settle an INCONCLUSIVE verdict at the same value; None if no number is enough."""
    unanswered: int = 0
    """Left-out units that prevent a PASS: counted in the worst way, they would undo it or put it out of reach."""


Forecast = Callable[[Estimate, float, float], int | None]
"""Returns the total units that would settle a check: from an estimate, the threshold, and the end on its side."""


def units_needed(measure: MeasureRecord) -> Forecast:
    """The default forecast."""
    return lambda estimate, wanted, end: units_to_settle(
        estimate.value, wanted, bound=end, units=estimate.denominator, is_rate=measure.scale == "rate"
    )


def hold(
    estimate: Estimate, least: float | None, most: float | None, *, forecast: Forecast, count_missing: bool
) -> Held:
    """Compares an estimate with what is allowed.

    With `count_missing`, what was left out of the estimate may not help to pass: a check passes only if it still
    would with all of it counted the worst way.
    """
    verdict, leaning = verdict_of(_ends(estimate), least, most), _leaning(estimate.value, least, most)
    unanswered = _unanswered(estimate, least, most, verdict, leaning) if count_missing else 0
    needed = None
    if verdict == "INCONCLUSIVE" and not unanswered:
        needed = _needed(estimate, least, most, forecast)
    return Held("INCONCLUSIVE" if unanswered else verdict, leaning, needed, unanswered)


def _by_interval(condition: Condition, measure: MeasureRecord, estimate: Estimate) -> Mapping[str, Any]:
    least, most = (condition.value, None) if condition.kind == "at_least" else (None, condition.value)
    counts = condition.measure not in NO_VERDICT
    held = hold(estimate, least, most, forecast=units_needed(measure), count_missing=counts)
    return {
        "verdict": held.verdict,
        "needed": held.needed,
        "more_needed": None if held.needed is None else held.needed - estimate.denominator,
        "unit": estimate.unit,
        "unanswered": held.unanswered,
        "why": f"{numbers.measured(measure, estimate)} (must be {_threshold(condition)}); {_words(held)}",
    }


def _words(held: Held) -> str:
    if held.unanswered:
        return "it would pass, but not if every missing verdict counted against it"
    return {
        "PASS": "the whole interval meets the threshold",
        "FAIL": "the whole interval misses the threshold",
        "INCONCLUSIVE": "the interval contains the threshold",
    }[held.verdict]


def verdict_of(ends: tuple[float, float], least: float | None, most: float | None) -> CheckVerdict:
    """Returns PASS if both ends are inside, FAIL if both are outside on one side."""
    low, high = ends
    least, most = -inf if least is None else least, inf if most is None else most
    if least <= low and high <= most:
        return "PASS"
    return "FAIL" if high < least or low > most else "INCONCLUSIVE"


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Returns the interval's ends; an open end, or a missing interval, contains everything."""
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    return -inf if low is None else low, inf if high is None else high


def _leaning(value: float, least: float | None, most: float | None) -> Leaning:
    return "fail" if (most is not None and value > most) or (least is not None and value < least) else "pass"


def _unanswered(
    estimate: Estimate, least: float | None, most: float | None, verdict: CheckVerdict, leaning: Leaning
) -> int:
    if not estimate.excluded or verdict == "FAIL" or leaning == "fail":
        return 0
    robust = worst_ends(estimate) if verdict == "PASS" else estimate.bounds or (-inf, inf)
    return 0 if verdict_of(robust, least, most) == "PASS" else sum(estimate.excluded.values())


def _needed(estimate: Estimate, least: float | None, most: float | None, forecast: Forecast) -> int | None:
    """Returns the total units that settle it if the value stays: beyond one threshold, or within both."""
    low, high = _ends(estimate)

    def settle(wanted: float, end: float) -> int | None:
        return forecast(estimate, wanted, end) if isfinite(end) and isfinite(estimate.value) else None

    if most is not None and estimate.value > most:
        return settle(most, low)
    if least is not None and estimate.value < least:
        return settle(least, high)
    waiting = [settle(most, high)] if most is not None and high > most else []
    waiting += [settle(least, low)] if least is not None and low < least else []
    known = [number for number in waiting if number is not None]
    return max(known) if known and len(known) == len(waiting) else None


def worst_ends(estimate: Estimate) -> tuple[float, float]:
    """Returns the interval's ends, each with all left-out units counted towards it; open if they have no bounds.

    The k units left out all count alike, and the n others vary as they do. The variance of all is that of the two
    parts and of their difference: with h the distance from the value to its bound, d the distance from the value to
    what is counted, and t Student's, the new distance is sqrt(n² h² + t² d² n k / (n + k)) / (n + k).
    """
    if estimate.interval is None or estimate.interval.low is None or estimate.interval.high is None:
        return -inf, inf
    low, high = estimate.interval.low, estimate.interval.high
    if not estimate.excluded:
        return low, high
    if estimate.bounds is None:
        return -inf, inf
    n, k = estimate.denominator, sum(estimate.excluded.values())
    t = student(estimate.clusters, estimate.interval.level)

    def distance(bound: float, end: float) -> float:
        counted = (bound - estimate.value) * (n + k) / k
        return sqrt((n * (end - estimate.value)) ** 2 + (t * counted) ** 2 * n * k / (n + k)) / (n + k)

    least, most = estimate.bounds
    return least - distance(least, low), most + distance(most, high)


def excluded_words(estimate: Estimate) -> str:
    """Says how many, by reason: `60 items without a verdict on the changed text and 2 items without one ...`."""
    return " and ".join(
        f"{numbers.count(count)} {numbers.units(estimate.unit, count)} {reason}"
        for reason, count in estimate.excluded.items()
    )


# By bound
#
# A two-sided interval says where the truth may lie. A decision asks one question, on one side: may this still be beyond
# the threshold? An error of 5% on one side is a 90% interval. The bound of a rate is exact (Clopper and Pearson),
# on as many units as the design effect leaves.

Side = Literal["low", "high"]

FEW_EVENTS = 5
"""Hits or misses below which an estimated design effect says little: one event is in one task family whatever the
correlation."""


def one_sided(
    measure: MeasureRecord,
    estimate: Estimate,
    side: Side,
    *,
    alpha: float,
    count_missing: bool,
) -> float:
    """Returns the bound on one side, which the true value is beyond with an error of at most `alpha`.

    With `count_missing`, each left-out unit counts towards `side`. The bound is never closer than that of fewer events:
    than that of none, of just under five with the assumed design effect, and of the parts that the estimate names.
    One more error never gives a judge a better bound.
    """
    if estimate.per_task and (measure.scale == "rate" or side == "high"):
        missing = sum(estimate.excluded.values()) if count_missing else 0
        return bound_at_any_look(estimate, side, alpha=alpha, missing=missing)
    if measure.scale != "rate" or estimate.planning_effect is None:
        return _rescaled(estimate, side, alpha=alpha, count_missing=count_missing, width=_width(measure))
    missing = sum(estimate.excluded.values()) if count_missing else 0
    events = estimate.numerator if side == "high" else estimate.denominator - estimate.numerator
    assumed, units = max(1.0, estimate.planning_effect), estimate.denominator + missing
    known = 1.0 if estimate.design_effect is None else few_clusters(estimate.clusters, alpha)

    def high(part: float, effect: float) -> float:
        effective = units / effect * (known if part else 1.0)
        return exact_high((part + missing) / units * effective, effective, alpha)

    parts = [(0.0, assumed * (estimate.joint or 1.0)), (min(events, FEW_EVENTS), assumed)]
    parts += estimate.heavy_hits if side == "high" else estimate.heavy_misses
    parts += [(events, design_effect(estimate))] if events else []
    bound = max(high(*part) for part in parts)
    return bound if side == "high" else 1 - bound


def effective_units(estimate: Estimate, units: float, *, alpha: float) -> float:
    """Returns the independent units that so many units are worth, few clusters allowed for."""
    effective = units / design_effect(estimate)
    return effective if estimate.design_effect is None else effective * few_clusters(estimate.clusters, alpha)


def design_effect(estimate: Estimate) -> float:
    """Returns the design effect that a decision rests on: the estimated one, or with few events at least the assumed.

    At 0 and 1 nothing is estimated, and what is assumed about the correlation within a task family stands in. For all
    calls of a family it is never less than the assumed: few families have all the events, and a run may miss these.
    """
    assumed = max(1.0, estimate.planning_effect or 1.0)
    if estimate.design_effect is None:
        return assumed * (estimate.joint or 1.0)
    few = min(estimate.numerator, estimate.denominator - estimate.numerator) < FEW_EVENTS or estimate.unit == "call"
    return max(estimate.design_effect, assumed if few else LEAST_EFFECT)


def _width(measure: MeasureRecord) -> float:
    """Returns how far one left-out unit can move what is averaged; without an end for a scale that has none."""
    return 1.0 if measure.scale in {"difference", "rate"} else inf


def _rescaled(estimate: Estimate, side: Side, *, alpha: float, count_missing: bool, width: float) -> float:
    """Returns the end of the interval at another level, its distance in proportion to Student's quantiles."""
    ends = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    end = ends[side == "high"]
    if end is None or estimate.interval is None:
        return inf if side == "high" else -inf
    degrees = max(1, estimate.clusters - 1)
    ratio = float(stdtrit(degrees, 1 - alpha) / stdtrit(degrees, 0.5 + estimate.interval.level / 2))
    missing = sum(estimate.excluded.values()) if count_missing else 0
    shift = width * missing / estimate.denominator if missing else 0.0
    return estimate.value + (end - estimate.value) * ratio + (shift if side == "high" else -shift)


def _by_bound(
    levels: Levels, looks: int, condition: Condition, measure: MeasureRecord, estimate: Estimate
) -> Mapping[str, Any]:
    if looks and not (estimate.per_task and measure.scale == "rate"):
        each = levels.over(looks)
        levels = each if not estimate.per_task else Levels(levels.accept, each.refuse)
    inner: Side = "high" if condition.kind == "at_most" else "low"
    outer: Side = "low" if condition.kind == "at_most" else "high"
    worst = one_sided(measure, estimate, inner, alpha=levels.accept, count_missing=True)
    seen = one_sided(measure, estimate, inner, alpha=levels.accept, count_missing=False)
    other = one_sided(measure, estimate, outer, alpha=levels.refuse, count_missing=False)
    verdict: CheckVerdict = (
        "PASS" if meets(worst, condition) else "FAIL" if _outside(other, condition) else "INCONCLUSIVE"
    )
    unanswered = sum(estimate.excluded.values()) if verdict == "INCONCLUSIVE" and meets(seen, condition) else 0
    needed = None
    if verdict == "INCONCLUSIVE" and not unanswered:
        needed = _bound_needed(condition, measure, estimate, levels)
    bound, level = (other, levels.refuse) if verdict == "FAIL" else (worst, levels.accept)
    held = {
        "verdict": verdict,
        "bound": bound if abs(bound) < inf else None,
        "level": level,
        "needed": needed,
        "more_needed": None if needed is None else needed - estimate.denominator,
        "unit": estimate.unit,
        "unanswered": unanswered,
    }
    return {**held, "why": _why(condition, measure, estimate, held)}


def _by_part(parts: Sequence[GroupedMeasure], refuse: float, condition: Condition) -> Mapping[str, Any]:
    """Each part may fail by chance, so all of them share the error."""
    alpha = refuse / max(1, len(parts))
    bound = partial(one_sided, side="low", alpha=alpha, count_missing=False)
    return {**check_parts(condition, parts, bound), "level": alpha}


def meets(value: float, condition: Condition | ConditionRecord) -> bool:
    """Whether a value, or a bound of it, is on the right side of a threshold."""
    return value <= condition.value if condition.kind == "at_most" else value >= condition.value


def _outside(bound: float, condition: Condition) -> bool:
    return bound > condition.value if condition.kind == "at_most" else bound < condition.value


def _bound_needed(condition: Condition, measure: MeasureRecord, estimate: Estimate, levels: Levels) -> int | None:
    leaning = meets(estimate.value, condition)
    alpha = levels.accept if leaning else levels.refuse
    if estimate.per_task:
        below = leaning == (condition.kind == "at_most")
        return units_at_any_look(estimate, condition.value, "below" if below else "above", alpha=alpha)
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


def _why(condition: Condition, measure: MeasureRecord, estimate: Estimate, held: Mapping[str, Any]) -> str:
    verdict, bound, needed, unanswered = (held[name] for name in ("verdict", "bound", "needed", "unanswered"))
    seen = f"{numbers.measured_value(measure, estimate)} (must be {_threshold(condition)})"
    shown = "" if bound is None else numbers.beside(bound, condition.value, measure.scale)
    if verdict == "PASS":
        side = "at most" if condition.kind == "at_most" else "at least"
        return f"{seen}; it is {side} {shown}"
    if verdict == "FAIL":
        side = "at least" if condition.kind == "at_most" else "at most"
        return f"{seen}; it is {side} {shown}"
    side = "as high as" if condition.kind == "at_most" else "as low as"
    seen += f"; it may be {side} {shown}" if shown else "; it has no bound"
    if unanswered:
        lost = f"{numbers.count(unanswered)} {numbers.units(estimate.unit, unanswered)}"
        return f"{seen}, because {lost} without an answer count against it"
    if needed is None:
        return f"{seen}. If the measured value is right, more data would not decide it"
    way = "pass" if meets(estimate.value, condition) else "fail"
    total = f"about {numbers.about(needed)} {numbers.units(estimate.unit, needed)} in total"
    return f"{seen}. If the measured value is right, {total} would most likely make it {way}"


def _threshold(condition: Condition) -> str:
    return numbers.threshold(condition.kind, condition.value, condition.measure)
