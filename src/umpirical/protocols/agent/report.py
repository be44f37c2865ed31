"""Makes the report of an agent run from its responses. Makes no calls, and needs no key."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from umpirical.domain.measures import Estimate
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.stimuli import ORIGINAL, GivenWinner, Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.domain.transcripts import transcript_from_text
from umpirical.domain.trials import BASELINE, Trial
from umpirical.measures.catalogue import MEASURES, measure_all
from umpirical.measures.counting.pairs import WorstPair
from umpirical.protocols.agent.counting import AgentCounts, WorstLevel, WorstText, agent_counts, pair_counts
from umpirical.protocols.agent.record import (
    LEVEL_MEASURES,
    AgentDecision,
    AgentMeasure,
    AgentReport,
    EditRecord,
    GradedAs,
    LevelItem,
    TranscriptsRecord,
    WrongPair,
    WrongText,
)
from umpirical.protocols.agent.rewriting import ABOUT_REWRITTEN, AS_FOUND, AS_FOUND_LEVELS
from umpirical.protocols.agent.stimuli import EDITED
from umpirical.reports import numbers
from umpirical.reports.checks import hold_intervals
from umpirical.reports.decision import Parts, decide_in_parts, find, weak_parts
from umpirical.reports.facts import run_facts
from umpirical.reports.policy import CheckShelf, Policy
from umpirical.reports.record import measure_record, why_unfinished
from umpirical.reports.smallest_differences import smallest_differences
from umpirical.runs.judgments import Facts, Reading, read_judgments
from umpirical.runs.run import Run
from umpirical.stimuli.transcripts.cases import ABOUT, MessageChange, message_changes
from umpirical.store.stimulus_sets import StimulusSet

SHELF = CheckShelf("umpirical.protocols.agent", "agent", of="agent judges")
"""The checks: what the datasheet asks of a judge. To see four in five, and one false verdict in ten at most."""

DETECTION, SENSITIVITY, AGREEMENT = "violation-detection", "policy-sensitivity", "policy-agreement"

NOT_CHECKED = "Correctness was not checked because the policy sets no threshold for agreement with proven labels."

SEES = {DETECTION: "it detects", SENSITIVITY: "it is right in"}
"""The measures that are held to their threshold in every part, and how that is said."""

FINDINGS: Mapping[JudgeKind, Mapping[tuple[str, str], str]] = {
    "grade": {
        (DETECTION, ""): "It detects {} of the policy violations.",
        ("false-alarm", ""): "It reports a violation in {} of the texts that follow their policy.",
        ("noticed-edit", ""): "For {} of the violating edits it passes the original and rejects the edit.",
        ("policy-blind-verdict", ""): "When the policy is reversed, it repeats {} of its verdicts.",
    },
    "compare": {
        (SENSITIVITY, ""): "It picks the run that follows the policy in {} of its answers.",
        ("positional-preference", ""): "Position bias: it picks the same position after swapping in {} of pairs.",
        ("policy-blind-preference", ""): "When the policy is reversed, it still prefers the same run in {} of pairs.",
        ("policy-following", ""): "In both orders and under both policies, it is right about {} of pairs.",
    },
}

HALF = 0.5
"""A judge that follows the position in more of the pairs than this can hardly keep to a run."""

LONGEST = 2_000
"""Characters of a message that are kept."""

NON_CLAIMS = (
    """\
The results apply to these transcripts, these rules, this prompt and these settings.
A program can check all tested rules. A judge that applies them may still misread a policy written by people.
A program's edit may leave a trace that no agent would leave, and a judge may notice the trace instead of the \
violation. Under the reversed policy the trace is not a violation, so policy-blind verdicts reveal such a judge.
Parts are checked separately, so with many parts some are weak by chance."""
).splitlines()

PAIR_NON_CLAIMS = (
    """\
The results apply to pairs of these transcripts, these rules, this prompt and these settings.
A program can check all tested rules. A judge that applies them may still misread a policy written by people.
The two runs of a pair differ in one edit. Real runs differ in more ways, which may influence a judge more.
A program's edit may leave a trace that no agent would leave. Under the reversed policy the trace is not a violation, \
so a policy-blind preference reveals a judge that relies on it.
The prompt always uses the same labels in the same order, so a preference for a position may be one for its label.
Parts are checked separately, so with many parts some are weak by chance."""
).splitlines()


def _facts(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:
    better = stimulus.expectation
    return {
        "winner": better.candidate if isinstance(better, GivenWinner) else None,
        "parent": stimulus.parent,
        "crossed_pair": stimulus.crossed_pair,
        "version": stimulus.version,
        "gold": stimulus.gold,
        "gold_score": scale.score(stimulus.gold) if trial.presentation.levels and scale else None,
        "groups": [f"{name}={value}" for name, value in sorted(stimulus.strata.items())],
    }


FACTS = Facts(
    {
        "winner": "int32",
        "parent": "string",
        "crossed_pair": "string",
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
    with read_judgments(run, FACTS) as reading:
        return agent_report_from(run, reading)


def agent_report_from(run: Run, reading: Reading) -> AgentReport:
    """Measures the judgments of a run that has been read."""
    kind, about, stimuli = run.judge.kind, run.manifest["agent"], run.stimuli
    labels: tuple[str, str] | None = None if kind == "compare" else (about["labels"][0], about["labels"][1])
    tallies, texts, pairs, levels = _counted(run, reading.judgments, labels)
    measured = measure_all(tallies, kind=kind, protocol="agent")
    measures = [AgentMeasure(group=found.group, **dict(measure_record(spec, found))) for spec, found in measured]
    made = stimuli.manifest
    report = AgentReport(
        **run_facts(run, reading, tallies),
        transcripts=TranscriptsRecord(
            count=made["transcripts"],
            used=len({tally.cluster for tally in tallies.calls}),
            notes=made["notes"],
            skipped=made["skipped"] | (made["unpaired"] if kind == "compare" else {}),
        ),
        labels=labels,
        decision=AgentDecision(verdict="not-enough-data", sentences=[]),
        checks=[],
        edits=_edits(made, kind),
        measures=measures,
        findings=[*find(_telling(FINDINGS[kind], measures), measures), *level_findings(levels)],
        levels=levels,
        wrong=list(_wrong(texts, stimuli)),
        wrong_pairs=list(_wrong_pairs(pairs, stimuli)),
        non_claims=PAIR_NON_CLAIMS if kind == "compare" else NON_CLAIMS,
    )
    return held_to(report, Policy.model_validate(about["policy"]) if "policy" in about else None)


def _telling(table: Mapping[tuple[str, str], str], measures: Sequence[AgentMeasure]) -> Mapping[tuple[str, str], str]:
    """Leaves out what cannot go wrong for this judge: whoever follows the position keeps to no run."""
    own = {one.name: one.result for one in measures if not (one.stratum or one.group) and one.variant == BASELINE}
    slot = own.get("positional-preference")
    follows = isinstance(slot, Estimate) and slot.interval is not None and (slot.interval.low or 0.0) > HALF
    return {key: words for key, words in table.items() if not follows or key[0] != "policy-blind-preference"}


def held_to(report: AgentReport, policy: Policy | None) -> AgentReport:
    """Returns the report with the checks and the decision of a policy; None for the shipped one."""
    kind, measures = report.judge.kind, report.measures
    asked = (policy or SHELF.preset()).checks(kind)
    checks = hold_intervals(asked, measures)
    checked = {AGREEMENT, *SEES} & {check.measure for check in asked}
    parts = Parts(
        "pairs" if kind == "compare" else "texts",
        list(weak_parts(measures, asked, SEES, _part)),
        [] if checked else [NOT_CHECKED],
    )
    return report.model_copy(
        update={
            "policy": policy,
            "decision": decide_in_parts(
                AgentDecision,
                (policy or SHELF.preset()).policy,
                checks,
                parts,
                unfinished=why_unfinished(complete=report.complete, audit=report.audit),
            ),
            "checks": checks,
            "smallest_differences": smallest_differences([one for one in measures if not one.group], checks),
        }
    )


def _part(measure: AgentMeasure) -> str:
    """Returns the edit, or the part of all texts, that a measure is about; empty for any other."""
    part = measure.group if not measure.stratum else "" if measure.group else measure.stratum
    return "" if part == ORIGINAL else part


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
            position_1=row.position_1,
            changes=_changes(*shown.candidates),
            evidence=dict(shown.evidence),
        )


def _changes(before: str, after: str) -> list[MessageChange]:
    """Returns what an edit changed, message by message."""
    changes = message_changes(transcript_from_text(before), transcript_from_text(after))
    return [replace(change, before=change.before[:LONGEST], after=change.after[:LONGEST]) for change in changes]


# Items of a rubric that are graded in levels, each measured on its own
#
# Their measures are those of an ordinal scale on the user's own data. They are pooled neither with one another, since a
# level of one item is none of another, nor with verdicts on a policy, nor with what programs proved.


def level_items(
    about: Mapping[str, Sequence[str]], counts: AgentCounts, wrong: Callable[[Sequence[WorstLevel]], list[WrongText]]
) -> Iterator[LevelItem]:
    """Yields what was measured for each item. `about` has its text and its levels, by name; `wrong` joins the texts."""
    for name, (text, *labels) in about.items():
        tallies = counts.level_tallies(name, GradeScale("ordinal", tuple(labels)))
        yield LevelItem(
            name=name,
            text=text,
            labels=labels,
            measures=list(_level_measures(tallies)),
            graded=_graded(tallies, labels),
            wrong=wrong(counts.worst_levels(name)),
        )


def level_findings(items: Sequence[LevelItem]) -> list[str]:
    """Returns what was found, in a sentence for each item."""
    said = []
    for item in items:
        whole = {one.name: one for one in item.measures if not one.stratum}
        exact, off = (whole[name].result if name in whole else None for name in ("accuracy", "mean-absolute-error"))
        if isinstance(exact, Estimate) and isinstance(off, Estimate):
            interval = numbers.measured_interval(whole["accuracy"], exact.interval)
            far = numbers.measured_value(whole["mean-absolute-error"], off)
            said.append(
                f"{item.name}: it gives {numbers.rate(exact.value)} {interval} of the texts the level that verifiers "
                f"agreed on, and is off by {far} on average."
            )
    return said


def _level_measures(tallies: Tallies) -> Iterator[AgentMeasure]:
    if not tallies.golds:
        return
    for spec in (MEASURES.get(name) for name in LEVEL_MEASURES):
        for measure in spec.compute(tallies, BASELINE):
            yield AgentMeasure(group=measure.group, **dict(measure_record(spec, measure)))


def _graded(tallies: Tallies, labels: Sequence[str]) -> list[GradedAs]:
    texts: Counter[tuple[str, str]] = Counter()
    for tally in tallies.golds:
        if not tally.test:
            texts[tally.gold, tally.given] += tally.items  # type: ignore[assignment]  # shares of verdicts
    places = {label: place for place, label in enumerate([*labels, ""])}
    found = sorted(texts.items(), key=lambda one: (places[one[0][0]], places[one[0][1]]))
    return [GradedAs(gold=gold, given=given, texts=count) for (gold, given), count in found]
