"""The agent protocol."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.domain.digests import Json, canonical_json
from umpirical.domain.errors import GateError, UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.judge import Capabilities, Judge
from umpirical.judges.prompt import fence, resolve_prompts
from umpirical.judges.simulated.examiner import AUDITOR_PROFILES, PAIR_AUDITOR_PROFILES, AuditorKey, Deserved
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ModelSpec
from umpirical.protocols.agent.page import render_agent_html, render_agent_markdown, tiles
from umpirical.protocols.agent.record import AgentReport
from umpirical.protocols.agent.report import FACTS, SHELF, agent_report_from, agent_report_of, held_to
from umpirical.protocols.agent.rewriting import (
    LEVEL_FAMILIES,
    AgentWriting,
    commissions_of,
    rewritings_open,
    rewritten_stimuli,
)
from umpirical.protocols.agent.spec import LEVELS, AgentStudy, AgentStudySpec, TranscriptLimitsSpec
from umpirical.protocols.agent.stimuli import AgentStimuli, check_crossing, write_agent_set
from umpirical.protocols.protocol import (
    CombinesJudges,
    DataSource,
    DecidesByPolicy,
    HoldsToChecks,
    JuryTerms,
    NewStudy,
    Protocol,
    ReviewsStimuli,
    Study,
    StudyCheck,
    WritesStimuli,
)
from umpirical.protocols.start import new_study_file, path_from, scalar, study_name
from umpirical.protocols.writing import ReviewTerms
from umpirical.reports.policy import Policy
from umpirical.reports.tiles import Tile
from umpirical.runs.judgments import Reading
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stimuli.controlled.gates import both_orders
from umpirical.store.files import inside, write_text
from umpirical.store.stimulus_sets import StimulusSet


@dataclass(frozen=True)
class AgentDesign(Design):
    """Every text once in every variant and repeat, and every pair in both orders.

    Under an item that is graded in levels, a text is graded on these and with the prompt for them.
    """

    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The levels of each such item, worst first."""
    prompted: bool = True
    """Whether the judge has prompts; one that renders its own has none for levels either."""

    def as_json(self) -> Json:
        # A design without levels keeps its id.
        levels: dict[str, Json] = {"levels": {name: list(labels) for name, labels in self.levels.items()}}
        return {"repeats": self.repeats, "variants": self.variants, **(levels if self.levels else {})}

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "compare"
    ) -> Iterator[Presentation]:
        if (len(stimulus.candidates) > 1) != (kind == "compare"):
            return
        ways = super().presentations(stimulus, capabilities, kind)
        if stimulus.family not in LEVEL_FAMILIES:
            yield from ways
            return
        levels, prompt = canonical_json(self.levels[stimulus.stratum]), LEVELS if self.prompted else ""
        # The prompt for levels takes the place of every variant's, so another variant would ask the same again.
        yield from (replace(way, levels=levels, prompt=prompt) for way in ways if way.variant == self.variants[0])


# The answer key of an agent study: what transcripts deserve under a rubric in words.


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> AuditorKey:
    """Returns what is known about each text. Raises UsageError for a simulated judge of other things."""
    known = PAIR_AUDITOR_PROFILES if judge.kind == "compare" else AUDITOR_PROFILES
    if judge.model is None or judge.model.name not in known:
        does = "compare" if judge.kind == "compare" else "read"
        raise UsageError(f"this simulated judge does not {does} transcripts", fix=f"use one of {', '.join(known)}")
    # What a program edited stands under two policies, and is in a crossed pair.
    worded = {stimulus.id: stimulus for stimulus in stimuli if not stimulus.crossed_pair}
    return {_mark(stimulus): _deserved(stimulus, worded) for stimulus in worded.values()}


def _mark(stimulus: Stimulus) -> str:
    return fence(Presented(stimulus.task, stimulus.candidates[0], None))


def _deserved(stimulus: Stimulus, worded: dict[str, Stimulus]) -> Deserved:
    original = worded.get(stimulus.parent, stimulus)
    return Deserved(stimulus.gold, original.gold, original.candidates[0])


# Writes an agent study to start from, on the user's own logs.


AGENT_STUDY = """\
# Agent judges, on runs of your own agent.  umpirical schema config  lists every key.
study: {name}
seed: 1

# {count:,} transcripts, which call these tools: {tools}
transcripts:
  path: {path}
  # preprocess: [drop-reasoning]   # hides this from judges
  # strata: [category]             # splits the results by this metadata

# The rules of your policy that a program can check. Without any, each transcript is tested on rules it follows.
# rules:
#   - {{require: {tool}}}
#   - {{forbid: delete_all, example: {{arguments: {{sure: true}}, result: "deleted 12 rows"}}}}
#   - {{figures: true}}    # numbers in its closing message must come from a tool or the user
#   - {{closing: true}}    # it must end with a message to the user

judges:
  # A simulated judge for a dry run: needs no key and no network.
  - name: rehearsal
    model: {{adapter: simulated, name: sound-auditor}}

  # A judge that picks which of two runs follows the policy: kind: compare.
  # - name: comparer
  #   kind: compare
  #   model: {{adapter: simulated, name: sound-auditor}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   decoding: {{temperature: 0, max_tokens: 256}}

concurrency: 16
"""

LOOKED_AT = 1 << 20
"""Bytes of a first line that are looked at."""


def are_transcripts(data: Path) -> bool:
    """Whether a file or folder holds runs of an agent, by the names of its files and by a first line."""
    if data.is_dir():
        return any(file.suffix == ".eval" for file in data.iterdir())
    if data.suffix == ".eval":
        return True
    if data.suffix not in (".jsonl", ".ndjson", ".json") or not data.is_file():
        return False
    with data.open("rb") as file:
        return _is_transcript(file.readline(LOOKED_AT))


def start_agent_study(folder: Path, data: Path) -> NewStudy:
    """Writes a study of the transcripts in `data` that runs as is. No existing file is overwritten."""
    file = new_study_file(folder)
    read = read_transcripts(data)
    tools = list(dict.fromkeys(tool for transcript in read.transcripts for tool in transcript.tools))
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = AGENT_STUDY.format(
        name=scalar(study_name(folder)),
        count=len(read.transcripts),
        tools=", ".join(json.dumps(tool) for tool in tools[:20]) or "none",
        path=scalar(path_from(folder, data)),
        tool=scalar(tools[0]) if tools else "a_tool",
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    notes = (*read.notes, f"{len(read.transcripts):,} transcripts, {len(tools):,} tools")
    return NewStudy(file, (file,), notes, "--outside" if outside else "")


def _is_transcript(line: bytes) -> bool:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        # A document over several lines: a log of Inspect's, or spans.
        return line.strip() in (b"{", b"[")
    if isinstance(found, dict):
        return "resourceSpans" in found or _are_messages(found.get("messages"))
    return _are_messages(found)


def _are_messages(found: object) -> bool:
    return isinstance(found, list) and bool(found) and all(isinstance(one, dict) and "role" in one for one in found)


# The agent protocol.


PROMPTS: Mapping[JudgeKind, Mapping[str, str]] = {
    "grade": {"baseline": "builtin:transcript"},
    "compare": {"baseline": "builtin:compare-transcript"},
}
"""For judges that name no prompt."""

LEVEL_PROMPTS = {LEVELS: "builtin:transcript-levels"}
"""The same for what is graded in levels."""


class AgentProtocol(
    Protocol[AgentStudy, AgentReport],
    CombinesJudges[AgentReport],
    WritesStimuli[AgentStudy],
    ReviewsStimuli[AgentStudy],
    DecidesByPolicy[AgentReport],
    HoldsToChecks[AgentReport],
):
    """Judges of agents, on the user's own transcripts under policies that they keep or break by construction."""

    name = "agent"
    version = "umpirical-agent/2"
    shelf = SHELF
    mark = "transcripts"
    spec = AgentStudySpec
    record = AgentReport
    facts = FACTS
    jury = JuryTerms(
        of="transcripts",
        about="The results are about edits made by a program. On other violations, judges may err together more or "
        "less often.",
        # Every item has levels of its own, which no vote can be learned for together.
        hears=lambda trial, _: not trial.presentation.levels,
        # What models rewrote is true by the word of verifiers, and never pooled with what programs proved.
        knows=lambda _, stimulus: bool(stimulus.crossed_pair),
    )
    answer_key = "umpirical.protocols.agent.protocol:answer_key"

    def open(self, spec: AgentStudySpec, folder: Path, *, outside: bool) -> AgentStudy:
        inside(folder, spec.transcripts.path, outside=outside)
        if spec.policy:
            SHELF.chosen(spec.policy, folder)
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
        notes += [f"  {count:,} not made: {reason}" for reason, count in made.counts.skipped.items()]
        notes += [f"{edit}: {count:,} pairs of runs" for edit, count in made.counts.pairs.items()]
        notes += [f"  {count:,} not made: {reason}" for reason, count in made.counts.unpaired.items()]
        problems = [] if gate.passed else [f"gate {gate.name}: {gate.found}; allowed: {gate.allowed}"]
        commissions = commissions_of(study, stimuli.transcripts)
        left = rewritings_open(study, commissions)
        if commissions:
            notes.append(f"{len(commissions) - left:,} of {len(commissions):,} transcripts are rewritten")
        if left:
            notes.append(f"{left:,} transcripts to rewrite: run  umpirical generate  before  umpirical run")
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
                f"judge {judge.name}: pairs of runs need both orders, but this judge accepts only one order",
                fix="use  kind: grade,  which shows one run at a time",
            )

    def design(self, study: AgentStudy, judge: JudgeSpec) -> AgentDesign:
        plain = super().design(study, judge)
        levels = {name: item.scale.labels for name, item in study.spec.levels.items()} if judge.kind == "grade" else {}
        return AgentDesign(plain.repeats, plain.variants, levels, prompted=judge.model is not None)

    def gates(self, judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:
        gates = [check_crossing(stimuli)]
        if judge.kind == "compare":
            ways = ((s, way) for s in stimuli for way in design.presentations(s, judge.capabilities, judge.kind))
            gates.append(both_orders(ways))
        for gate in gates:
            if not gate.passed:
                found = f"gate {gate.name}: {gate.found}"
                raise GateError(found, fix="this is a bug; please report it")
        return gates

    def about(self, study: AgentStudy, design: Design) -> dict[str, Json]:  # noqa: ARG002
        about: dict[str, Json] = {"labels": list(study.spec.labels), "edits": list(study.spec.edits)}
        if study.policy or study.spec.policy:
            about["policy"] = _policy_of(study).model_dump(mode="json")
        levels = study.spec.levels
        if levels:
            about["levels"] = {name: [item.words, *item.scale.labels] for name, item in levels.items()}
        return {"agent": about}

    def report(self, run: Run) -> AgentReport:
        return agent_report_of(run)

    def of_judgments(self, run: Run, reading: Reading) -> AgentReport:
        return agent_report_from(run, reading)

    def page(self, record: AgentReport) -> str:
        return render_agent_html(record)

    def card(self, record: AgentReport) -> str:
        return render_agent_markdown(record)

    def tiles(self, record: AgentReport) -> list[Tile]:
        return tiles(record)

    def hold(self, record: AgentReport, policy: str | Mapping[str, Any]) -> AgentReport:
        return held_to(record, SHELF.chosen(policy, outside=True))

    def policy_of(self, record: AgentReport) -> Policy:
        return record.policy or SHELF.preset()

    def as_published(self, record: AgentReport, published: AgentReport) -> AgentReport:
        return held_to(record, published.policy)

    def summary(self, record: AgentReport) -> Mapping[str, Any]:
        return {"checks": {check.measure: check.verdict for check in record.checks}}

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy | None:
        return start_agent_study(folder, data) if not told and are_transcripts(data) else None


def _policy_of(study: AgentStudy) -> Policy:
    """Returns the policy that a person names for this run, or the study's own."""
    if study.policy:
        return SHELF.chosen(study.policy, outside=True)
    return SHELF.chosen(study.spec.policy, study.folder)


AGENT = AgentProtocol()
