"""The agent protocol."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.errors import GateError, UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import GateResult
from umpirical.judges.judge import Judge
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ModelSpec
from umpirical.protocols.agent.card import render_agent_markdown
from umpirical.protocols.agent.design import AgentDesign
from umpirical.protocols.agent.page import render_agent_html
from umpirical.protocols.agent.record import AgentReport
from umpirical.protocols.agent.report import agent_report_of
from umpirical.protocols.agent.rewriting import AgentWriting, commissions_of, rewritings_open, rewritten_stimuli
from umpirical.protocols.agent.spec import LEVELS, AgentStudy, AgentStudySpec, TranscriptLimitsSpec
from umpirical.protocols.agent.start import are_transcripts, start_agent_study
from umpirical.protocols.agent.stimuli import AgentStimuli, check_crossing, write_agent_set
from umpirical.protocols.protocol import (
    DataSource,
    Decision,
    HoldsToLimits,
    NewStudy,
    Protocol,
    ReviewsStimuli,
    Study,
    StudyCheck,
    WritesStimuli,
)
from umpirical.protocols.writing import ReviewTerms
from umpirical.reports.decisions import EXIT_CODES
from umpirical.reports.gate import HeldLimit, own_limits
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stimuli.controlled.gates.design import both_orders
from umpirical.store.files import inside
from umpirical.store.stimulus_sets import StimulusSet

PROMPTS: Mapping[JudgeKind, Mapping[str, str]] = {
    "grade": {"baseline": "builtin:transcript"},
    "compare": {"baseline": "builtin:compare-transcript"},
}
"""For judges that name no prompt."""

LEVEL_PROMPTS = {LEVELS: "builtin:transcript-levels"}
"""The same for what is graded in levels."""


class AgentProtocol(
    Protocol[AgentStudy, AgentReport], WritesStimuli[AgentStudy], ReviewsStimuli[AgentStudy], HoldsToLimits[AgentReport]
):
    """Judges of agents, on the user's own transcripts under policies that they keep or break by construction."""

    name = "agent"
    version = "umpirical-agent/1"
    mark = "transcripts"
    spec = AgentStudySpec
    record = AgentReport
    answer_key = "umpirical.protocols.agent.key:answer_key"

    def open(self, spec: AgentStudySpec, folder: Path, *, outside: bool) -> AgentStudy:
        inside(folder, spec.transcripts.path, outside=outside)
        tests = LEVEL_PROMPTS if spec.levels else {}
        judges = [
            resolve_prompts(judge, folder, PROMPTS[judge.kind], tests=tests if judge.kind == "grade" else {})
            for judge in spec.judges
        ]
        # The command that reproduces a run needs the option too.
        commands = {judge.name: f"umpirical run --outside --judge {judge.name}" for judge in judges} if outside else {}
        return Study(folder, spec.model_copy(update={"judges": judges}), self, commands)

    def check(self, study: AgentStudy) -> StudyCheck:
        stimuli = AgentStimuli(study)
        made = stimuli.counted()
        gate = made.gate
        notes = [*stimuli.notes, f"{len(stimuli.transcripts):,} transcripts"]
        notes += [f"{edit}: {count:,} cases" for edit, count in made.counts.cases.items()]
        notes += [f"  {count:,} not made, {reason}" for reason, count in made.counts.skipped.items()]
        notes += [f"{edit}: {count:,} pairs of runs" for edit, count in made.counts.pairs.items()]
        notes += [f"  {count:,} not made, {reason}" for reason, count in made.counts.unpaired.items()]
        problems = [] if gate.passed else [f"gate {gate.name}: {gate.found}; allowed: {gate.allowed}"]
        commissions = commissions_of(study, stimuli.transcripts)
        left = rewritings_open(study, commissions)
        if commissions:
            notes.append(f"{len(commissions) - left:,} of {len(commissions):,} rewritings are settled")
        if left:
            notes.append(f"umpirical generate  has {left:,} to settle before  umpirical run  can be used")
        more = [] if left else rewritten_stimuli(study, commissions)[0]
        return StudyCheck(problems=problems, notes=notes, gates=[gate], stimuli=[*stimuli, *more] if more else stimuli)

    def sources(self, study: AgentStudy) -> Iterable[DataSource]:
        spec, usual = study.spec.transcripts, TranscriptLimitsSpec()
        raised = {name: (most, getattr(usual, name)) for name, most in spec.limits if most > getattr(usual, name)}
        return [DataSource("transcripts", spec.path, raised=raised)]

    def models(self, study: AgentStudy) -> Iterable[tuple[str, ModelSpec]]:
        spec = study.spec.rewriting
        return [] if spec is None else [(role, writer.model) for role, writer in spec.writers.items()]

    def writing(self, study: AgentStudy) -> AgentWriting:
        return AgentWriting(study, AgentStimuli(study).transcripts)

    def review(self, study: AgentStudy) -> ReviewTerms:
        return self.writing(study).review

    def stimuli(self, study: AgentStudy) -> StimulusSet:
        return write_agent_set(study)

    def admit(self, judge: JudgeSpec) -> None:
        if judge.kind == "compare" and not judge.capabilities.order_controllable:
            raise UsageError(
                f"judge {judge.name}: pairs of runs are asked about in both orders, and it can be shown one only",
                fix="kind: grade  shows one run at a time",
            )

    def design(self, study: AgentStudy, judge: JudgeSpec) -> AgentDesign:
        plain = super().design(study, judge)
        levels = {name: item.scale.labels for name, item in study.spec.levels.items()} if judge.kind == "grade" else {}
        return AgentDesign(plain.repeats, plain.arms, levels, prompted=judge.model is not None)

    def gates(self, judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:
        gates = [check_crossing(stimuli)]
        if judge.kind == "compare":
            ways = ((s, way) for s in stimuli for way in design.presentations(s, judge.capabilities, judge.kind))
            gates.append(both_orders(ways))
        for gate in gates:
            if not gate.passed:
                found = f"gate {gate.name}: {gate.found}"
                raise GateError(found, fix="report it: stimuli of this kind cannot come about")
        return gates

    def about(self, study: AgentStudy, design: Design) -> dict[str, Json]:  # noqa: ARG002
        about: dict[str, Json] = {"labels": list(study.spec.labels), "edits": list(study.spec.edits)}
        levels = study.spec.levels
        if levels:
            about["levels"] = {name: [item.words, *item.scale.labels] for name, item in levels.items()}
        return {"agent": about}

    def report(self, run: Run) -> AgentReport:
        return agent_report_of(run)

    def page(self, record: AgentReport) -> str:
        return render_agent_html(record)

    def card(self, record: AgentReport) -> str:
        return render_agent_markdown(record)

    def findings(self, record: AgentReport) -> list[str]:
        return record.findings

    def decision(self, record: AgentReport) -> Decision:
        found = record.decision
        return Decision(found.verdict, f"{found.title}. {' '.join(found.sentences)}", EXIT_CODES[found.verdict])

    def held_limits(self, record: AgentReport) -> list[HeldLimit]:
        return own_limits(record.limits)

    def summary(self, record: AgentReport) -> Mapping[str, Any]:
        return {"limits": {limit.measure: limit.verdict for limit in record.limits}}

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy | None:
        return start_agent_study(folder, data) if not told and are_transcripts(data) else None


AGENT = AgentProtocol()
