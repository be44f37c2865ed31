"""States what the tests show, in plain words: a line for each kind of finding, by fixed rules.

An undecided test is reported neither as a weakness nor as a strength, and what was not tested is stated.
"""

from collections.abc import Callable, Iterator, Sequence

from umpirical.protocols.stress.policy import NO_LIMIT, TestKind, interval_words, unanswered_words, value_words
from umpirical.protocols.stress.record import CellVerdict, FindingKind, FindingRecord, StressMeasure, StressTest
from umpirical.reports import numbers
from umpirical.reports.limits import RARE
from umpirical.reports.record import EstimateRecord, LimitRecord

TITLES: dict[FindingKind, str] = {
    "rehearsal": "A rehearsal only",
    "breaks": "Breaks it",
    "holds": "Stands up to",
    "undecided": "Undecided",
    "noise": "Its own noise",
    "agreement": "Agreement with gold",
    "unanswered": "Answers that are no verdict",
    "not-judged": "Could not be judged",
}
"""Titles in the order of the page."""

_PASSED: dict[TestKind, str] = {"flipped-verdict": " (the changes are seen)", "repeats": " (answers alike)"}
"""What passing means for a test that is not about withstanding a change."""

REPEATED = {
    "stability": "Asked again",
    "seeds": "Asked with other seeds",
    "sampling": "Asked with other sampling",
}
"""Names for repeats of originals if the study has no test of that name."""

ByTest = dict[tuple[str, str], StressMeasure]


def find_stress(
    tests: Sequence[StressTest],
    cells: Sequence[CellVerdict],
    measures: Sequence[StressMeasure],
    answered: Sequence[LimitRecord],
) -> list[FindingRecord]:
    """Returns the findings in the order of the page; a kind with nothing to report is left out."""
    titles = {test.name: test.title for test in tests}
    kinds = {test.name: test.kind for test in tests}
    found: ByTest = {(measure.stratum, measure.name): measure for measure in measures if not measure.group}
    by_verdict = {word: [cell for cell in cells if cell.verdict == word] for word in ("PASS", "FAIL", "INCONCLUSIVE")}
    lines: dict[FindingKind, str] = {
        "rehearsal": _rehearsal(tests),
        "breaks": "; ".join(f"{titles[cell.test]} ({_seen(cell, found)})" for cell in by_verdict["FAIL"]),
        "holds": ", ".join(titles[cell.test] + _PASSED.get(kinds[cell.test], "") for cell in by_verdict["PASS"]),
        "undecided": "; ".join(f"{titles[cell.test]} ({_open(cell)})" for cell in by_verdict["INCONCLUSIVE"]),
        "noise": "; ".join(_noise(tests, found)),
        "agreement": "; ".join(_agreement(tests, found)),
        "unanswered": "; ".join([*_abstentions(tests, found), *_unanswered(answered, found)]),
        "not-judged": "; ".join(
            f"{titles[cell.test]} ({cell.why})" for cell in cells if cell.verdict == "N/A" and cell.why != NO_LIMIT
        ),
    }
    return [FindingRecord(kind=kind, words=_sentence(lines[kind])) for kind in TITLES if lines[kind]]


def _rehearsal(tests: Sequence[StressTest]) -> str:
    """Says which tests were made of nonsense; empty if none was."""
    rehearsed = [test.title for test in tests if test.made.simulated]
    if not rehearsed:
        return ""
    by = "written and validated by a simulated generator and validator"
    if any(test.kind == "original" and test.made.simulated for test in tests):
        by = "written by simulated models"
    return (
        f"the texts of {', '.join(rehearsed)} were {by}: "
        "they are nonsense, and no verdict on these tests says anything about a judge"
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
        if wanted and measure is not None and isinstance(measure.result, EstimateRecord):
            said.append(words.format(value_words(measure, measure.result)))
    return ", ".join(said)


_SEEN = {
    "change-rate": "{} of verdicts change",
    "shift-equivalence": "{} grades on average",
    "flip-detection": "{} of the changes seen",
    "flip-rate": "{} of pairs of answers differ",
}


def _open(cell: CellVerdict) -> str:
    if cell.unanswered:
        return unanswered_words(cell.unanswered)
    if cell.needed is None or cell.unit is None:
        return "more of the same would not settle it"
    needed = f"needs about {numbers.about(cell.needed)} {numbers.units(cell.unit, cell.needed)}"
    return f"{needed}, leaning to a {cell.leaning}"


def _noise(tests: Sequence[StressTest], found: ByTest) -> Iterator[str]:
    """Yields what was measured: originals are repeated for other tests too, even if no test is about repeats."""
    repeated = {test.name: test.title for test in tests if test.kind == "repeats"}
    titles = repeated | {name: REPEATED[name] for name in REPEATED if (name, "flip-rate") in found}
    if not titles:
        yield "not measured, since nothing was asked twice"
    for name, title in titles.items():
        measure = found.get((name, "flip-rate"))
        if measure is None:
            continue
        if isinstance(measure.result, EstimateRecord):
            yield f"{title}: {_with_interval(measure, measure.result)} of pairs of answers differ"
        elif name not in repeated:
            yield f"{title}: not known, {measure.result.reason}"


def _abstentions(tests: Sequence[StressTest], found: ByTest) -> Iterator[str]:
    """Yields a line if abstentions are not rare; a test in which they differ from the originals shows both rates."""
    rates = {test: m.result for (test, name), m in found.items() if name == "abstention-rate"}
    originals = rates.get("original")
    if isinstance(originals, EstimateRecord) and originals.value > RARE:
        yield f"abstains on {numbers.rate(originals.value)} of the originals"
    for test in tests:
        rate = rates.get(test.name)
        if test.kind not in _ABSTAINED or not isinstance(rate, EstimateRecord) or rate.value <= RARE:
            continue
        beside = ""
        if isinstance(originals, EstimateRecord) and test.kind != "given-label":
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
            if isinstance(measure.result, EstimateRecord):
                yield say(measure, measure.result)
            elif name == "accuracy":
                yield f"not known: {measure.result.reason}"


def _say_accuracy(measure: StressMeasure, estimate: EstimateRecord) -> str:
    items = f"{numbers.count(estimate.denominator)} {numbers.units(estimate.unit, estimate.denominator)}"
    return f"gives the gold label in {_with_interval(measure, estimate)} of {items}"


def _say_kappa(measure: StressMeasure, estimate: EstimateRecord) -> str:
    return f"{measure.title[:1].lower()}{measure.title[1:]} {_with_interval(measure, estimate)}"


def _say_bias(measure: StressMeasure, estimate: EstimateRecord) -> str:
    side = "below" if estimate.value < 0 else "above"
    limits = interval_words(measure, estimate.interval)
    return f"on average {numbers.latent(abs(estimate.value))} grades {side} gold {limits}"


_AGREEMENT: dict[str, Callable[[StressMeasure, EstimateRecord], str]] = {
    "accuracy": _say_accuracy,
    "weighted-kappa": _say_kappa,
    "grade-bias": _say_bias,
}


def _unanswered(answered: Sequence[LimitRecord], found: ByTest) -> Iterator[str]:
    """Yields a line only if there are such answers and the limit is not met."""
    for held in answered:
        measure = found.get((held.stratum, held.measure))
        some = measure is not None and isinstance(measure.result, EstimateRecord) and measure.result.numerator > 0
        if some and held.verdict in {"FAIL", "INCONCLUSIVE"}:
            yield f"{held.title}: {held.verdict}, {held.why}"


def _with_interval(measure: StressMeasure, estimate: EstimateRecord) -> str:
    return f"{value_words(measure, estimate)} {interval_words(measure, estimate.interval)}"
