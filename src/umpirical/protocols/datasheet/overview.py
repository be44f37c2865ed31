"""The first screen of a datasheet: the verdict in plain words, what it rests on, and failures to look at.

Its numbers are those of the record, written as in the tables below it.
"""

from collections.abc import Mapping

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.record import AnswerRecord, Datasheet, ExampleRecord
from umpirical.protocols.datasheet.tiles import (
    could_be,
    failures,
    named,
    tiles,
    value_of,
    worst_first,
)
from umpirical.reports import numbers
from umpirical.reports.gate import of_own_prompt
from umpirical.reports.overview import (
    MOST_FAILURES,
    Failure,
    Overview,
    capital,
    counts_of,
    passed_words,
    short,
    titles,
    two_texts,
)
from umpirical.reports.policy import at
from umpirical.reports.record import CheckRecord

SAID: Mapping[str, str] = {
    "dark-current": "It names a winner between two blank or identical answers in {value} of cases.",
    "raw-false-preference": "It names a winner between two equally good answers in {value} of calls.",
    "positional-false-preference": "It picks the same position in both orders in {value} of equally good pairs.",
    "stable-cross-sensitivity": "It prefers one wording over another of equal quality in {value} of pairs.",
    "target-sensitivity": "It picks the better answer in only {value} of calls{at}.",
    "task-following": "Its preference follows the task in only {value} of crossed pairs{at}.",
    "task-blind-preference": "It prefers the same answer no matter what the task asks, in {value} of crossed pairs.",
    "conflict-excess": "It errs more often if the worse answer is the longer one{at}: {value}.",
    "figure-sensitivity": "It picks the answer with the right figures in only {value} of calls{at}.",
    "figure-following": "Its preference follows the figures in the task in only {value} of crossed pairs.",
    "abstention-rate": "It gives no verdict in {value} of calls.",
    "unparsed-rate": "{value} of its replies cannot be read.",
    "failure-rate": "{value} of its calls failed.",
}
"""What a judge that fails a check does, in plain words. Any other check is named by its title."""

GRADED: Mapping[str, str] = {
    "dark-current": "It gives a blank answer more than the lowest grade in {value} of cases.",
    "raw-false-preference": "It gives two equally good answers different grades in {value} of pairs.",
    "target-sensitivity": "It gives the better answer the higher grade in only {value} of pairs{at}.",
    "grade-concordance": "It gives the better answer the higher grade in only {value} of pairs.",
    "grade-spread": "Its grades of equally good answers are {value} grades apart.",
    "figure-sensitivity": "It gives right figures the higher grade in only {value} of pairs{at}.",
}


def overview_of(sheet: Datasheet) -> Overview:
    """Returns the first screen of a datasheet."""
    held = worst_first(of_own_prompt(sheet.checks))
    gates = sheet.stimuli.gates if sheet.stimuli else []
    failed = failures(sheet)
    return Overview(
        worst=_worst(sheet, [*failed, *held]),
        others=f"It also fails on {_titles(failed[1:])}." if failed[1:] else "",
        needs=_needs(sheet, held),
        blocked=tuple(gate.name for gate in gates if gate.blocks and not gate.passed),
        counts=counts_of([check.verdict for check in held]),
        tiles=tuple(tiles(sheet)),
        failures=tuple(_failure(sheet, example) for example in _chosen(sheet, failed)),
    )


def _worst(sheet: Datasheet, held: list[CheckRecord]) -> str:
    if not held:
        return "This record has no checks."
    worst = held[0]
    value, wanted = value_of(sheet, worst), numbers.threshold(worst.kind, worst.value, worst.measure)
    match worst.verdict:
        case "FAIL":
            said = (GRADED if sheet.judge.kind == "grade" else SAID).get(worst.measure)
            if said is None or worst.failing:
                return f"It fails on {named(worst)}: {value} (must be {wanted})."
            return f"{said.format(value=value, at=at(worst.stratum))[:-1]} (must be {wanted})."
        case "INCONCLUSIVE":
            least = f", but could be {could_be(sheet, worst)}" if could_be(sheet, worst) else ""
            found = f"{value or 'no value'}{least} (must be {wanted})"
            return f"No check failed. {capital(named(worst))} is inconclusive: {found}."
        case "N/A":
            why = "" if worst.why == "not measured" else f": {worst.why}"
            return f"No check failed. {capital(named(worst))} was not measured{why}."
        case "PASS":
            return passed_words([check.verdict for check in held])


def _needs(sheet: Datasheet, held: list[CheckRecord]) -> str:
    if sheet.decision is None or sheet.decision.verdict != "not-enough-data":
        return ""
    waits = [check for check in held if check.essential and check.state == "open" and check.verdict != "FAIL"]
    return f"More data is needed for {_titles(waits)}." if waits else ""


def _titles(checks: list[CheckRecord]) -> str:
    return titles([(check.title or check.measure).lower() for check in checks])


def _chosen(sheet: Datasheet, failed: list[CheckRecord]) -> list[ExampleRecord]:
    """Returns one example of each kind of failure, those of the worst checks first."""
    order = [check.measure for check in failed]

    def key(example: ExampleRecord) -> tuple[bool, int]:
        # Examples of the length conflict are kept under the name of the measure that counts them.
        name = "conflict-excess" if example.measure == "conflict-loss" else example.measure
        return example.variant != BASELINE, order.index(name) if name in order else len(order)

    first: dict[str, ExampleRecord] = {}
    for example in sorted(sheet.examples, key=key):
        first.setdefault(example.measure, example)
    return list(first.values())[:MOST_FAILURES]


KINDS = {
    "dark-current": "Blank or identical answers",
    "positional-false-preference": "Equally good answers, one position preferred",
    "stable-cross-sensitivity": "Equally good answers, one wording preferred",
    "conflict-loss": "The worse answer is the longer one",
    "target-sensitivity": "One answer is better",
}


def _failure(sheet: Datasheet, example: ExampleRecord) -> Failure:
    one, two = example.candidate_a, example.candidate_b
    both = sheet.judge.kind == "compare" or two
    return Failure(
        title=KINDS.get(example.measure, example.measure),
        task=short(example.task),
        answers=two_texts("Answer A", one, "Answer B", two) if both else (("Answer A", short(one)),),
        said=_said(sheet.judge.kind, example.answers),
        right=example.expectation,
    )


def _said(kind: str, answers: list[AnswerRecord]) -> str:
    if kind == "grade":
        return "; ".join(f"{answer.said} for answer {_first(answer).upper()}" for answer in answers)
    if len(answers) == 2 and all(answer.said in {"a", "b"} for answer in answers):
        one, two = answers
        if one.said == two.said:
            return f"{one.said.upper()} in both orders"
        return f"the {'first' if one.said == _first(one) else 'second'} answer in both orders"
    words = {"a": "A", "b": "B"}
    return "; ".join(f"{words.get(each.said, each.said)} when {_first(each).upper()} came first" for each in answers)


def _first(answer: AnswerRecord) -> str:
    return answer.order[0]
