"""What a newcomer is told beside the numbers: a sentence under each chart, the words of the page, what to do next."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.charts import LevelGrades
from umpirical.protocols.datasheet.more import can_settle
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.tiles import failures
from umpirical.protocols.protocol import command_again
from umpirical.protocols.steps import OF_JURY, is_jury
from umpirical.reports import numbers
from umpirical.reports.overview import Step
from umpirical.reports.record import MeasureRecord, why_unfinished

WORDS: Mapping[str, str] = {
    "Check": "compares a measure with the policy's threshold; only essential checks can refuse a judge",
    "PASS, FAIL": "the data show that the measure meets the threshold, or that it does not",
    "INCONCLUSIVE": "the data do not show either; more data would decide it",
    "95% interval": "the true value lies in this range in 95 of 100 such runs",
    "k/n": "the count and the total behind a percentage",
    "Pair": "two answers to one task, shown in both orders",
    "Δ0, Δ1, Δ5": "pairs whose answers differ by 0, 1 or 5 requirements of the task; at Δ0 they are equally good",
    "Crossed pair": "two answers under two versions of a task; each answer is better under one version",
    "Position": "whether an answer is shown first or second",
    "Blank-input preference": "naming a winner between blank or identical answers (dark current)",
    "Prompt variant": "the prompt that the judge was given; baseline is its own",
    "Unparsed, failed": "a reply that could not be read, and a call without a reply; neither counts as a verdict",
}
"""One line for each word that the page uses before it explains it."""

OF_CHECKS = ("Check", "PASS, FAIL", "INCONCLUSIVE")

HINTS: Mapping[str, str] = {
    "dark-current": "tell it to call a tie if both answers are blank or the same",
    "raw-false-preference": "tell it to call a tie if both answers are equally good",
    "positional-false-preference": "tell it that the order of the answers means nothing",
    "stable-cross-sensitivity": "tell it to ignore wording and layout",
    "target-sensitivity": "have it go through the requirements one by one, or use a stronger model",
    "task-following": "make sure that the prompt contains the task, and have it check each answer against the task",
    "task-blind-preference": "have it check each answer against the task",
    "conflict-excess": "tell it to ignore length",
    "figure-sensitivity": "have it check every figure against the task",
    "figure-following": "have it check every figure against the task",
    "abstention-rate": "tell it to give a verdict on every pair",
    "unparsed-rate": "ask for a fixed reply format, such as one JSON field",
}
"""What may help a judge that fails a check most of all."""

SIDES = {"compare": "picks the better answer", "grade": "gives the better answer the higher grade"}


def words_of(sheet: Datasheet) -> dict[str, str]:
    """Returns the words that a page uses: one that grades shows one answer at a time, and has no positions."""
    excluded = {*(() if sheet.checks else OF_CHECKS), *(("Position",) if sheet.judge.kind == "grade" else ())}
    return {word: meaning for word, meaning in WORDS.items() if word not in excluded}


def curve_words(measures: Sequence[MeasureRecord], kind: str) -> str:
    """Says what the psychometric curve shows at its ends; empty if there is no curve."""
    seen = {m.stratum: m.result for m in measures if m.name == "target-sensitivity" and m.stratum}
    steps = sorted((float(step), result) for step, result in seen.items() if isinstance(result, Estimate))
    if not steps:
        return ""
    chosen = dict([next((one for one in steps if one[0] == 1.0), steps[0]), steps[-1]])
    parts = [
        f"At a {numbers.step(step)}-requirement difference, it {SIDES[kind]} in {numbers.rate(result.value)} of "
        f"{numbers.units(result.unit, 2)}."
        for step, result in chosen.items()
    ]
    return " ".join(parts)


def equal_words(measures: Sequence[MeasureRecord]) -> str:
    """Says what the judge does with equally good answers; empty if that was not measured."""
    found = {m.name: m.result for m in measures if not m.stratum and isinstance(m.result, Estimate)}
    said = {
        "no-preference": "no preference",
        "positional-false-preference": "same position in both orders",
        "stable-cross-sensitivity": "same answer in both orders",
        "one-sided-commit": "a preference in one order only",
    }
    known = [(words, found[name]) for name, words in said.items() if name in found]
    if not known:
        return ""
    parts = [f"{words} {numbers.rate(result.value)}" for words, result in known]
    return f"{numbers.count(known[0][1].denominator)} pairs of equally good answers: {', '.join(parts)}."


def grade_words(levels: Sequence[LevelGrades]) -> str:
    """Says what the best and the worst answers get; empty for fewer than two qualities."""
    if len(levels) < 2:
        return ""
    least, most = levels[0], levels[-1]
    return (
        f"Answers that meet {numbers.step(least.level)} {numbers.units('requirement', least.level)} get a mean grade "
        f"of {numbers.latent(least.mean)}, counted from the lowest grade. Answers that meet {numbers.step(most.level)} "
        f"get {numbers.latent(most.mean)}."
    )


def prompt_words(variants: Mapping[str, Mapping[tuple[str, str], MeasureRecord]]) -> Iterator[str]:
    """Yields what each other prompt changes, compared with the judge's own."""
    own = variants.get(BASELINE, {})
    for name, measures in variants.items():
        parts = [
            f"{words} in {numbers.rate(now)} instead of {numbers.rate(before)}"
            for key, words in (
                (("raw-false-preference", ""), "it names a winner between equally good answers"),
                (("target-sensitivity", "1"), "it picks the better answer at a 1-requirement difference"),
            )
            if name != BASELINE
            and (before := _value(own, key)) is not None
            and (now := _value(measures, key)) is not None
        ]
        if parts:
            yield f"With {name}, {', and '.join(parts)}."


def next_steps(sheet: Datasheet) -> list[Step]:
    """Returns what to do after reading this decision. Every command runs as it stands, in the study's folder."""
    verdict = sheet.decision.verdict if sheet.decision else "not-enough-data"
    others = Step("Measure other judges in the same study and compare them.")
    if is_jury(sheet):
        return [Step(OF_JURY)]
    run = shlex.quote(f"runs/{sheet.judge.name}-{sheet.run.id}")
    gate, again = f"umpirical gate {run}", shlex.join(command_again(sheet.run.command))
    match verdict:
        case "use":
            return [Step("Check it in CI whenever its prompt or model changes.", gate), *_result(sheet, run), others]
        case "use-with-restrictions":
            first = Step("Use it only as described under “Recommended use”, and check it in CI.", gate)
            return [first, *_result(sheet, run), others]
        case "do-not-use":
            return [
                Step("Read the example failures below."),
                _changing(sheet, again),
                others,
            ]
        case "not-enough-data":
            # What has failed already is worth changing before anything is spent on the rest, once the run is complete.
            failed = _hint(sheet) and not why_unfinished(complete=sheet.complete, audit=sheet.audit)
            return [_settling(sheet, run, again), *([_changing(sheet, again)] if failed else []), others]


def _changing(sheet: Datasheet, again: str) -> Step:
    hint = _hint(sheet)
    return Step(
        f"Change its prompt or model, and measure it again{f': {hint}' if hint else ''}.",
        # A follow-up is of the run that it follows: another prompt starts anew.
        "" if {"more", "extend"} & {*again.split()} else again,
    )


def _hint(sheet: Datasheet) -> str:
    """Returns what may help against the worst failure; empty if nothing fails or no prompt helps."""
    return next((HINTS.get(check.measure, "") for check in failures(sheet)), "")


def _settling(sheet: Datasheet, run: str, again: str) -> Step:
    """Returns what may settle an open decision."""
    if why_unfinished(complete=sheet.complete, audit=sheet.audit):
        return Step("Resume the run. Calls that have a reply are not repeated.", again)
    if can_settle(sheet):
        return Step("Collect more data for the inconclusive checks.", f"umpirical extend {run}")
    return Step("More calls on these test cases would not decide it. Add tasks of your own, or use a larger size.")


def _result(sheet: Datasheet, run: str) -> list[Step]:
    if sheet.judge.kind != "compare":
        return []
    return [Step(f"To correct a win rate from this judge: umpirical correct DATA --record {run}")]


def _value(measures: Mapping[tuple[str, str], MeasureRecord], key: tuple[str, str]) -> float | None:
    found = measures.get(key)
    return found.result.value if found is not None and isinstance(found.result, Estimate) else None
