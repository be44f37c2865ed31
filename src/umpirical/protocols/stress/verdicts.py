"""The verdict of each test (PASS, FAIL, INCONCLUSIVE or N/A), and what the tests show, in plain words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from umpirical.domain.measures import Estimate
from umpirical.domain.stimuli import ORIGINAL
from umpirical.domain.trials import BASELINE
from umpirical.protocols.stress.policy import (
    NO_CHECK,
    NO_LABELS,
    NO_MORE,
    NO_THRESHOLD,
    SHELF,
    Allowed,
    ScaleRecord,
    StressPolicy,
    TestKind,
    allowed,
    allowed_words,
    interval_words,
    unanswered_words,
    value_words,
)
from umpirical.protocols.stress.record import (
    CellVerdict,
    FindingKind,
    FindingRecord,
    MadeRecord,
    PartVerdict,
    StressMeasure,
    StressReport,
    StressTest,
)
from umpirical.reports import numbers
from umpirical.reports.checks import (
    RARE,
    Forecast,
    Held,
    Levels,
    excluded_words,
    hold,
    hold_intervals,
    units_needed,
    worst_ends,
)
from umpirical.reports.decision import VerdictRecord
from umpirical.reports.forecast import items_to_settle
from umpirical.reports.gate import Effect, HeldCheck, decide_by_effects, own_checks
from umpirical.reports.record import CheckRecord, CheckVerdict, SmallestDifference, why_unfinished
from umpirical.reports.significance import p_value, pass_p
from umpirical.reports.smallest_differences import Standard, smallest_difference

ROUNDING = 1e-9
"""An interval that ends at its threshold is inside."""


def judge_test(
    test: StressTest,
    measures: Sequence[StressMeasure],
    *,
    margin: float,
    scale: ScaleRecord,
    policy: StressPolicy | None = None,
) -> CellVerdict:
    """Returns the verdict of one test. `measures` are those of this test over all items."""
    checks = allowed(test.kind, margin=margin, scale=scale, policy=policy)
    if missing := why_not_made(test):
        return CellVerdict(test=test.name, verdict="N/A", why=missing)
    if is_unlabelled(test):
        return CellVerdict(test=test.name, verdict="N/A", why=NO_LABELS)
    if not checks:
        return CellVerdict(test=test.name, verdict="N/A", why=NO_THRESHOLD)
    found = {measure.name: measure for measure in measures}
    return _cell(test.name, [_part(one, found) for one in checks])


def judge_answers(measures: Sequence[StressMeasure], policy: StressPolicy | None = None) -> list[CheckRecord]:
    """Returns the checks on answers that are no verdict: unreadable ones, and failed calls."""
    return hold_intervals((policy or SHELF.preset()).answers, measures)


def decide_stress(record: StressReport) -> VerdictRecord:
    """Decides what to do with the judge: the only place where the verdict of a stress report comes from.

    Without labels, or without a check on agreement, it is never a plain "use": correctness was not measured.
    """
    policy = record.own_policy or SHELF.preset()
    unfinished = why_unfinished(complete=record.complete, audit=record.audit)
    checks = checks_held(record)
    unknown = [f"{check.why[:1].upper()}{check.why[1:]}." for check in checks if check.why in {NO_LABELS, NO_CHECK}]
    return decide_by_effects(policy.policy, checks, unfinished=unfinished, unknown=unknown)


def checks_held(record: StressReport) -> list[HeldCheck]:
    """Returns what every check does to the decision, with the errors of all of them together under control."""
    held = [*_tests_held(record), *own_checks(record.answered)]
    measured = {(one.stratum, one.name): one for one in record.measures if one.variant == BASELINE and not one.group}
    levels = (record.own_policy or SHELF.preset()).levels(sum(check.effect != "noted" for check in held))
    parts = {(cell.test, part.measure): (part.least, part.most) for cell in record.verdicts for part in cell.parts}
    parts |= {("", check.measure): (None, check.value) for check in record.answered}
    return [
        _controlled(
            check, measured.get((check.stratum, check.measure)), parts.get((check.stratum, check.measure)), levels
        )
        for check in held
    ]


def _controlled(
    check: HeldCheck, measure: StressMeasure | None, ends: tuple[float | None, float | None] | None, levels: Levels
) -> HeldCheck:
    """Leaves a check open that passes or fails by itself, but not surely enough for one of several checks or looks."""
    if measure is None or ends is None or check.effect not in {"pass", "fail"}:
        return check
    if not isinstance(measure.result, Estimate):
        return check
    test, level = (pass_p, levels.accept) if check.effect == "pass" else (p_value, levels.refuse)
    chance = test(measure.result, least=ends[0], most=ends[1], is_rate=measure.scale == "rate")
    if chance is None or chance <= level + ROUNDING:
        return check
    other = "with this many checks" if check.effect == "fail" else "at this follow-up"
    why = f"{check.why}, but {other} that could be chance: a decision requires {numbers.p_value(level)} or less"
    return check.model_copy(update={"effect": "open", "why": why})


def _tests_held(record: StressReport) -> list[HeldCheck]:
    """Returns what every check of every test does by itself: one that fails refuses, and one that is open leaves open.

    A test without a check is left out. One that this judge cannot be asked is noted: nothing was wanted of it. So is
    agreement where there are no labels. Every other test that was not measured leaves the decision open.
    """
    found = []
    for test, cell in zip(record.tests, record.verdicts, strict=True):
        if cell.parts:
            found += [_held_part(test, part) for part in cell.parts]
        elif test.kind == "original":
            found.append(_unmeasured(test, "Agreement with labels", cell.why if is_unlabelled(test) else NO_CHECK))
        elif allowed(test.kind, margin=record.margin, scale=record.scale, policy=record.own_policy):
            found.append(_unmeasured(test, test.title, cell.why, effect="open" if test.made.wanted else "noted"))
    return found


def smallest_of_tests(cells: Sequence[CellVerdict], measures: Sequence[StressMeasure]) -> Iterator[SmallestDifference]:
    """Yields what could have been seen of every check of every test."""
    found = {(measure.stratum, measure.name): measure for measure in measures}
    for cell in cells:
        for part in cell.parts:
            measure = found.get((cell.test, part.measure))
            if measure is not None and part.least is not None:
                yield smallest_difference(measure, Standard("at_least", part.least))
            if measure is not None and part.most is not None:
                yield smallest_difference(measure, Standard("at_most", part.most))


def _unmeasured(test: StressTest, title: str, why: str, *, effect: Effect = "noted") -> HeldCheck:
    """Returns a check that was held against nothing."""
    return HeldCheck(
        measure="", stratum=test.name, title=title, allowed="", verdict="N/A", effect=effect, worse=None, why=why
    )


def _held_part(test: StressTest, part: PartVerdict) -> HeldCheck:
    effects: dict[CheckVerdict, Effect] = {"PASS": "pass", "FAIL": "fail"}
    one_sided = (part.least is None) != (part.most is None)
    return HeldCheck(
        measure=part.measure,
        stratum=test.name,
        title=f"{test.title}: {part.title[:1].lower()}{part.title[1:]}",
        allowed=allowed_words(part.measure, part.least, part.most),
        verdict=part.verdict,
        effect=effects.get(part.verdict, "open"),
        worse=None if not one_sided else "higher" if part.least is None else "lower",
        why=part.why,
        more_needed=part.more_needed,
        unit=part.unit,
    )


def _cell(test: str, parts: Sequence[PartVerdict]) -> CellVerdict:
    verdicts = [part.verdict for part in parts]
    order: tuple[CheckVerdict, ...] = ("FAIL", "N/A", "INCONCLUSIVE", "PASS")
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
        name = allowed_here.check.measure
        why = f"{name} was not measured"
        return PartVerdict(measure=name, title=name, least=least, most=most, verdict="N/A", why=why)
    estimate = measure.result
    if not isinstance(estimate, Estimate):
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
    """Returns the measure that is held to the check, and a remark if it replaces another measure."""
    meant = found.get(held.check.measure)
    if not held.check.instead or (meant is not None and isinstance(meant.result, Estimate)):
        return meant, ""
    instead = found.get(held.check.instead)
    if instead is None or not isinstance(instead.result, Estimate):
        return instead or meant, ""
    reason = "not measured" if meant is None or isinstance(meant.result, Estimate) else meant.result.reason
    aside = "not adjusted for its own noise" if held.check.at == "same-verdict" else f"in place of {held.check.measure}"
    return instead, f" ({aside}: {reason})"


def _why(measure: StressMeasure, estimate: Estimate, limits: Allowed, held: Held) -> str:
    seen = f"{measure.title} {value_words(measure, estimate)} {interval_words(measure, estimate.interval)}"
    words = f"{seen} (must be {allowed_words(measure.name, limits.least, limits.most)})"
    if held.unanswered:
        return f"{words}, {_why_unanswered(measure, estimate, limits)}"
    if held.verdict != "INCONCLUSIVE":
        return f"{words}; the whole interval {'meets' if held.verdict == 'PASS' else 'misses'} the threshold"
    if held.needed is None:
        return f"{words}; the interval contains the threshold, and {NO_MORE}"
    needed = f"about {numbers.about(held.needed)} {numbers.units(estimate.unit, held.needed)}"
    return f"{words}; if the value stays the same, {needed} would confirm a {held.leaning}"


def _why_unanswered(measure: StressMeasure, estimate: Estimate, limits: Allowed) -> str:
    words = f"but this excludes {excluded_words(estimate)}"
    if estimate.bounds is None:
        return f"{words}: their effect is unknown"
    least, most = estimate.bounds
    above = limits.most is not None and worst_ends(estimate)[1] > limits.most
    worst = value_words(measure, replace(estimate, value=most if above else least))
    return f"{words}: if all of them counted against the judge, it would be {worst}, so it cannot pass without them"


def is_unlabelled(test: StressTest) -> bool:
    """Whether a test is about the user's own labels, and there are none."""
    return test.kind == "original" and not test.made.gold_from


def why_not_made(test: StressTest) -> str:
    """Says why a test has no text to judge; empty if it has one."""
    if test.kind == "original":
        return ""
    made = test.made
    if test.kind == "repeats":
        missing = {"seeds": "seed", "sampling": "temperature"}.get(test.name) if not made.wanted else None
        return f"not run: a function judge has no {missing} setting" if missing else ""
    kept = made.accepted - made.rejected_by_review - made.excluded
    if made.proved or kept > 0 or not made.wanted:
        return ""
    if made.accepted:
        return _taken_away(made)
    words = f"0 of {numbers.count(made.wanted)} {numbers.units('text', made.wanted)} were made"
    reasons = "; ".join(_reasons(made))
    return f"{words}: {reasons}" if reasons else f"{words}: no attempt was made"


def _taken_away(made: MadeRecord) -> str:
    """Says that people have let none of the texts through."""
    words = f"0 of {numbers.count(made.accepted)} generated {numbers.units('text', made.accepted)} remain"
    said = [f"{numbers.count(made.rejected_by_review)} rejected by reviewers"] if made.rejected_by_review else []
    said += [f"{numbers.count(made.excluded)} excluded until reviewers decide"] if made.excluded else []
    return f"{words}: {'; '.join(said)}"


def _reasons(made: MadeRecord) -> list[str]:
    said = []
    if rejected := sum(made.rejected.values()):
        commonest, times = max(made.rejected.items(), key=lambda reason: reason[1])
        were = "was" if rejected == 1 else "were"
        counted = f"{numbers.count(rejected)} {numbers.units('attempt', rejected)} {were} rejected"
        said.append(f"{counted}, most often ({numbers.count(times)}) for this reason: {commonest}")
    if made.unchanged:
        said.append(f"{numbers.count(made.unchanged)} had nothing to change")
    said += [f"{numbers.count(count)} not attempted ({reason})" for reason, count in made.skipped.items()]
    return said


# States what the tests show, in plain words: a line for each kind of finding, by fixed rules.
#
# An undecided test is reported neither as a weakness nor as a strength, and what was not tested is stated.


TITLES: dict[FindingKind, str] = {
    "rehearsal": "Dry run only",
    "breaks": "Fails",
    "self-preference": "Self-preference",
    "unanswered": "Unusable replies",
    "undecided": "Inconclusive",
    "not-judged": "Not tested",
    "holds": "Passes",
    "noise": "Its own noise",
    "agreement": "Agreement with labels",
}
"""Titles in the order of the page."""

_PASSED: dict[TestKind, str] = {
    "flipped-verdict": " (detects the changes)",
    "repeats": " (consistent answers)",
    "original": " (agrees with the labels)",
}
"""What passing means for a test that is not about withstanding a change."""

REPEATED = {
    "stability": "Repeated request",
    "seeds": "Other seeds",
    "sampling": "Other sampling",
}
"""Names for repeats of originals if the study has no test of that name."""

ByTest = dict[tuple[str, str], StressMeasure]


def find_stress(
    tests: Sequence[StressTest],
    cells: Sequence[CellVerdict],
    measures: Sequence[StressMeasure],
    answered: Sequence[CheckRecord],
) -> list[FindingRecord]:
    """Returns the findings in the order of the page; a kind with nothing to report is left out."""
    titles = {test.name: test.title for test in tests}
    kinds = {test.name: test.kind for test in tests}
    found: ByTest = {(measure.stratum, measure.name): measure for measure in measures if not measure.group}
    worst_first = sorted(cells, key=lambda cell: 1.0 if cell.p_value is None else cell.p_value)
    by_verdict = {word: [cell for cell in cells if cell.verdict == word] for word in ("PASS", "INCONCLUSIVE")}
    lines: dict[FindingKind, str] = {
        "rehearsal": _rehearsal(tests),
        "breaks": "; ".join(
            f"{titles[cell.test]} ({_seen(cell, found)})" for cell in worst_first if cell.verdict == "FAIL"
        ),
        "self-preference": "; ".join(_self_preference(found)),
        "holds": _holds([titles[cell.test] + _PASSED.get(kinds[cell.test], "") for cell in by_verdict["PASS"]], cells),
        "undecided": "; ".join(f"{titles[cell.test]} ({_open(cell)})" for cell in by_verdict["INCONCLUSIVE"]),
        "noise": "; ".join(_noise(tests, found)),
        "agreement": "; ".join(_agreement(tests, found)),
        "unanswered": "; ".join([*_abstentions(tests, found), *_unanswered(answered, found)]),
        "not-judged": "; ".join(
            f"{titles[cell.test]} ({cell.why})" for cell in cells if cell.verdict == "N/A" and cell.why != NO_THRESHOLD
        ),
    }
    return [FindingRecord(kind=kind, words=_sentence(lines[kind])) for kind in TITLES if lines[kind]]


def _holds(passed: Sequence[str], cells: Sequence[CellVerdict]) -> str:
    """Names the tests that it passes. Whoever gives every text the same grade passes most of them."""
    unread = any(cell.test == ORIGINAL and cell.verdict == "FAIL" for cell in cells)
    little = "; but its verdicts do not follow the labels, so stable verdicts mean little"
    return ", ".join(passed) + (little if passed and unread else "")


def _rehearsal(tests: Sequence[StressTest]) -> str:
    """Says which tests were made of nonsense; empty if none was."""
    rehearsed = [test.title for test in tests if test.made.simulated]
    if not rehearsed:
        return ""
    by = "written and validated by simulated models"
    if any(test.kind == "original" and test.made.simulated for test in tests):
        by = "written by simulated models"
    return (
        f"the texts of {', '.join(rehearsed)} were {by}: "
        "they are meaningless, and these tests say nothing about a judge"
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _seen(cell: CellVerdict, found: ByTest) -> str:
    """Says how many verdicts change, and the value of every measure that failed."""
    failed = {part.measure for part in cell.parts if part.verdict == "FAIL"}
    said = []
    for name, words in _SEEN.items():
        measure = found.get((cell.test, name))
        wanted = name in failed or name == "change-rate"
        if wanted and measure is not None and isinstance(measure.result, Estimate):
            said.append(words.format(value_words(measure, measure.result)))
    return ", ".join(said)


_SEEN = {
    "change-rate": "{} of verdicts change",
    "shift-equivalence": "{} grades on average",
    "flip-detection": "{} of required changes detected",
    "flip-rate": "{} of answer pairs differ",
    "weighted-kappa": "weighted kappa {}",
    "krippendorff-alpha": "Krippendorff's alpha {}",
    "agreement-beyond-length": "agreement beyond length {}",
}


def _open(cell: CellVerdict) -> str:
    if cell.unanswered:
        return unanswered_words(cell.unanswered)
    if cell.needed is None or cell.unit is None:
        return NO_MORE
    needed = f"needs about {numbers.about(cell.needed)} {numbers.units(cell.unit, cell.needed)}"
    return f"{needed}, leans toward a {cell.leaning}"


def _noise(tests: Sequence[StressTest], found: ByTest) -> Iterator[str]:
    """Yields what was measured: originals are repeated for other tests too, even if no test is about repeats."""
    repeated = {test.name: test.title for test in tests if test.kind == "repeats"}
    titles = repeated | {name: REPEATED[name] for name in REPEATED if (name, "flip-rate") in found}
    if not titles:
        yield "not measured: no request was repeated"
    for name, title in titles.items():
        measure = found.get((name, "flip-rate"))
        if measure is None:
            continue
        if isinstance(measure.result, Estimate):
            yield f"{title}: {_with_interval(measure, measure.result)} of answer pairs differ"
        elif name not in repeated:
            yield f"{title}: unknown, {measure.result.reason}"


SELF_PREFERENCE = {
    "own-words": ("its own model's words", "another model's for the same content"),
    "own-claim": ("texts said to be its own", "the same texts said to be another model's"),
}
"""The two halves of self-preference by test: what is preferred, and to what."""

TOGETHER = {1: 1.0, 2: 2.2414 / 1.9600}
"""How much wider each of so many intervals is if they are to miss together in at most 5%."""


def _self_preference(found: ByTest) -> Iterator[str]:
    """Yields what own words and a claim of authorship each do to a grade, so that they are not taken for one thing."""
    measured = [(test, found[test, "grade-shift"]) for test in SELF_PREFERENCE if (test, "grade-shift") in found]
    shifts = [(test, one, one.result) for test, one in measured if isinstance(one.result, Estimate)]
    for test, measure, result in shifts:
        what, other = SELF_PREFERENCE[test]
        shift, side = f"{_with_interval(measure, result)} grades", "higher" if result.value > 0 else "lower"
        if not moved(result, of=1):
            yield f"no difference shown between {what} and {other} ({shift})"
        elif not moved(result, of=len(shifts)):
            yield f"may grade {what} {side} than {other} ({shift}; not significant among two comparisons)"
        else:
            # Words that other judges prefer as well are better written.
            advice = "; compare it with other judges, as the words may be better" if test == "own-words" else ""
            yield f"grades {what} {side} than {other} ({shift}{advice})"


def moved(shift: Estimate, *, of: int = 2) -> bool:
    """Whether a shift is shown not to be 0, as one of so many comparisons."""
    ends = shift.interval
    if ends is None or ends.low is None or ends.high is None:
        return False
    low, high = (shift.value + TOGETHER[of] * (end - shift.value) for end in (ends.low, ends.high))
    return low > 0 or high < 0


def _abstentions(tests: Sequence[StressTest], found: ByTest) -> Iterator[str]:
    """Yields a line if abstentions are not rare; a test in which they differ from the originals shows both rates."""
    rates = {test: m.result for (test, name), m in found.items() if name == "abstention-rate"}
    originals = rates.get("original")
    if isinstance(originals, Estimate) and originals.value > RARE:
        yield f"abstains on {numbers.rate(originals.value)} of the originals"
    for test in tests:
        rate = rates.get(test.name)
        if test.kind not in _ABSTAINED or not isinstance(rate, Estimate) or rate.value <= RARE:
            continue
        beside = ""
        if isinstance(originals, Estimate) and test.kind != "given-label":
            share = numbers.rate(originals.value) if originals.numerator else "none"
            beside = f", and on {share} of the originals"
        yield f"{test.title}: abstains on {numbers.rate(rate.value)} of the {_ABSTAINED[test.kind]}{beside}"


_ABSTAINED: dict[TestKind, str] = {
    "same-verdict": "changed texts",
    "flipped-verdict": "changed texts",
    "given-label": "new texts",
}


def _agreement(tests: Sequence[StressTest], found: ByTest) -> Iterator[str]:
    for test in tests:
        if test.kind != "original":
            continue
        for name, say in _AGREEMENT.items():
            measure = found.get((test.name, name))
            if measure is None:
                continue
            if isinstance(measure.result, Estimate):
                yield say(measure, measure.result)
            elif name == "accuracy":
                yield f"unknown: {measure.result.reason}"


def _say_accuracy(measure: StressMeasure, estimate: Estimate) -> str:
    items = f"{numbers.count(estimate.denominator)} {numbers.units(estimate.unit, estimate.denominator)}"
    return f"gives the gold label in {_with_interval(measure, estimate)} of {items}"


def _say_kappa(measure: StressMeasure, estimate: Estimate) -> str:
    return f"{measure.title[:1].lower()}{measure.title[1:]} {_with_interval(measure, estimate)}"


def _say_bias(measure: StressMeasure, estimate: Estimate) -> str:
    side = "below" if estimate.value < 0 else "above"
    ends = interval_words(measure, estimate.interval)
    return f"on average {numbers.latent(abs(estimate.value))} grades {side} the gold label {ends}"


_AGREEMENT: dict[str, Callable[[StressMeasure, Estimate], str]] = {
    "accuracy": _say_accuracy,
    "weighted-kappa": _say_kappa,
    "grade-bias": _say_bias,
}


def _unanswered(answered: Sequence[CheckRecord], found: ByTest) -> Iterator[str]:
    """Yields a line only if there are such answers and the check is not met."""
    for held in answered:
        measure = found.get((held.stratum, held.measure))
        some = measure is not None and isinstance(measure.result, Estimate) and measure.result.numerator > 0
        if some and held.verdict in {"FAIL", "INCONCLUSIVE"}:
            yield f"{held.title}: {held.verdict}, {held.why}"


def _with_interval(measure: StressMeasure, estimate: Estimate) -> str:
    return f"{value_words(measure, estimate)} {interval_words(measure, estimate.interval)}"
