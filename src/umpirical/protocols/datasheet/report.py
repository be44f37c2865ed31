"""Makes the datasheet record from the responses of a run. Makes no calls, and needs no key.

Also collects examples of the judge's failures, in its own words, and states what the measures say.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from umpirical.domain.judgments import Outcome, Verdict
from umpirical.domain.measures import Measure
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.domain.stimuli import TIER_2, Family, GivenWinner, Stimulus
from umpirical.domain.tallies import CallTally, GradeTally, Tallies
from umpirical.domain.trials import Order, Trial
from umpirical.judges.simulated.comparer import GradedPair, true_grades, true_values
from umpirical.judges.simulated.model import profile_of
from umpirical.judges.simulated.profiles import GraderProfile, Profile
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import MEASURES, MeasureSpec, measure_all
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.protocols.datasheet.findings import find, sketch
from umpirical.protocols.datasheet.record import AnswerRecord, Datasheet, ExampleRecord, GradeRow, StimuliRecord
from umpirical.protocols.datasheet.spec import preset
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.reports import numbers
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import VerdictRecord, decide
from umpirical.reports.facts import (
    audit_rows,
    judge_record,
    reasoning_record,
    run_record,
    spend_record,
    trouble_records,
)
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    AuditRow,
    JudgeRecord,
    MeasureRecord,
    ReasoningRecord,
    RunRecord,
    SpendRecord,
    TroubleRecord,
    TrueValues,
    measure_record,
    part_record,
    why_unfinished,
)
from umpirical.reports.smallest_differences import smallest_differences
from umpirical.runs.judgments import Reading, Seen, read_judgments
from umpirical.runs.run import Run
from umpirical.store.memory import remembered
from umpirical.store.snapshots import RunSnapshot
from umpirical.store.stimulus_sets import StimulusSet

KEPT = 3
"""How many failures of each kind are kept."""

LONGEST = 1000
"""How many characters of an answer are kept."""


@dataclass(slots=True)
class FailureKeeper:
    """Sees every answer in the order of the plan, in which the presentations of a stimulus are adjacent."""

    scale: GradeScale | None
    """The scale of a `grade` judge."""
    _kept: dict[str, list[ExampleRecord]] = field(default_factory=lambda: defaultdict(list))
    _stimulus: Stimulus | None = None
    _open: dict[tuple[str, int], list[AnswerRecord]] = field(default_factory=dict)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        if self._stimulus is not None and stimulus.id != self._stimulus.id:
            self._close()
        self._stimulus = stimulus
        if isinstance(outcome, Verdict):
            way = trial.presentation
            words = (response.text or "")[:LONGEST] if response else ""
            said = _said(outcome, way.order)
            answered = AnswerRecord(order=way.order.value, repeat=way.repeat, said=said, words=words)
            self._open.setdefault((way.variant, way.repeat), []).append(answered)

    def failures(self) -> list[ExampleRecord]:
        """Returns the worst of each kind, with kinds in alphabetical order."""
        self._close()
        return [example for name in sorted(self._kept) for example in self._kept[name]]

    def _close(self) -> None:
        stimulus, asked = self._stimulus, self._open
        self._stimulus, self._open = None, {}
        for (variant, _), answers in asked.items():
            assert stimulus is not None  # noqa: S101  # something was asked about it
            if measure := self._failed(stimulus, answers):
                kept = self._kept[measure]
                kept.append(_example(measure, stimulus, variant, answers))
                # The larger the difference that was missed, the worse.
                kept.sort(key=lambda example: -(example.delta or 0.0))
                del kept[KEPT:]

    def _failed(self, stimulus: Stimulus, answers: list[AnswerRecord]) -> str | None:
        if stimulus.family in TIER_2:
            # A datasheet must not disclose the user's own answers; once published, they could not be used again either.
            return None
        if self.scale is not None:
            return self._failed_to_grade(stimulus, answers, self.scale)
        named = [answer.said for answer in answers if answer.said in ("a", "b")]
        if stimulus.family == "blank":
            return "dark-current" if named else None
        if isinstance(stimulus.expectation, GivenWinner):
            lesser = "b" if stimulus.expectation.candidate == 0 else "a"
            measure = "conflict-loss" if stimulus.family == "conflict" else "target-sensitivity"
            return measure if lesser in named else None
        if stimulus.family != "equal" or len(named) < 2:
            return None
        return "stable-cross-sensitivity" if len(set(named)) == 1 else "positional-false-preference"

    def _failed_to_grade(self, stimulus: Stimulus, answers: list[AnswerRecord], scale: GradeScale) -> str | None:
        scores = {answer.order: scale.score(answer.said) or 0.0 for answer in answers}
        if stimulus.family == "blank":
            return "dark-current" if any(score > 0 for score in scores.values()) else None
        # No measure counts how grades trade quality against length.
        if len(scores) < 2 or stimulus.family == "conflict" or not isinstance(stimulus.expectation, GivenWinner):
            return None
        lead = scores[Order.AB] - scores[Order.BA]
        return "target-sensitivity" if (lead < 0) == (stimulus.expectation.candidate == 0) and lead else None


def _example(measure: str, stimulus: Stimulus, variant: str, answers: list[AnswerRecord]) -> ExampleRecord:
    return ExampleRecord(
        measure=measure,
        variant=variant,
        family=stimulus.family,
        stratum=stimulus.stratum,
        delta=stimulus.delta,
        task_id=stimulus.task_id,
        task=stimulus.task,
        candidate_a=stimulus.candidates[0],
        candidate_b=stimulus.candidates[-1],
        expectation=_expected(stimulus),
        answers=answers,
    )


def _expected(stimulus: Stimulus) -> str:
    if isinstance(stimulus.expectation, GivenWinner):
        return f"answer {'AB'[stimulus.expectation.candidate]} is better"
    return "neither answer is better"


def _said(verdict: Verdict, order: Order) -> str:
    """Returns the content that was named, mapped back from its position; or the grade."""
    # A grade may also be called 1 or 2: only the type distinguishes it from a position.
    if not isinstance(verdict.value, Choice) or verdict.value is Choice.TIE:
        return str(verdict.value)
    return order.value[0 if verdict.value is Choice.POSITION_1 else 1]


# Makes the datasheet record from the responses of a run. Makes no calls, and needs no key.


MOST_EXAMPLES = 12
"""How many failures are shown; the responses hold them all."""

LONGEST_TEXT = 1_500
"""How many characters of a task, a candidate or an answer are shown."""

NON_CLAIMS = [
    "Quality here means requirements met in constructed answers; it is not natural answer quality.",
    "The measures describe this judge with this prompt and these settings, not its model in general.",
    "A profile describes the judge on these test cases. It does not put the judge in a class.",
    "Nothing here shows that the judge agrees with people.",
]


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run that has been read and counted."""

    run: Run
    reading: Reading
    failures: list[ExampleRecord]
    """Examples of the judge's failures, in its own words."""
    tallies: Tallies


def read_run(
    run: Run,
    now: RunSnapshot | None = None,
    *,
    also: Seen | None = None,
    only: Collection[str] | None = None,
    keep: bool = True,
) -> ReadRun:
    """Rereads every response of a run, as it is in a snapshot or now, and counts the judgments.

    `also` is called for every trial as it is read. `only` are the ids of the stimuli to count, if not all. Without
    `keep`, nothing is written to the run.
    """
    keeper = FailureKeeper(run.judge.scale)

    def see(trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        keeper.see(trial, stimulus, outcome, response)
        if also is not None:
            also(trial, stimulus, outcome, response)

    with read_judgments(run, FACTS, seen=see, now=now, only=only, keep=keep) as reading:
        return ReadRun(run, reading, keeper.failures(), tally_judgments(reading.judgments, run.judge.kind))


def shared_tallies(first: ReadRun, second: ReadRun) -> tuple[Tallies, Tallies, int | None]:
    """Counts what two judges were both asked, and returns the number of these test cases too.

    Runs that stop when they are decided ask different numbers of them. None if both were asked the same.
    """
    runs = [first.run, second.run]
    if not any("looks" in run.manifest for run in runs) or runs[0].asked() == runs[1].asked():
        return first.tallies, second.tallies, None
    both = runs[0].asked() & runs[1].asked()
    one, other = (read_run(run, only=both, keep=False).tallies for run in runs)
    return one, other, len(both)


def datasheet_of_read(read: ReadRun, *, only: Collection[str] | None = None) -> Datasheet:
    """Measures a judge whose answers have been counted; `only` are the names of the measures to take, if not all."""
    run, reading, tallies = read.run, read.reading, read.tallies
    return assemble(
        judge_record(run, reading),
        run_record(run, reading, tallies),
        _measured(tallies, run.judge.kind, only),
        tallies.calls,
        trouble_records(reading),
        reasoning=reasoning_record(reading),
        true_value=_true_value(run.judge, run.stimuli),
        stimuli=stimuli_record(run.stimuli, run.manifest.get("gates", [])),
        spend=spend_record(read.run, reading.spent),
        examples=read.failures,
        grades=tallies.grades,
        policy=policy_of(run),
    )


BEHIND_MEASURES = ("umpirical.domain", "umpirical.stats", "umpirical.measures")
"""Packages that decide what a measure comes to."""


def _measured(tallies: Tallies, kind: JudgeKind, only: Collection[str] | None) -> list[tuple[MeasureSpec, Measure]]:
    """Every measure of the counts. To fit the signal model takes a second: once, for counts that do not change."""
    specs = {spec.name: spec for spec in MEASURES if spec.is_for(kind, "datasheet")}

    def compute() -> list[Measure]:
        return [measure for _, measure in measure_all(tallies, kind=kind, protocol="datasheet", only=only)]

    # What a plugin computes may depend on anything.
    if only is None and all(spec.compute.__module__.startswith("umpirical.") for spec in specs.values()):
        found = remembered("measures", f"{kind} {tallies!r}", BEHIND_MEASURES, TypeAdapter(list[Measure]), compute)
    else:
        found = compute()
    return [(specs[measure.name], measure) for measure in found]


def policy_of(run: Run) -> Policy:
    """Returns the policy that a run was made for."""
    said = run.manifest.get("policy")
    return preset() if said is None else Policy.model_validate(said)


def assemble(  # noqa: PLR0913  # the parts of a datasheet, each once
    judge: JudgeRecord,
    run: RunRecord,
    measured: Sequence[tuple[MeasureSpec, Measure]],
    calls: Iterable[CallTally],
    trouble: list[TroubleRecord],
    *,
    true_value: TrueValues,
    reasoning: ReasoningRecord | None = None,
    stimuli: StimuliRecord | None = None,
    spend: SpendRecord | None = None,
    examples: Sequence[ExampleRecord] = (),
    grades: Iterable[GradeTally] = (),
    policy: Policy | None = None,
) -> Datasheet:
    """Assembles the datasheet of one run; a policy draws the conclusions from its measures."""
    sheet = Datasheet(
        judge=judge,
        run=run,
        **_counted(run, measured, calls, grades, true_value),
        trouble=trouble,
        reasoning=reasoning,
        findings=[],
        non_claims=NON_CLAIMS,
        stimuli=stimuli,
        spend=spend,
        examples=[_shortened(example) for example in examples[:MOST_EXAMPLES]],
    )
    return held_to(sheet, policy or preset())


def _counted(
    run: RunRecord,
    measured: Sequence[tuple[MeasureSpec, Measure]],
    calls: Iterable[CallTally],
    grades: Iterable[GradeTally],
    true_value: TrueValues,
) -> dict[str, Any]:
    """Returns the parts of a datasheet that follow from the judgments."""
    audit = _audit(calls)
    return {
        "complete": not any(row.unasked for row in audit),
        "measures": [
            measure_record(spec, measure, true_value, anytime=bool(run.looks))
            for spec, measure in measured
            if not measure.group
        ],
        "parts": [part_record(spec, measure) for spec, measure in measured if measure.group],
        "audit": audit,
        # Levels of tier 2 are numbers of claims: no chart may show them beside requirements.
        "grades": _grades(tally for tally in grades if tally.family not in TIER_2),
    }


def recounted(sheet: Datasheet, judgments: Path) -> Datasheet:
    """Returns a datasheet with everything that follows from judgments counted again from these."""
    tallies = tally_judgments(judgments, sheet.judge.kind)
    planted = {(one.variant, one.name, one.stratum): one.true_value for one in sheet.measures}
    known = {key: value for key, value in planted.items() if value is not None}
    measured = _measured(tallies, sheet.judge.kind, None)
    again = sheet.model_copy(update=_counted(sheet.run, measured, tallies.calls, tallies.grades, known))
    return held_to(again, sheet.policy or preset())


def held_to(sheet: Datasheet, policy: Policy) -> Datasheet:
    """Returns a datasheet with the checks, the decision and the findings of a policy.

    No other policy, and no comparison, forgets how often one has looked at this judge.
    """
    if sheet.policy is not None:
        policy = policy.at_look(max(policy.look, sheet.policy.look))
    variants = dict.fromkeys([*sheet.run.variants, *(measure.variant for measure in sheet.measures)])
    measures = [*sheet.measures, *sheet.parts]
    checks = hold_checks(policy, sheet.judge.kind, measures, variants, grades=sheet.judge.grades, looks=sheet.run.looks)
    decision = decide(
        policy,
        checks,
        unfinished=why_unfinished(complete=sheet.complete, audit=sheet.audit),
        gates=sheet.stimuli.gates if sheet.stimuli else (),
        not_measured=_not_measured(sheet.judge, sheet.run, sheet.measures, sheet.spend),
    )
    return sheet.model_copy(
        update={
            "policy": policy,
            "checks": checks,
            # What could have been seen says nothing of a run that asks until it has seen enough.
            "smallest_differences": []
            if sheet.run.looks
            else smallest_differences(sheet.measures, checks, rule="bound"),
            "decision": decision,
            "findings": [*find(sheet.measures, checks), *_stopped(sheet.run, decision)],
            "profile": sketch(sheet.measures, checks),
        }
    )


def _stopped(run: RunRecord, decision: VerdictRecord) -> Iterator[str]:
    """Says why a run that is asked in rounds ended where it did."""
    if run.looks:
        calls = f"{numbers.count(run.trials)} calls"
        reached = decision.verdict != "not-enough-data"
        yield (
            f"It stopped after {calls}, when the verdict was reached."
            if reached
            else f"It is still open after {calls}."
        )


def _not_measured(
    judge: JudgeRecord, run: RunRecord, measures: Sequence[MeasureRecord], spend: SpendRecord | None
) -> list[str]:
    """Returns what a reader may take for granted although it was not measured."""
    said = []
    if run.repeats < 2:
        said.append("Repeatability: each question was asked only once.")
    if judge.kind == "compare" and len({measure.variant for measure in measures}) < 2:
        said.append("Effect of the prompt: only one prompt variant was used.")
    if longest := max((_times_as_long(one.stratum) for one in measures if one.name == "conflict-loss"), default=0):
        said.append(f"Larger length differences: no answer was more than about {longest:g} times as long as the other.")
    if spend is not None and spend.budget is not None and spend.cost is None:
        said.append("Cost: the cost of some calls is unknown; only an upper limit is known.")
    elif spend is None or spend.cost is None:
        said.append("Cost: the price is unknown.")
    return [*said, *NOT_SHOWN]


NOT_SHOWN = (
    "Agreement with people, and answers that were not constructed.",
    "Memorization: the test cases are public, so a model may have learned the right answers.",
    "Evaluation awareness: a model may notice the test and judge differently in production.",
)
"""What no built-in set can show. Only labels on the user's own data can."""


def _times_as_long(amount: str) -> float:
    """Reads how long the longer answer of a pair is from the part it belongs to: 3 from `+200%`; 0 from no amount."""
    return 1 + float(amount.strip("+%")) / 100 if amount else 0


def _shortened(example: ExampleRecord) -> ExampleRecord:
    texts = {name: _cut(getattr(example, name)) for name in ("task", "candidate_a", "candidate_b")}
    answers = [answer.model_copy(update={"words": _cut(answer.words)}) for answer in example.answers]
    return example.model_copy(update={**texts, "answers": answers})


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} […]"


def _grades(tallies: Iterable[GradeTally]) -> list[GradeRow]:
    """Adds up the grades of all tasks."""
    sums: dict[tuple[str, str, float, float], int] = {}
    for tally in tallies:
        key = (tally.variant, tally.family, tally.level, tally.score)
        sums[key] = sums.get(key, 0) + tally.answers
    return [
        GradeRow(variant=variant, family=family, level=level, score=score, answers=answers)
        for (variant, family, level, score), answers in sorted(sums.items())
    ]


def _audit(calls: Iterable[CallTally]) -> list[AuditRow]:
    """Sorts the audit: vacuum first, then by step."""
    return sorted(
        audit_rows(calls), key=lambda row: (row.variant, row.family != "blank", row.delta or 0.0, row.stratum)
    )


def _true_value(judge: JudgeSpec, stimuli: StimulusSet) -> TrueValues:
    """Returns the values that the measures of a simulated judge should have; empty for any other judge."""
    profile = profile_of(judge)
    if profile is None:
        return {}
    pairs, fine = (
        [GradedPair(s.cluster, s.base or 0.0, s.delta or 0.0) for s in stimuli if s.family in families]
        for families in ((Family.EQUAL, Family.GRADED), (Family.FINE,))
    )
    if {pair.delta > 0 for pair in pairs} != {False, True}:
        return {}
    if isinstance(profile, GraderProfile) and judge.scale is not None:
        grades = true_grades(profile, judge.scale, pairs, fine)
        return {(variant, *key): value for variant in judge.prompts for key, value in grades.items()}
    if not isinstance(profile, Profile):
        return {}
    steps, small = (sorted({pair.delta for pair in shown if pair.delta}) for shown in (pairs, fine))
    return {
        (variant, *key): value
        for variant in judge.prompts
        for key, value in true_values(profile, steps, variant, fine=small).items()
    }
