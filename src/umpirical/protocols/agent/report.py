"""Makes the report of an agent run from its responses. Makes no calls, and needs no key."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.stimuli import ORIGINAL, GivenWinner, Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.domain.transcripts import transcript_from_text
from umpirical.domain.trials import Trial
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.agent.counting import WorstLevel, WorstText, agent_counts
from umpirical.protocols.agent.decision import decide, findings, limits_of
from umpirical.protocols.agent.levels import level_findings, level_items
from umpirical.protocols.agent.pair_counting import WorstPair, pair_counts
from umpirical.protocols.agent.pairs import EDITED
from umpirical.protocols.agent.record import (
    AgentMeasure,
    AgentReport,
    EditRecord,
    LevelItem,
    MessageChange,
    TranscriptsRecord,
    WrongPair,
    WrongText,
)
from umpirical.protocols.agent.rewriting import ABOUT_REWRITTEN, AS_FOUND, AS_FOUND_LEVELS
from umpirical.reports.audit import audit_rows
from umpirical.reports.facts import judge_record, reasoning_record, run_record, spend_record, trouble_records
from umpirical.reports.record import measure_record
from umpirical.reports.smallest_differences import smallest_differences
from umpirical.runs.judgments import Facts, read_judgments
from umpirical.runs.run import Run
from umpirical.stimuli.transcripts.cases import ABOUT
from umpirical.stimuli.transcripts.comparison import message_changes
from umpirical.store.stimulus_sets import StimulusSet

LONGEST = 2_000
"""Characters of a message that are kept."""

NON_CLAIMS = (
    """\
The measures are about these transcripts, these rules, this prompt and these settings.
The rules are such as a program can check. A judge that follows them may still misread a policy in a person's words.
An edit by program may leave a trace that no agent would: a judge may notice the edit and not the violation. Under the \
opposite policy the same trace is innocent, so a judge that goes by it is shown by its policy-blind verdicts.
Parts are looked at one by one, and with many parts some are weak by chance."""
).splitlines()

PAIR_NON_CLAIMS = (
    """\
The measures are about pairs of these transcripts, these rules, this prompt and these settings.
The rules are such as a program can check. A judge that follows them may still misread a policy in a person's words.
The two runs of a pair differ in one edit. Two runs of an agent differ in much else, which may sway a judge more.
An edit by program may leave a trace that no agent would. Under the opposite policy the same trace is innocent, so a \
judge that goes by it is shown by its policy-blind preference.
The candidates are called as the prompt calls them, in one list: a preference for a slot may be one for its label.
Parts are looked at one by one, and with many parts some are weak by chance."""
).splitlines()


def _facts(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:
    better = stimulus.expectation
    return {
        "winner": better.candidate if isinstance(better, GivenWinner) else None,
        "parent": stimulus.parent,
        "quad": stimulus.quad,
        "version": stimulus.version,
        "gold": stimulus.gold,
        "gold_score": scale.score(stimulus.gold) if trial.presentation.levels and scale else None,
        "groups": [f"{name}={value}" for name, value in sorted(stimulus.strata.items())],
    }


FACTS = Facts(
    {
        "winner": "int32",
        "parent": "string",
        "quad": "string",
        "version": "string",
        "gold": "string",
        "gold_score": "double",
        "groups": "list<string>",
    },
    _facts,
)
"""What counting needs to know about a trial on a transcript."""


def agent_report_of(run: Run) -> AgentReport:
    """Rereads every response of a run, and measures."""
    kind, about, stimuli = run.judge.kind, run.manifest["agent"], run.stimuli
    labels: tuple[str, str] | None = None if kind == "compare" else (about["labels"][0], about["labels"][1])
    with read_judgments(run, FACTS) as reading:
        tallies, texts, pairs, levels = _counted(run, reading.judgments, labels)
    measured = measure_all(tallies, kind=kind, protocol="agent")
    measures = [AgentMeasure(group=found.group, **dict(measure_record(spec, found))) for spec, found in measured]
    audit = audit_rows(tallies.calls, by=("arm", "family"))
    complete, limits = not any(row.unasked for row in audit), limits_of(measures, kind)
    made = stimuli.manifest
    return AgentReport(
        judge=judge_record(run, reading),
        run=run_record(run, reading, tallies),
        transcripts=TranscriptsRecord(
            count=made["transcripts"],
            used=len({tally.cluster for tally in tallies.calls}),
            notes=made["notes"],
            skipped=made["skipped"] | (made["unpaired"] if kind == "compare" else {}),
        ),
        labels=labels,
        complete=complete,
        decision=decide(limits, measures, kind, complete=complete),
        limits=limits,
        smallest_differences=smallest_differences([one for one in measures if not one.group], limits),
        edits=_edits(made, kind),
        measures=measures,
        findings=[*findings(measures, kind), *level_findings(levels)],
        levels=levels,
        wrong=list(_wrong(texts, stimuli)),
        wrong_pairs=list(_wrong_pairs(pairs, stimuli)),
        audit=audit,
        trouble=trouble_records(reading),
        reasoning=reasoning_record(reading),
        spend=spend_record(run, reading.spent),
        non_claims=PAIR_NON_CLAIMS if kind == "compare" else NON_CLAIMS,
    )


def _counted(
    run: Run, judgments: Path, labels: tuple[str, str] | None
) -> tuple[Tallies, list[WorstText], list[WorstPair], list[LevelItem]]:
    """Returns all counts, the texts or pairs about which the judge was wrong, and the items graded in levels."""
    if labels is None:
        with pair_counts(judgments) as paired:
            return paired.tallies(), [], paired.worst(), []
    with agent_counts(judgments, labels[0]) as counts:
        tallies = counts.tallies(run.judge.scale or GradeScale("binary", labels))
        asked = run.manifest["agent"].get("levels", {})
        levels = list(level_items(asked, counts, lambda rows: list(_wrong(rows, run.stimuli))))
        return tallies, counts.worst(), [], levels


def _edits(made: Mapping[str, Any], kind: JudgeKind) -> list[EditRecord]:
    """Returns the edits that a judge of this kind was asked about. What models rewrote is for those that grade."""
    if kind == "compare":
        cases, dropped, known = made["pairs"], {}, ABOUT
    else:
        cases, dropped, known = made["cases"], made["dropped"], {**ABOUT, **ABOUT_REWRITTEN}
    return [
        EditRecord(name=name, about=about, cases=cases.get(name, 0), dropped=dropped.get(name, {}))
        for name, about in known.items()
        if name in cases or name in dropped
    ]


def _wrong(rows: Sequence[WorstText | WorstLevel], stimuli: StimulusSet) -> Iterator[WrongText]:
    """Joins the rows with the texts that they are about."""
    wanted = {row.stimulus_id for row in rows} | {row.parent for row in rows}
    found = {stimulus.id: stimulus for stimulus in stimuli if stimulus.id in wanted}
    for row in rows:
        yield _wrong_text(row, found)


def _wrong_text(row: WorstText | WorstLevel, found: Mapping[str, Stimulus]) -> WrongText:
    shown = found[row.stimulus_id]
    changed: list[MessageChange] = []
    if row.test not in (ORIGINAL, AS_FOUND, AS_FOUND_LEVELS):
        changed = _changes(found[row.parent].candidates[0], shown.candidates[0])
    return WrongText(
        transcript=shown.task_id,
        edit=row.test,
        policy=shown.task,
        gold=row.gold,
        violated=row.violated if isinstance(row, WorstText) else None,
        given=row.given if isinstance(row, WorstLevel) else [],
        changes=changed,
        evidence=dict(shown.evidence),
    )


def _wrong_pairs(rows: Sequence[WorstPair], stimuli: StimulusSet) -> Iterator[WrongPair]:
    """Joins the rows with the pairs that they are about."""
    wanted = {row.stimulus_id for row in rows}
    found = {stimulus.id: stimulus for stimulus in stimuli if stimulus.id in wanted}
    for row in rows:
        shown = found[row.stimulus_id]
        yield WrongPair(
            transcript=shown.task_id,
            edit=row.edit,
            policy=shown.task,
            keeps="edited" if shown.expectation == GivenWinner(EDITED) else "original",
            right=row.right,
            wrong=row.wrong,
            slot_1=row.slot_1,
            changes=_changes(*shown.candidates),
            evidence=dict(shown.evidence),
        )


def _changes(before: str, after: str) -> list[MessageChange]:
    """Returns what an edit changed, message by message."""
    changes = message_changes(transcript_from_text(before), transcript_from_text(after))
    return [
        MessageChange(
            number=change.number, kind=change.kind, before=change.before[:LONGEST], after=change.after[:LONGEST]
        )
        for change in changes
    ]
