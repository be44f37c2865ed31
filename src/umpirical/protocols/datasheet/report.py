"""Makes the datasheet record from the responses of a run. Makes no calls, and needs no key."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from umpirical.domain.judgments import Outcome
from umpirical.domain.measures import Measure
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import TIER_2, Stimulus
from umpirical.domain.tallies import CallTally, GradeTally, Tallies
from umpirical.domain.trials import Trial
from umpirical.judges.simulated.comparer import GradedPair, planted_grades, planted_values
from umpirical.judges.simulated.model import profile_of
from umpirical.judges.simulated.profiles import GraderProfile, Profile
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import MeasureSpec, measure_all
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.protocols.datasheet.examples import Failure, FailureKeeper, example_records
from umpirical.protocols.datasheet.findings import find
from umpirical.protocols.datasheet.policy_files import preset
from umpirical.protocols.datasheet.profile import sketch
from umpirical.protocols.datasheet.record import Datasheet, ExampleRecord, GradeRow, StimuliRecord
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.reports.audit import audit_rows
from umpirical.reports.decision import decide
from umpirical.reports.facts import judge_record, reasoning_record, run_record, spend_record, trouble_records
from umpirical.reports.limits import hold_limits
from umpirical.reports.policy import Policy
from umpirical.reports.record import (
    AuditRow,
    JudgeRecord,
    MeasureRecord,
    Planted,
    ReasoningRecord,
    RunRecord,
    SpendRecord,
    TroubleRecord,
    measure_record,
)
from umpirical.reports.smallest_differences import smallest_differences
from umpirical.runs.judgments import Reading, Seen, read_judgments
from umpirical.runs.run import Run
from umpirical.store.snapshots import RunSnapshot
from umpirical.store.stimulus_sets import StimulusSet

MOST_EXAMPLES = 12
"""How many failures are shown; the responses hold them all."""

LONGEST_TEXT = 1_500
"""How many characters of a task, a candidate or an answer are shown."""

NON_CLAIMS = [
    "Quality here means requirements met in constructed answers; it is not natural answer quality.",
    "The measures describe this judge with this prompt and these settings, not its model in general.",
    "A profile on these stimuli is a description, not a class the judge belongs to.",
    "Nothing here says that the judge agrees with people.",
]


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run that has been read and counted."""

    run: Run
    reading: Reading
    failures: list[Failure]
    """Examples of the judge's failures, in its own words."""
    tallies: Tallies


def read_run(run: Run, now: RunSnapshot | None = None, *, also: Seen | None = None) -> ReadRun:
    """Rereads every response of a run, as it is in a snapshot or now, and counts the judgments.

    `also` is called for every trial as it is read.
    """
    keeper = FailureKeeper(run.judge.scale)

    def see(trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        keeper.see(trial, stimulus, outcome, response)
        if also is not None:
            also(trial, stimulus, outcome, response)

    with read_judgments(run, FACTS, seen=see, now=now) as reading:
        return ReadRun(run, reading, keeper.failures(), tally_judgments(reading.judgments, run.judge.kind))


def datasheet_of_read(read: ReadRun, *, only: Collection[str] | None = None) -> Datasheet:
    """Measures a judge whose answers have been counted; `only` are the names of the measures to take, if not all."""
    run, reading, tallies = read.run, read.reading, read.tallies
    return assemble(
        judge_record(run, reading),
        run_record(run, reading, tallies),
        measure_all(tallies, kind=run.judge.kind, protocol="datasheet", only=only),
        tallies.calls,
        trouble_records(reading),
        reasoning=reasoning_record(reading),
        planted=_planted(run.judge, run.stimuli),
        stimuli=stimuli_record(run.stimuli, run.manifest.get("gates", [])),
        spend=spend_record(read.run, reading.spent),
        examples=example_records(read.failures),
        # Levels of tier 2 are numbers of claims: no chart may show them beside requirements.
        grades=[tally for tally in tallies.grades if tally.family not in TIER_2],
        policy=policy_of(run),
    )


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
    planted: Planted,
    reasoning: ReasoningRecord | None = None,
    stimuli: StimuliRecord | None = None,
    spend: SpendRecord | None = None,
    examples: Sequence[ExampleRecord] = (),
    grades: Iterable[GradeTally] = (),
    policy: Policy | None = None,
) -> Datasheet:
    """Assembles the datasheet of one run; a policy draws the conclusions from its measures."""
    audit = _audit(calls)
    sheet = Datasheet(
        judge=judge,
        run=run,
        complete=not any(row.unasked for row in audit),
        measures=[measure_record(spec, measure, planted) for spec, measure in measured],
        audit=audit,
        trouble=trouble,
        reasoning=reasoning,
        findings=[],
        non_claims=NON_CLAIMS,
        stimuli=stimuli,
        spend=spend,
        examples=[_shortened(example) for example in examples[:MOST_EXAMPLES]],
        grades=_grades(grades),
    )
    return held_to(sheet, policy or preset())


def held_to(sheet: Datasheet, policy: Policy) -> Datasheet:
    """Returns a datasheet with the limits, the decision and the findings of a policy."""
    arms = dict.fromkeys([*sheet.run.arms, *(measure.arm for measure in sheet.measures)])
    limits = hold_limits(policy, sheet.judge.kind, sheet.measures, arms, grades=sheet.judge.grades)
    decision = decide(
        policy,
        limits,
        complete=sheet.complete,
        gates=sheet.stimuli.gates if sheet.stimuli else (),
        not_measured=_not_measured(sheet.judge, sheet.run, sheet.measures, sheet.spend),
    )
    return sheet.model_copy(
        update={
            "policy": policy,
            "limits": limits,
            "smallest_differences": smallest_differences(sheet.measures, limits, rule="bound"),
            "decision": decision,
            "findings": find(sheet.measures, limits),
            "profile": sketch(sheet.measures, limits),
        }
    )


def _not_measured(
    judge: JudgeRecord, run: RunRecord, measures: Sequence[MeasureRecord], spend: SpendRecord | None
) -> list[str]:
    """Returns what a reader may take for granted although it was not measured."""
    said = []
    if run.repeats < 2:
        said.append("Repeatability: everything was asked once.")
    if judge.kind == "compare" and len({measure.arm for measure in measures}) < 2:
        said.append("Criterion shift: only one prompt was used.")
    if spend is not None and spend.budget is not None and spend.cost is None:
        said.append("Cost: what some calls cost is not known, only the most that it can have been.")
    elif spend is None or spend.cost is None:
        said.append("Cost: no price is known.")
    return [*said, "Agreement with people, and answers that were not constructed."]


def _shortened(example: ExampleRecord) -> ExampleRecord:
    texts = {name: _cut(getattr(example, name)) for name in ("task", "candidate_u", "candidate_v")}
    answers = [answer.model_copy(update={"words": _cut(answer.words)}) for answer in example.answers]
    return example.model_copy(update={**texts, "answers": answers})


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} […]"


def _grades(tallies: Iterable[GradeTally]) -> list[GradeRow]:
    """Adds up the grades of all tasks."""
    sums: dict[tuple[str, str, float, float], int] = {}
    for tally in tallies:
        key = (tally.arm, tally.family, tally.level, tally.score)
        sums[key] = sums.get(key, 0) + tally.answers
    return [
        GradeRow(arm=arm, family=family, level=level, score=score, answers=answers)
        for (arm, family, level, score), answers in sorted(sums.items())
    ]


def _audit(calls: Iterable[CallTally]) -> list[AuditRow]:
    """Sorts the audit: vacuum first, then by step."""
    return sorted(audit_rows(calls), key=lambda row: (row.arm, row.family != "vacuum", row.delta or 0.0, row.stratum))


def _planted(judge: JudgeSpec, stimuli: StimulusSet) -> Planted:
    """Returns the values that the measures of a simulated judge should have; empty for any other judge."""
    profile = profile_of(judge)
    if profile is None:
        return {}
    pairs = [GradedPair(s.cluster, s.base or 0.0, s.delta or 0.0) for s in stimuli if s.family in ("delta0", "ladder")]
    if {pair.delta > 0 for pair in pairs} != {False, True}:
        return {}
    if isinstance(profile, GraderProfile) and judge.scale is not None:
        grades = planted_grades(profile, judge.scale, pairs)
        return {(arm, *key): value for arm in judge.prompts for key, value in grades.items()}
    if not isinstance(profile, Profile):
        return {}
    steps = sorted({pair.delta for pair in pairs if pair.delta})
    return {(arm, *key): value for arm in judge.prompts for key, value in planted_values(profile, steps, arm).items()}
