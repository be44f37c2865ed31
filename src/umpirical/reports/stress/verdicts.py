"""What each test says of the judge: PASS, FAIL, INCONCLUSIVE with the number of items that would settle it, or N/A."""

from collections.abc import Sequence
from math import inf, isfinite

from umpirical.reports.numbers import about, units
from umpirical.reports.record import EstimateRecord
from umpirical.reports.record_verdicts import LimitVerdict
from umpirical.reports.settling import items_to_settle, units_to_settle
from umpirical.reports.stress.left_out import left_out_words, worst_ends
from umpirical.reports.stress.making import why_not_made
from umpirical.reports.stress.policy import NO_LIMIT, Allowed, allowed, limit_words
from umpirical.reports.stress.record import CellVerdict, Leaning, PartVerdict, ScaleRecord, StressMeasure, StressTest
from umpirical.reports.stress.significance import p_value
from umpirical.reports.stress.writing import interval_words, value_words

__all__ = ["judge_test"]


def judge_test(
    test: StressTest, measures: Sequence[StressMeasure], *, margin: float, scale: ScaleRecord
) -> CellVerdict:
    """The verdict of one test. `measures` are those of this test over all items."""
    limits = allowed(test.kind, margin=margin, scale=scale)
    if missing := why_not_made(test):
        return CellVerdict(test=test.name, verdict="N/A", why=missing)
    if not limits:
        return CellVerdict(test=test.name, verdict="N/A", why=NO_LIMIT)
    found = {measure.name: measure for measure in measures}
    return _cell(test.name, [_part(one, found) for one in limits])


def _cell(test: str, parts: Sequence[PartVerdict]) -> CellVerdict:
    verdicts = [part.verdict for part in parts]
    order: tuple[LimitVerdict, ...] = ("FAIL", "N/A", "INCONCLUSIVE", "PASS")
    verdict = next(one for one in order if one in verdicts)
    settling = _settling(parts) if verdict == "INCONCLUSIVE" else None
    surprising = [part.p_value for part in parts if part.p_value is not None]
    return CellVerdict(
        test=test,
        verdict=verdict,
        why="; ".join(part.why for part in parts),
        parts=list(parts),
        needed=settling.needed if settling else None,
        more_needed=settling.more_needed if settling else None,
        leaning=settling.leaning if settling else None,
        unit=settling.unit if settling else None,
        unanswered=0 if settling or verdict != "INCONCLUSIVE" else max(part.unanswered for part in parts),
        p_value=min(1.0, len(surprising) * min(surprising)) if surprising else None,
    )


def _settling(parts: Sequence[PartVerdict]) -> PartVerdict | None:
    """The part that decides how many more are needed: the greediest, or the first to fail; None if none is enough.

    A test passes when all parts do, so the pass waits for the greediest. If a part heads for a FAIL, that one decides.
    """
    undecided = [part for part in parts if part.verdict == "INCONCLUSIVE"]
    failing = [part for part in undecided if part.leaning == "fail" and part.more_needed is not None]
    if failing:
        return min(failing, key=_more)
    if any(part.more_needed is None for part in undecided):
        return None
    return max(undecided, key=_more)


def _more(part: PartVerdict) -> int:
    return part.more_needed or 0


def _part(held: Allowed, found: dict[str, StressMeasure]) -> PartVerdict:
    measure, aside = _measure(held, found)
    known = {"least": held.least, "most": held.most}
    if measure is None:
        name = held.limit.measure
        return PartVerdict(measure=name, title=name, **known, verdict="N/A", why=f"{name} was not measured")
    named = {"measure": measure.name, "title": measure.title}
    estimate = measure.result
    if not isinstance(estimate, EstimateRecord):
        return PartVerdict(**named, **known, verdict="N/A", why=f"{measure.title}: {estimate.reason}")
    verdict = _verdict(_ends(estimate), held)
    unanswered = _unanswered(estimate, held, verdict)
    needed = _needed(measure, estimate, held) if verdict == "INCONCLUSIVE" and not unanswered else None
    why = _why_unanswered(measure, estimate, held) if unanswered else _why(measure, estimate, held, verdict, needed)
    return PartVerdict(
        **named,
        **known,
        verdict="INCONCLUSIVE" if unanswered else verdict,
        why=why + aside,
        unanswered=unanswered,
        needed=needed,
        more_needed=None if needed is None else needed - estimate.denominator,
        leaning=None if needed is None else _leaning(estimate, held),
        unit=estimate.unit,
        p_value=p_value(estimate, least=held.least, most=held.most, is_rate=measure.scale == "rate"),
    )


def _measure(held: Allowed, found: dict[str, StressMeasure]) -> tuple[StressMeasure | None, str]:
    """The measure that is held to the limit, and what is to be said if it is not the one that was meant."""
    meant = found.get(held.limit.measure)
    if not held.limit.instead or (meant is not None and isinstance(meant.result, EstimateRecord)):
        return meant, ""
    instead = found.get(held.limit.instead)
    if instead is None or not isinstance(instead.result, EstimateRecord):
        return instead or meant, ""
    reason = "not measured" if meant is None or isinstance(meant.result, EstimateRecord) else meant.result.reason
    return instead, f" (its own noise is not taken off: {reason})"


def _verdict(ends: tuple[float, float], held: Allowed) -> LimitVerdict:
    low, high = ends
    least = -inf if held.least is None else held.least
    most = inf if held.most is None else held.most
    if least <= low and high <= most:
        return "PASS"
    return "FAIL" if high < least or low > most else "INCONCLUSIVE"


def _unanswered(estimate: EstimateRecord, held: Allowed, verdict: LimitVerdict) -> int:
    """Units left out that forbid a PASS: counted the worst way, they would take it away, or out of reach."""
    if not estimate.left_out or verdict == "FAIL" or _leaning(estimate, held) == "fail":
        return 0
    robust = worst_ends(estimate) if verdict == "PASS" else estimate.bounds or (-inf, inf)
    return 0 if _verdict(robust, held) == "PASS" else sum(estimate.left_out.values())


def _leaning(estimate: EstimateRecord, held: Allowed) -> Leaning:
    """Which side of the limit the value itself lies on."""
    above = held.most is not None and estimate.value > held.most
    below = held.least is not None and estimate.value < held.least
    return "fail" if above or below else "pass"


def _ends(estimate: EstimateRecord) -> tuple[float, float]:
    """The interval's; an open end holds everything, and so does no interval."""
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    return -inf if low is None else low, inf if high is None else high


def _needed(measure: StressMeasure, estimate: EstimateRecord, held: Allowed) -> int | None:
    """Units in all that settle the part if the value stays what it is; None if no number of them is enough."""
    low, high = _ends(estimate)
    value, now = estimate.value, estimate.denominator

    def settle(limit: float, bound: float) -> int | None:
        if not isfinite(bound):
            return None
        if measure.scale == "rate":
            return units_to_settle(value, limit, bound=bound, units=now, is_rate=True)
        return items_to_settle(estimate, limit)

    if held.most is not None and value > held.most:
        return settle(held.most, low)
    if held.least is not None and value < held.least:
        return settle(held.least, high)
    waiting = [settle(held.most, high)] if held.most is not None and high > held.most else []
    waiting += [settle(held.least, low)] if held.least is not None and low < held.least else []
    return None if None in waiting else max(number for number in waiting if number is not None)


def _why_unanswered(measure: StressMeasure, estimate: EstimateRecord, held: Allowed) -> str:
    words = f"{_seen(measure, estimate)} against {limit_words(held)}, but this leaves out {left_out_words(estimate)}"
    if estimate.bounds is None:
        return f"{words}: how far they would move it is not known"
    least, most = estimate.bounds
    above = held.most is not None and worst_ends(estimate)[1] > held.most
    worst = value_words(measure, estimate.model_copy(update={"value": most if above else least}))
    return f"{words}: with all of them counted the worst way it is {worst}, so verdicts on them are needed for a pass"


def _seen(measure: StressMeasure, estimate: EstimateRecord) -> str:
    return f"{measure.title} {value_words(measure, estimate)} {interval_words(measure, estimate.interval)}"


def _why(
    measure: StressMeasure, estimate: EstimateRecord, held: Allowed, verdict: LimitVerdict, needed: int | None
) -> str:
    words = f"{_seen(measure, estimate)} against {limit_words(held)}"
    if verdict != "INCONCLUSIVE":
        return f"{words}: the whole interval is {'inside' if verdict == 'PASS' else 'outside'}"
    if needed is None:
        return f"{words}: the interval holds the limit, and more of the same would not settle it"
    settled = f"about {about(needed)} {units(estimate.unit, needed)} would settle it as a {_leaning(estimate, held)}"
    return f"{words}: if it stays so, {settled}"
