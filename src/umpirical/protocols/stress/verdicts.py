"""The verdict of each test: PASS, FAIL, INCONCLUSIVE with the number of items that would settle it, or N/A."""

from collections.abc import Iterator, Sequence

from umpirical.protocols.stress.policy import (
    NO_LIMIT,
    SHELF,
    Allowed,
    ScaleRecord,
    StressPolicy,
    allowed,
    allowed_words,
    interval_words,
    limit_words,
    value_words,
)
from umpirical.protocols.stress.record import (
    CellVerdict,
    MadeRecord,
    PartVerdict,
    StressMeasure,
    StressReport,
    StressTest,
)
from umpirical.reports import numbers
from umpirical.reports.forecast import items_to_settle
from umpirical.reports.gate import Effect, HeldLimit
from umpirical.reports.limits import (
    Forecast,
    Held,
    hold,
    hold_intervals,
    left_out_words,
    units_needed,
    worst_ends,
)
from umpirical.reports.record import EstimateRecord, LimitRecord, LimitVerdict, SmallestDifference
from umpirical.reports.significance import p_value
from umpirical.reports.smallest_differences import Standard, smallest_difference


def judge_test(
    test: StressTest,
    measures: Sequence[StressMeasure],
    *,
    margin: float,
    scale: ScaleRecord,
    policy: StressPolicy | None = None,
) -> CellVerdict:
    """Returns the verdict of one test. `measures` are those of this test over all items."""
    limits = allowed(test.kind, margin=margin, scale=scale, policy=policy)
    if missing := why_not_made(test):
        return CellVerdict(test=test.name, verdict="N/A", why=missing)
    if not limits:
        return CellVerdict(test=test.name, verdict="N/A", why=NO_LIMIT)
    found = {measure.name: measure for measure in measures}
    return _cell(test.name, [_part(one, found) for one in limits])


def judge_answers(measures: Sequence[StressMeasure], policy: StressPolicy | None = None) -> list[LimitRecord]:
    """Returns the limits on answers that are no verdict: unreadable ones, and failed calls."""
    return hold_intervals((policy or SHELF.preset()).answers, measures)


def tests_held(record: StressReport) -> list[HeldLimit]:
    """Returns what every limit of every test does to a gate: one that fails refuses, and one that is open leaves open.

    A test without a limit is left out. One that this judge cannot be asked is noted: nothing was wanted of it. Every
    other test that was not measured leaves the gate open.
    """
    found = []
    for test, cell in zip(record.tests, record.verdicts, strict=True):
        if cell.parts:
            found += [_held_part(test, part) for part in cell.parts]
        elif allowed(test.kind, margin=record.margin, scale=record.scale, policy=record.own_policy):
            found.append(
                HeldLimit(
                    measure="",
                    stratum=test.name,
                    title=test.title,
                    allowed="",
                    verdict=cell.verdict,
                    effect="open" if test.made.wanted else "noted",
                    worse=None,
                    why=cell.why,
                )
            )
    return found


def smallest_of_tests(cells: Sequence[CellVerdict], measures: Sequence[StressMeasure]) -> Iterator[SmallestDifference]:
    """Yields what could have been seen of every limit of every test."""
    found = {(measure.stratum, measure.name): measure for measure in measures}
    for cell in cells:
        for part in cell.parts:
            measure = found.get((cell.test, part.measure))
            if measure is not None and part.least is not None:
                yield smallest_difference(measure, Standard("at_least", part.least))
            if measure is not None and part.most is not None:
                yield smallest_difference(measure, Standard("at_most", part.most))


def _held_part(test: StressTest, part: PartVerdict) -> HeldLimit:
    effects: dict[LimitVerdict, Effect] = {"PASS": "pass", "FAIL": "fail"}
    one_sided = (part.least is None) != (part.most is None)
    return HeldLimit(
        measure=part.measure,
        stratum=test.name,
        title=f"{test.title}: {part.title[:1].lower()}{part.title[1:]}",
        allowed=allowed_words(part.least, part.most),
        verdict=part.verdict,
        effect=effects.get(part.verdict, "open"),
        worse=None if not one_sided else "higher" if part.least is None else "lower",
        why=part.why,
        more_needed=part.more_needed,
        unit=part.unit,
    )


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
    """Returns the part that decides how many more items are needed; None if no number is enough.

    A test passes when all its parts do, so a pass waits for the part that needs most. If a part is heading for a FAIL,
    that part decides.
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


def _part(allowed_here: Allowed, found: dict[str, StressMeasure]) -> PartVerdict:
    measure, aside = _measure(allowed_here, found)
    least, most = allowed_here.least, allowed_here.most
    if measure is None:
        name = allowed_here.limit.measure
        why = f"{name} was not measured"
        return PartVerdict(measure=name, title=name, least=least, most=most, verdict="N/A", why=why)
    estimate = measure.result
    if not isinstance(estimate, EstimateRecord):
        why = f"{measure.title}: {estimate.reason}"
        return PartVerdict(measure=measure.name, title=measure.title, least=least, most=most, verdict="N/A", why=why)
    held = hold(estimate, least, most, forecast=_forecast(measure), count_missing=True)
    return PartVerdict(
        measure=measure.name,
        title=measure.title,
        least=least,
        most=most,
        verdict=held.verdict,
        why=_why(measure, estimate, allowed_here, held) + aside,
        unanswered=held.unanswered,
        needed=held.needed,
        more_needed=None if held.needed is None else held.needed - estimate.denominator,
        leaning=None if held.needed is None else held.leaning,
        unit=estimate.unit,
        p_value=p_value(estimate, least=least, most=most, is_rate=measure.scale == "rate"),
    )


def _forecast(measure: StressMeasure) -> Forecast:
    """Forecasts a measure: differences and shifts go both ways, and their intervals narrow faster if nothing moves."""
    if measure.scale == "rate":
        return units_needed(measure)
    return lambda estimate, wanted, _: items_to_settle(estimate, wanted)


def _measure(held: Allowed, found: dict[str, StressMeasure]) -> tuple[StressMeasure | None, str]:
    """Returns the measure that is held to the limit, and a remark if it replaces another measure."""
    meant = found.get(held.limit.measure)
    if not held.limit.instead or (meant is not None and isinstance(meant.result, EstimateRecord)):
        return meant, ""
    instead = found.get(held.limit.instead)
    if instead is None or not isinstance(instead.result, EstimateRecord):
        return instead or meant, ""
    reason = "not measured" if meant is None or isinstance(meant.result, EstimateRecord) else meant.result.reason
    return instead, f" (its own noise is not taken off: {reason})"


def _why(measure: StressMeasure, estimate: EstimateRecord, limits: Allowed, held: Held) -> str:
    seen = f"{measure.title} {value_words(measure, estimate)} {interval_words(measure, estimate.interval)}"
    words = f"{seen} against {limit_words(limits)}"
    if held.unanswered:
        return f"{words}, {_why_unanswered(measure, estimate, limits)}"
    if held.verdict != "INCONCLUSIVE":
        return f"{words}: the whole interval is {'inside' if held.verdict == 'PASS' else 'outside'}"
    if held.needed is None:
        return f"{words}: the interval holds the limit, and more of the same would not settle it"
    needed = f"about {numbers.about(held.needed)} {numbers.units(estimate.unit, held.needed)}"
    return f"{words}: if it stays so, {needed} would settle it as a {held.leaning}"


def _why_unanswered(measure: StressMeasure, estimate: EstimateRecord, limits: Allowed) -> str:
    words = f"but this leaves out {left_out_words(estimate)}"
    if estimate.bounds is None:
        return f"{words}: how far they would move it is not known"
    least, most = estimate.bounds
    above = limits.most is not None and worst_ends(estimate)[1] > limits.most
    worst = value_words(measure, estimate.model_copy(update={"value": most if above else least}))
    return f"{words}: with all of them counted the worst way it is {worst}, so verdicts on them are needed for a pass"


def why_not_made(test: StressTest) -> str:
    """Says why a test has no text to judge; empty if it has one."""
    if test.kind == "original":
        return ""
    made = test.made
    if test.kind == "repeats":
        missing = {"seeds": "seed", "sampling": "temperature"}.get(test.name) if not made.wanted else None
        return f"not asked: a judge that is a function has no {missing} to set" if missing else ""
    kept = made.accepted - made.rejected_by_review - made.left_out
    if made.proved or kept > 0 or not made.wanted:
        return ""
    if made.accepted:
        return _taken_away(made)
    words = f"0 of {numbers.count(made.wanted)} {numbers.units('text', made.wanted)} were made"
    reasons = "; ".join(_reasons(made))
    return f"{words}: {reasons}" if reasons else f"{words}: none was tried"


def _taken_away(made: MadeRecord) -> str:
    """Says that people have let none of the texts through."""
    words = f"no text is left of {numbers.count(made.accepted)} that {'was' if made.accepted == 1 else 'were'} made"
    said = [f"{numbers.count(made.rejected_by_review)} rejected by people"] if made.rejected_by_review else []
    said += [f"{numbers.count(made.left_out)} left out until people settle them"] if made.left_out else []
    return f"{words}: {'; '.join(said)}"


def _reasons(made: MadeRecord) -> list[str]:
    said = []
    if rejected := sum(made.rejected.values()):
        commonest, times = max(made.rejected.items(), key=lambda reason: reason[1])
        were = "was" if rejected == 1 else "were"
        counted = f"{numbers.count(rejected)} {numbers.units('attempt', rejected)} {were} rejected"
        said.append(f"{counted}, most often ({numbers.count(times)}) because of: {commonest}")
    if made.unchanged:
        said.append(f"{numbers.count(made.unchanged)} had nothing to change")
    said += [f"{numbers.count(count)} not tried, {reason}" for reason, count in made.skipped.items()]
    return said
