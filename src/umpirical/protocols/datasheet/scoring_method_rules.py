"""Scoring methods: the verdicts that each one reads from a judge's calls, and which one to use."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import isfinite
from pathlib import Path
from typing import Any, Literal, assert_never

from pydantic import Field

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.measures import Estimate
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.scoring_methods import (
    Content,
    ScoringMethodName,
    Span,
    content_odds,
    most_likely,
    preferred,
    slot_odds,
    tie_band,
)
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.judges.answers import ABSTAIN
from umpirical.judges.label_logprobs import LabelReader, Undecided
from umpirical.protocols.datasheet.counting import FACTS
from umpirical.protocols.datasheet.report import FailureKeeper, ReadRun
from umpirical.reports import numbers
from umpirical.reports.policy import at
from umpirical.reports.record import JudgeRecord, MeasureRecord, RunRecord, Strict
from umpirical.runs.judgments import judgment_row, reader_of
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema
from umpirical.store.snapshots import RunSnapshot

HOW_TO_RECORD = (
    "No log-probabilities were recorded, so the scoring methods that need them are not available. To record them, add "
    "decoding: {top_logprobs: 20} to the judge and run it again. This takes no extra calls."
)

NON_CLAIMS = [
    "The recommendation is the best of these scoring methods by this rule. It is not shown to be the best possible.",
    "Scoring methods that read both orders need two calls per verdict.",
    (
        "Two identical or two empty answers give the same prompt in both orders, so a scoring method that reads both "
        "ties on them by construction. Its blank-input preference is measured on blank answers that differ."
    ),
    "A tie band holds only for this judge with this prompt and these settings.",
]

SEEN = "target-sensitivity"

FALSE = ("raw-false-preference", "dark-current")
"""The measures that make a scoring method acceptable or not."""


class ScoringMethodRow(Strict):
    """One scoring method, on each half of the tasks."""

    name: str
    about: str
    pairwise: bool = Field(description="Whether one verdict is read from both orders together.")
    why_not: str = Field(default="", description="Why it is not available for these replies; empty if it is.")
    band: float | None = Field(default=None, description="Log-odds within this band, in nats, are a tie.")
    datasheet: str = Field(default="", description="Its datasheet, next to this record.")
    chosen_on: list[MeasureRecord] = Field(default=[], description="On the tasks used for selection.")
    reported_on: list[MeasureRecord] = Field(default=[], description="On the held-out tasks.")
    against_text: list[MeasureRecord] = Field(
        default=[], description="Differences from the scoring method `text` on the held-out tasks, pair by pair."
    )


class Recommendation(Strict):
    """Which scoring method to use, in words."""

    scoring_method: str | None = Field(description="Null if none is acceptable.")
    sentences: list[str]
    rule: list[str] = Field(description="The rule behind the recommendation.")


class ScoringMethods(Strict):
    """The scoring methods of one judge, measured."""

    format: Literal["judge-scoring/2"] = "judge-scoring/2"
    judge: JudgeRecord
    run: RunRecord
    complete: bool = Field(default=True, description="Whether every planned call has a response.")
    variant: str
    target: float = Field(description="The highest acceptable false preference, on equal pairs and on blank inputs.")
    calibration_tasks: list[str] = Field(
        description="The tasks used to set the tie band and to select a scoring method."
    )
    reporting_tasks: list[str]
    rows: list[ScoringMethodRow]
    recommendation: Recommendation
    how_to_record: str = Field(default="", description="What to do if log-probabilities are missing.")
    non_claims: list[str]


def shown_measures(rows: Sequence[ScoringMethodRow]) -> list[tuple[str, str]]:
    """Returns the (measure, stratum) pairs of a table: the step of one requirement and the largest, or the two ends."""
    steps = sorted({float(m.stratum) for row in rows for m in row.reported_on if m.name == SEEN})
    small = 1.0 if 1.0 in steps else min(steps, default=1.0)
    ends = [f"{step:g}" for step in dict.fromkeys((small, *steps[-1:]))]
    return [*((SEEN, step) for step in ends), *((name, "") for name in FALSE), *(("tie-rate", s) for s in ("0", *ends))]


def measure_in(measures: Sequence[MeasureRecord], name: str, stratum: str) -> MeasureRecord | None:
    return next((measure for measure in measures if (measure.name, measure.stratum) == (name, stratum)), None)


OTHER = "the other order has no verdict"
ALONE = "only one order was asked"
UNKNOWN = "a label is missing from the listed log-probabilities, and the others do not decide the verdict"


@dataclass(frozen=True, slots=True)
class Heard:
    """One presentation of a stimulus, with all that a scoring method may need to know about it."""

    trial: Trial
    stimulus: Stimulus
    response: Response | None
    outcome: Outcome | None
    """What the parser reads; None if it was not asked."""
    labels: Mapping[str, Span] | Undecided
    """Log-probabilities of the labels."""

    @property
    def order(self) -> Order:
        return self.trial.presentation.order

    @property
    def words(self) -> str:
        return (self.response.text or "") if self.response else ""

    @property
    def mirrored(self) -> bool:
        """Whether both candidates are the same text, so that both orders are one prompt."""
        return len(set(self.stimulus.candidates)) == 1


Rule = Callable[[Sequence[Heard]], list[Outcome | None]]


def rule_of(scoring_method: ScoringMethodName, *, band: float | None = None) -> Rule:
    """Returns the rule of a scoring method; `band` is the tie band of `order-averaged`."""
    match scoring_method:
        case "text":
            return lambda pair: [heard.outcome for heard in pair]
        case "logprob":
            return lambda pair: [_by_logprob(heard) for heard in pair]
        case "both-orders":
            return lambda pair: _together(pair, [heard.outcome for heard in pair], _agreed)
        case "order-averaged":
            if band is None:
                raise ValueError("the scoring method order-averaged needs a tie band")
            return lambda pair: _together(pair, [_with_labels(h) for h in pair], lambda uv, vu: _averaged(uv, vu, band))
        case _:
            assert_never(scoring_method)


def pair_odds(pair: Sequence[Heard]) -> Span | None:
    """Returns the log-odds of content a against b over both orders; None unless they are known for both."""
    by_order = {heard.order: heard.labels for heard in pair}
    uv, vu = by_order.get(Order.AB), by_order.get(Order.BA)
    if uv is None or vu is None or isinstance(uv, Undecided) or isinstance(vu, Undecided):
        return None
    return content_odds(slot_odds(uv), slot_odds(vu))


def _by_logprob(heard: Heard) -> Outcome | None:
    outcome = _with_labels(heard)
    if not isinstance(outcome, Verdict | Abstained) or isinstance(heard.labels, Undecided):
        return outcome
    label = most_likely(heard.labels)
    if label is None:
        return Unparsed(heard.words, UNKNOWN)
    return Abstained() if label == ABSTAIN else Verdict(Choice(label))


def _with_labels(heard: Heard) -> Outcome | None:
    """Returns what the parser reads, or why the labels are unknown."""
    if isinstance(heard.outcome, Verdict | Abstained) and isinstance(heard.labels, Undecided):
        return Unparsed(heard.words, heard.labels.why)
    return heard.outcome


def _together(
    pair: Sequence[Heard],
    outcomes: Sequence[Outcome | None],
    judge: Callable[[Heard, Heard], Content | Outcome],
) -> list[Outcome | None]:
    """Gives both orders one verdict, or neither of them any."""
    if len(pair) == 1 and pair[0].mirrored:
        # The other order is the same prompt, so it would name the same position there: each content once.
        return [Verdict(Choice.TIE) if isinstance(outcomes[0], Verdict) else outcomes[0]]
    if {heard.order for heard in pair} != {Order.AB, Order.BA}:
        return [_or_why(heard, outcome, ALONE) for heard, outcome in zip(pair, outcomes, strict=True)]
    if not all(isinstance(outcome, Verdict | Abstained) for outcome in outcomes):
        return [_or_why(heard, outcome, OTHER) for heard, outcome in zip(pair, outcomes, strict=True)]
    by_order = {heard.order: heard for heard in pair}
    verdict = judge(by_order[Order.AB], by_order[Order.BA])
    return [_in_slot(verdict, heard) for heard in pair]


def _or_why(heard: Heard, outcome: Outcome | None, why: str) -> Outcome | None:
    return Unparsed(heard.words, why) if isinstance(outcome, Verdict | Abstained) else outcome


def _agreed(uv: Heard, vu: Heard) -> Content | Outcome:
    named = {_content(uv), _content(vu)}
    if named == {None}:
        return Abstained()
    return "a" if named == {"a"} else "b" if named == {"b"} else "tie"


def _content(heard: Heard) -> Content | None:
    """Returns the content that was named, mapped back from its position; None for an abstention."""
    match heard.outcome:
        case Verdict(value=Choice.TIE):
            return "tie"
        case Verdict(value=value):
            return "a" if (value == Choice.POSITION_1) == (heard.order is Order.AB) else "b"
        case Abstained() | Unparsed() | Failed() | None:
            return None


def _averaged(uv: Heard, vu: Heard, band: float) -> Content | Outcome:
    odds = pair_odds([uv, vu])
    content = None if odds is None else preferred(odds, band=band)
    return Unparsed("", UNKNOWN) if content is None else content


def _in_slot(verdict: Content | Outcome, heard: Heard) -> Outcome:
    """Returns the verdict as an answer to one order."""
    match verdict:
        case "tie":
            return Verdict(Choice.TIE)
        case "a" | "b":
            return Verdict(Choice.POSITION_1 if (verdict == "a") == (heard.order is Order.AB) else Choice.POSITION_2)
        case Unparsed(why=why):
            return Unparsed(heard.words, why)
        case Verdict() | Abstained() | Failed():
            return verdict


ROWS_AT_A_TIME = 2000

NOT_ASKED = Undecided("it was not asked")


@dataclass(frozen=True, slots=True)
class HeardRun:
    """A run that was read by its parser, and whose responses can be read again."""

    text: ReadRun
    """As the parser reads it."""
    now: RunSnapshot
    """Of the responses that it has read."""

    def pairs(self) -> Iterator[list[Heard]]:
        """Yields the presentations of each pair."""
        return paired(self._heard())

    def _heard(self) -> Iterator[Heard]:
        run, labels, read = self.text.run, LabelReader(self.text.run.judge), reader_of(self.text.run.judge)
        for shard, responses in self.now.walk():
            for trial, part in run.store.plan_shard(shard):
                response = responses.get(trial.id)
                outcome = read(response, trial.presentation) if response else None
                odds = labels.read(response, outcome, trial.presentation.layout) if response and outcome else NOT_ASKED
                yield Heard(trial, run.stimuli.part(part)[trial.stimulus_id], response, outcome, odds)


def paired(heard: Iterable[Heard]) -> Iterator[list[Heard]]:
    """Yields the presentations of each pair, from all of them in the order of the plan."""
    # The presentations of a stimulus are adjacent in the plan, though perhaps in two shards.
    for _, group in groupby(heard, key=lambda one: one.stimulus.id):
        pairs: dict[Presentation, list[Heard]] = {}
        for one in group:
            pairs.setdefault(one.trial.presentation.pair, []).append(one)
        yield from pairs.values()


def rewrite_judgments(heard: HeardRun, rule: Rule, path: Path, *, tasks: Collection[str]) -> ReadRun:
    """Writes the judgments of `tasks` as a scoring method reads them, in the same form; returns them as a run.

    They are not counted yet: the tallies are still those of the scoring method `text`.
    """
    failures = FailureKeeper(None)
    reading = replace(heard.text.reading, judgments=path, planned=0, unasked=0, trouble=Counter(), examples={})

    def rewritten() -> Iterator[dict[str, Any]]:
        for pair in heard.pairs():
            if pair[0].stimulus.cluster not in tasks:
                continue
            for one, outcome in zip(pair, rule(pair), strict=True):
                reading.add(outcome)
                failures.see(one.trial, one.stimulus, outcome, one.response)
                yield judgment_row(one.trial, one.stimulus, outcome, None, FACTS)

    rows = rewritten()
    with row_writer(path, judgment_schema(FACTS.columns)) as write:
        while chunk := list(islice(rows, ROWS_AT_A_TIME)):
            write(chunk)
    return replace(heard.text, reading=reading, failures=failures.failures())


def band_of(pairs: Iterable[Sequence[Heard]], *, variant: str, tasks: Collection[str], target: float) -> float | str:
    """Returns the narrowest tie band that meets the target both on equal pairs and on vacuum, or why there is none."""
    odds = equal_pair_odds(pairs, variant=variant, tasks=tasks)
    if not odds["equal"]:
        return "no equal pair of the selection tasks has log-odds in both orders, so no tie band can be set"
    # A value of which only a bound is known may be as large as that bound.
    band = max(tie_band([one.largest for one in found], target=target) for found in odds.values() if found)
    return (
        band
        if isfinite(band)
        else "too many log-odds have no bound, so no tie band can be set: record more top_logprobs"
    )


def equal_pair_odds(pairs: Iterable[Sequence[Heard]], *, variant: str, tasks: Collection[str]) -> dict[str, list[Span]]:
    """Returns the log-odds of pairs with nothing to prefer, by family: `equal`, and `blank` in two orders.

    Pairs whose log-odds are unknown are left out.
    """
    found: dict[str, list[Span]] = {"equal": [], "blank": []}
    for heard in pairs:
        stimulus = heard[0].stimulus
        if (
            stimulus.family not in found
            or stimulus.cluster not in tasks
            or heard[0].trial.presentation.variant != variant
        ):
            continue
        if (odds := pair_odds(heard)) is not None:
            found[stimulus.family].append(odds)
    return found


MORE_OFTEN_THAN_NOT = 0.5


def recommend(rows: Sequence[ScoringMethodRow], *, target: float) -> Recommendation:
    """Returns the acceptable scoring method with the best sensitivity, all on the tasks for choosing."""
    made = [row for row in rows if not row.why_not]
    fit = [row for row in made if _is_acceptable(row, target) and _largest(row) > MORE_OFTEN_THAN_NOT]
    if not fit:
        return Recommendation(scoring_method=None, sentences=_none(made, target), rule=_rule(target))
    # Of equally good scoring methods the first is the simplest.
    best = max(fit, key=_sensitivity)
    return Recommendation(scoring_method=best.name, sentences=_said(best, made, target), rule=_rule(target))


def _is_acceptable(row: ScoringMethodRow, target: float) -> bool:
    return all(rate is not None and rate <= target for rate in (_false(row, name) for name in FALSE))


def _false(row: ScoringMethodRow, name: str) -> float | None:
    """Returns the rate, counting whatever has no verdict as a false preference."""
    measure = measure_in(row.chosen_on, name, "")
    if measure is None or not isinstance(measure.result, Estimate):
        # If a vacuum pair is one prompt in both orders, such a scoring method names no winner; an unanswered one is
        # open.
        unanswered = measure is not None and measure.result.excluded
        return 0.0 if row.pairwise and name == "dark-current" and not unanswered else None
    return measure.result.bounds[1] if measure.result.bounds else measure.result.value


def _seen(row: ScoringMethodRow) -> dict[float, float]:
    """Returns sensitivity by step, counting whatever has no verdict as not seen. Skips a step of a single task."""
    found = {}
    for measure in row.chosen_on:
        result = measure.result
        if measure.name != SEEN:
            continue
        if isinstance(result, Estimate):
            found[float(measure.stratum)] = result.bounds[0] if result.bounds else result.value
        elif result.excluded:
            found[float(measure.stratum)] = 0.0
    return found


def _sensitivity(row: ScoringMethodRow) -> float:
    seen = _seen(row)
    return sum(seen.values()) / len(seen) if seen else 0.0


def _largest(row: ScoringMethodRow) -> float:
    seen = _seen(row)
    return seen[max(seen)] if seen else 0.0


def _rule(target: float) -> list[str]:
    return [
        (
            f"Acceptable: false preference and blank-input preference are both at most {numbers.level(target)} on the "
            "selection tasks, and accuracy at the largest difference is above 50%."
        ),
        "Best: the highest mean accuracy over all differences, on the same tasks. If several are equal, the simplest.",
        "A missing verdict counts against a scoring method in both.",
        "The results of the selected method are from the held-out tasks only.",
    ]


def _none(made: Sequence[ScoringMethodRow], target: float) -> list[str]:
    said = [
        (
            "No scoring method is acceptable on the selection tasks: none has false preferences of at most "
            f"{numbers.level(target)} and an accuracy above 50% at the largest difference."
        )
    ]
    rates = {row.name: _false(row, FALSE[0]) for row in made}
    known = [row for row in made if rates[row.name] is not None]
    if known:
        least = min(known, key=lambda row: (rates[row.name] or 0.0, -_sensitivity(row)))
        step = f"{max(_seen(least), default=0.0):g}"
        said.append(
            f"Of these, {least.name} has the lowest false preference on equal pairs, "
            f"{_words(least.chosen_on, FALSE[0], '')}. Its accuracy{at(step)} is {_words(least.chosen_on, SEEN, step)}."
        )
    return said


def _said(best: ScoringMethodRow, made: Sequence[ScoringMethodRow], target: float) -> list[str]:
    shown = [key for key in shown_measures(made) if key[0] != "tie-rate"]
    parts = "; ".join(_named(best, name, stratum) for name, stratum in shown)
    said = [
        (
            f"Use the scoring method {best.name}. Of the acceptable ones, it has the highest accuracy on the selection "
            f"tasks: {numbers.rate(_sensitivity(best))} over all differences."
        ),
        f"On the held-out tasks: {parts}.",
    ]
    measure = measure_in(best.reported_on, FALSE[0], "")
    if measure and isinstance(measure.result, Estimate) and measure.result.interval:
        low, high = measure.result.interval.low or 0.0, measure.result.interval.high
        if low > target:
            said.append(f"There it misses the target of {numbers.level(target)}, so the selection did not hold.")
        elif high is None or high > target:
            said.append(f"Whether it meets the target of {numbers.level(target)} there is inconclusive at this size.")
    return said


def _named(row: ScoringMethodRow, name: str, stratum: str) -> str:
    measure = measure_in(row.reported_on, name, stratum)
    title = (measure.title if measure else name).lower()
    return f"{title}{at(stratum)} {_words(row.reported_on, name, stratum)}"


def _words(measures: Sequence[MeasureRecord], name: str, stratum: str) -> str:
    measure = measure_in(measures, name, stratum)
    if measure is None:
        return "not measured"
    if not isinstance(measure.result, Estimate):
        return f"undefined ({measure.result.reason})"
    return numbers.measured(measure, measure.result)
