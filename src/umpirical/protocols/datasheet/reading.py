"""What a newcomer is told beside the numbers: a sentence under each chart, the words of the page, what to do next."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.charts import LevelGrades
from umpirical.protocols.datasheet.more import can_settle
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.protocol import command_again
from umpirical.reports import numbers
from umpirical.reports.record import MeasureRecord, why_unfinished

WORDS: Mapping[str, str] = {
    "Limit": "what a policy allows a measure to be; essential ones decide alone",
    "PASS, FAIL": "even the worst end of what the data allow is inside the limit, or even the best end is outside",
    "INCONCLUSIVE": "the data allow both; more of the same would settle it",
    "Interval": "the range in which the true value lies in 95 of 100 such runs",
    "k/n": "how many of how many",
    "Pair": "two answers to one task, shown in both orders",
    "Δ0, Δ1, Δ5": "pairs whose answers differ by so many requirements of the task; at Δ0 they are equally good",
    "Quad": "a pair under two versions of its task: what is better under one is worse under the other",
    "Slot": "the place in the prompt in which an answer is shown",
    "Arm": "the prompt that the judge was given; baseline is its own",
    "Unparsed, failed": "an answer that could not be read, and a call without one; neither becomes a verdict",
}
"""One line for each word that the page uses before it explains it."""

OF_LIMITS = ("Limit", "PASS, FAIL", "INCONCLUSIVE")

SIDES = {"compare": "names the better one", "grade": "gives the better one the higher grade"}


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do, and the command that does it; empty where it is no command."""

    words: str
    command: str = ""


def words_of(sheet: Datasheet) -> dict[str, str]:
    """Returns the words that a page uses: one that grades shows one answer at a time, and has no slots."""
    left_out = {*(() if sheet.limits else OF_LIMITS), *(("Slot",) if sheet.judge.kind == "grade" else ())}
    return {word: meaning for word, meaning in WORDS.items() if word not in left_out}


def curve_words(measures: Sequence[MeasureRecord], kind: str) -> str:
    """Says what the psychometric curve shows at its ends; empty if there is no curve."""
    seen = {m.stratum: m.result for m in measures if m.name == "target-sensitivity" and m.stratum}
    steps = sorted((float(step), result) for step, result in seen.items() if isinstance(result, Estimate))
    if not steps:
        return ""
    chosen = dict([next((one for one in steps if one[0] == 1.0), steps[0]), steps[-1]])
    parts = [
        f"{numbers.step(step)} {numbers.units('requirement', step)} more, it {SIDES[kind]} in "
        f"{numbers.rate(result.value)} of {numbers.units(result.unit, 2)}"
        for step, result in chosen.items()
    ]
    return f"Where one answer meets {'; where it meets '.join(parts)}."


def equal_words(measures: Sequence[MeasureRecord]) -> str:
    """Says what the judge does with equally good answers; empty if that was not measured."""
    found = {m.name: m.result for m in measures if not m.stratum and isinstance(m.result, Estimate)}
    said = {
        "no-preference": "has no preference in",
        "positional-false-preference": "takes the same slot in both orders in",
        "stable-cross-sensitivity": "takes the same text in both orders in",
        "one-sided-commit": "prefers one in a single order in",
    }
    known = [(words, found[name]) for name, words in said.items() if name in found]
    if not known:
        return ""
    parts = [f"{words} {numbers.rate(result.value)}" for words, result in known]
    pairs = numbers.count(known[0][1].denominator)
    return f"Of {pairs} pairs of equally good answers, it {', '.join(parts)}."


def grade_words(levels: Sequence[LevelGrades]) -> str:
    """Says what the best and the worst answers get; empty for fewer than two qualities."""
    if len(levels) < 2:
        return ""
    least, most = levels[0], levels[-1]
    return (
        f"Answers that meet {numbers.step(least.level)} {numbers.units('requirement', least.level)} get grade "
        f"{numbers.latent(least.mean)} on average, counted from the least grade; those that meet "
        f"{numbers.step(most.level)} get {numbers.latent(most.mean)}."
    )


def prompt_words(arms: Mapping[str, Mapping[tuple[str, str], MeasureRecord]]) -> Iterator[str]:
    """Yields what each other prompt changes against the judge's own."""
    own = arms.get(BASELINE, {})
    for name, measures in arms.items():
        parts = [
            f"{words} in {numbers.rate(now)} instead of {numbers.rate(before)}"
            for key, words in (
                (("raw-false-preference", ""), "a winner is named between equal answers"),
                (("target-sensitivity", "1"), "a difference of one requirement is seen"),
            )
            if name != BASELINE
            and (before := _value(own, key)) is not None
            and (now := _value(measures, key)) is not None
        ]
        if parts:
            yield f"Under {name}, {', and '.join(parts)}."


def next_steps(sheet: Datasheet) -> list[Step]:
    """Returns what to do after reading this decision. Every command runs as it stands, in the study's folder."""
    verdict = sheet.decision.verdict if sheet.decision else "not-enough-data"
    others = Step("Measure other judges in the same study, and compare them.")
    if sheet.run.command.startswith("umpirical jury"):
        return [Step("Measure its members on more tasks: a jury is made of their runs, and has none of its own.")]
    run = shlex.quote(f"runs/{sheet.judge.name}-{sheet.run.id}")
    gate, again = f"umpirical gate {run}", shlex.join(command_again(sheet.run.command))
    match verdict:
        case "use":
            return [Step("Check it in CI, at every change of its prompt or model.", gate), *_result(sheet, run), others]
        case "use-with-limits":
            first = Step("Use it only as “Use it like this” says above, and check it in CI.", gate)
            return [first, *_result(sheet, run), others]
        case "do-not-use":
            return [
                Step("Look at what it got wrong, below, with the judge’s own words."),
                # A follow-up is of the run that it follows: another prompt starts anew.
                Step("Change its prompt or its model, and measure it again.", "" if " more " in again else again),
                others,
            ]
        case "not-enough-data":
            return [_settling(sheet, run, again), others]


def _settling(sheet: Datasheet, run: str, again: str) -> Step:
    """Returns what may settle an open decision."""
    if why_unfinished(complete=sheet.complete, audit=sheet.audit):
        return Step("Resume the run. What has an answer is not asked again.", again)
    if can_settle(sheet):
        return Step("Ask just what would settle what is open.", f"umpirical more {run}")
    return Step("More calls on these test cases would not settle it. Add tasks of your own, or use a larger size.")


def _result(sheet: Datasheet, run: str) -> list[Step]:
    if sheet.judge.kind != "compare":
        return []
    return [Step(f"To correct a win rate that rests on it, give {run} to “umpirical correct” as --record.")]


def _value(measures: Mapping[tuple[str, str], MeasureRecord], key: tuple[str, str]) -> float | None:
    found = measures.get(key)
    return found.result.value if found is not None and isinstance(found.result, Estimate) else None
