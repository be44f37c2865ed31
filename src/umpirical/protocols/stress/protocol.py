"""The stress test protocol."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from umpirical.datasets.readers import format_of
from umpirical.datasets.spec import ColumnsSpec, LimitsSpec
from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ModelSpec
from umpirical.protocols.protocol import (
    DataSource,
    DecidesByPolicy,
    Documents,
    HoldsToLimits,
    NewStudy,
    PlannedCounts,
    Protocol,
    ReviewsStimuli,
    ShowsSideBySide,
    StudyCheck,
    WritesStimuli,
)
from umpirical.protocols.review_record import review_line
from umpirical.protocols.stress.check import check_stress
from umpirical.protocols.stress.design import PlannedStress, StressDesign
from umpirical.protocols.stress.findings import TITLES
from umpirical.protocols.stress.heat_map import INDEX
from umpirical.protocols.stress.policy import SHELF
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.rendering import render_stress_markdown, render_stress_pages
from umpirical.protocols.stress.report import held_to, stress_report_of
from umpirical.protocols.stress.responses import ResponsesWriting
from umpirical.protocols.stress.spec import HARNESS_NAMES, SYNTHETIC, StressStudy, StressStudySpec, start_stress_study
from umpirical.protocols.stress.stimuli import write_stress_set
from umpirical.protocols.stress.verdicts import tests_held
from umpirical.protocols.stress.writing import StressWriting
from umpirical.protocols.writing import ReviewTerms, Writing
from umpirical.reports.gate import HeldLimit, own_limits
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stimuli.generation.attempt import RESPONDER
from umpirical.stimuli.generation.commissions import with_reference
from umpirical.store.files import inside, read_named_text, write_text
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.text.templates import placeholders

INSTRUCTION = "Grade the answer by how well it does what the task asks for."
"""Used if a study names no instruction."""

NO_RUBRIC = "There is none but the instruction above."
"""Used if a study names an instruction but no rubric."""

TEMPLATE_NAMES = {"instruction", "rubric", "task", "response", "label", "target", "scale", "examples", "fence"}
"""What a template of the generator's may name."""

LONGEST_TEXT = 200_000
"""Most bytes of an instruction or a rubric."""


class StressProtocol(
    Protocol[StressStudy, StressReport],
    WritesStimuli[StressStudy],
    ReviewsStimuli[StressStudy],
    DecidesByPolicy[StressReport],
    HoldsToLimits[StressReport],
    ShowsSideBySide[StressReport],
):
    """Judges on changed versions of the user's own data, compared with their own verdict on the original."""

    name = "stress"
    version = "umpirical-stress/1"
    mark = "dataset"
    spec = StressStudySpec
    record = StressReport
    answer_key = "umpirical.protocols.stress.key:answer_key"

    def open(self, spec: StressStudySpec, folder: Path, *, outside: bool) -> StressStudy:
        inside(folder, spec.dataset.path, outside=outside)
        if spec.stress.policy:
            SHELF.chosen(spec.stress.policy, folder)

        def text(name: str | None) -> str:
            if name is None:
                return ""
            return read_named_text(inside(folder, name, outside=outside), name=name, most=LONGEST_TEXT)

        if spec.dataset.responses and spec.dataset.responses.labels:
            inside(folder, spec.dataset.responses.labels, outside=outside)
        instruction, rubric = text(spec.instruction) or INSTRUCTION, text(spec.rubric)
        named = spec.instruction is not None or spec.rubric is not None
        per_row = _per_row(spec.dataset.columns, rubric)
        shared = {"instruction": instruction, "rubric": rubric or NO_RUBRIC} if named or per_row else {}
        hidden = _hidden(spec.dataset.columns)
        judges = [
            resolve_prompts(judge, folder, spec.design.arms, shared, hidden, per_row=per_row, tests=spec.stress.shown)
            for judge in map(_with_own_names, spec.judges)
        ]
        # The command that reproduces a run needs the option too.
        commands = {judge.name: f"umpirical run --outside --judge {judge.name}" for judge in judges} if outside else {}
        templates = {test: _template(folder, test, name) for test, name in spec.stress.templates.items()}
        stress = spec.stress.model_copy(update={"templates": templates})
        return StressStudy(
            folder,
            spec.model_copy(update={"judges": judges, "stress": stress}),
            self,
            commands,
            instruction=instruction,
            rubric=rubric,
            guideline=text(spec.review.guideline),
            response_prompt=_response_prompt(spec, folder),
        )

    def check(self, study: StressStudy) -> StudyCheck:
        return check_stress(study)

    def models(self, study: StressStudy) -> Iterable[tuple[str, ModelSpec]]:
        writers = [(name, writer.model) for name, writer in study.spec.stress.writers.items()]
        responses = study.spec.dataset.responses
        return writers if responses is None else [(RESPONDER, responses.model), *writers]

    def sources(self, study: StressStudy) -> Iterable[DataSource]:
        spec, usual = study.spec, LimitsSpec()
        texts = {"instruction": spec.instruction, "rubric": spec.rubric, "guideline": spec.review.guideline}
        texts |= {"labels": spec.dataset.responses.labels} if spec.dataset.responses else {}
        limits = {name: (most, getattr(usual, name)) for name, most in spec.dataset.limits}
        return [
            DataSource(
                "dataset",
                spec.dataset.path,
                format_of(spec.dataset.path, study.folder, named=spec.dataset.format),
                spec.dataset.options,
                {name: pair for name, pair in limits.items() if pair[0] > pair[1]},
            ),
            *(DataSource(what, name) for what, name in texts.items() if name is not None),
        ]

    def stimuli(self, study: StressStudy) -> StimulusSet:
        return write_stress_set(study)

    def stimuli_line(self, stimuli: StimulusSet) -> str:
        return review_line(stimuli)

    def writing(self, study: StressStudy) -> Writing:
        responses = study.spec.dataset.responses
        if responses is None:
            return StressWriting(study)
        # What a test makes of a response can be planned, and priced, only once there is one.
        first = ResponsesWriting(study, responses)
        return first if first.is_open or not study.spec.stress.generated else StressWriting(study)

    def review(self, study: StressStudy) -> ReviewTerms:
        return study.review_terms

    def design(self, study: StressStudy, judge: JudgeSpec) -> Design:
        stress = study.spec.stress
        # A function has neither a seed nor a temperature to set, so it is never asked with others.
        own = set(stress.tests) if judge.model is not None else set()
        seeds = stress.seeds if "seeds" in own else 0
        return StressDesign(
            repeats=study.spec.design.repeats,
            arms=tuple(judge.prompts) or ("baseline",),
            original_repeats=stress.repeats,
            # Two answers are the fewest that show noise, and every test is asked this often.
            changed_repeats=min(stress.repeats, 2),
            seeds=seeds,
            first_seed=1 if judge.decoding.seed is None or not seeds else judge.decoding.seed + 1,
            sampling=tuple(setting.sent for setting in stress.sampling) if "sampling" in own else (),
            test_prompts=tuple(judge.test_prompts),
        )

    def about(self, study: StressStudy, design: Design) -> dict[str, Json]:
        stress, dataset = study.spec.stress, study.spec.dataset
        about: dict[str, Json] = {
            "tests": list(stress.tests),
            "margin": stress.margin,
            "positive": list(dataset.positive),
            "dataset": Path(dataset.path).name,
        }
        if study.policy or stress.policy:
            own = (
                SHELF.chosen(study.policy, outside=True) if study.policy else SHELF.chosen(stress.policy, study.folder)
            )
            about["policy"] = own.model_dump(mode="json")
        if dataset.columns.by_row:
            about["by_row"] = dataset.columns.by_row
        if isinstance(design, StressDesign):
            about |= {"original_repeats": design.original_repeats, "seeds": design.seeds}
            about |= {"sampling": list(design.sampling)} if design.sampling else {}
            about |= {"test_prompts": list(design.test_prompts)} if design.test_prompts else {}
        return {"stress": about}

    def planned(self, judge: JudgeSpec) -> PlannedCounts:
        return super().planned(judge) if judge.scale is None else PlannedStress(judge.scale)

    def report(self, run: Run) -> StressReport:
        return stress_report_of(run)

    def page(self, record: StressReport) -> str:
        return render_stress_pages([record])[INDEX]

    def card(self, record: StressReport) -> str:
        return render_stress_markdown(record)

    def write(self, record: StressReport, folder: Path) -> Documents:
        """Also writes a page for every test, since they do not all fit on one."""
        folder.mkdir(parents=True, exist_ok=True)
        documents = Documents(folder / "stress.json", folder / "report" / INDEX, folder / "stress.md")
        write_text(documents.json, self.render(record))
        write_text(documents.markdown, self.card(record))
        write_stress_pages([record], folder / "report")
        return documents

    def findings(self, record: StressReport) -> list[str]:
        return [f"{TITLES[finding.kind]}: {finding.words}" for finding in record.findings]

    def hold(self, record: StressReport, policy: str | Mapping[str, Any]) -> StressReport:
        return held_to(record, SHELF.chosen(policy, outside=True))

    def policy_name(self, record: StressReport) -> str:
        return record.own_policy.policy if record.own_policy else ""

    def as_published(self, record: StressReport, published: StressReport) -> StressReport:
        return record if record.own_policy == published.own_policy else held_to(record, published.own_policy)

    def held_limits(self, record: StressReport) -> list[HeldLimit]:
        return [*tests_held(record), *own_limits(record.answered)]

    def summary(self, record: StressReport) -> Mapping[str, Any]:
        return {"verdicts": {cell.test: cell.verdict for cell in record.verdicts}}

    def side_by_side(self, records: Sequence[StressReport], folder: Path) -> Path:
        return write_stress_pages(records, folder)

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy:
        return start_stress_study(folder, data, told=told)


def _response_prompt(spec: StressStudySpec, folder: Path) -> str:
    """Reads what the model that writes the responses is asked; the task alone if the study names no prompt."""
    responses = spec.dataset.responses
    if responses is None:
        return ""
    if responses.prompt is None:
        return "{{task}}"
    text = read_named_text(inside(folder, responses.prompt), name=responses.prompt, most=LONGEST_TEXT)
    if placeholders(text) != {"task"}:
        raise UsageError(
            f"dataset.responses: {responses.prompt} has to name {{{{task}}}}, and nothing else",
            fix="write {{task}} where the task of the row belongs",
        )
    return text


def _with_own_names(judge: JudgeSpec) -> JudgeSpec:
    """Returns a judge with our names of the tests that it has prompts for, where it has the harness's."""
    named = {HARNESS_NAMES.get(test, test): prompt for test, prompt in judge.test_prompts.items()}
    return judge.model_copy(update={"test_prompts": named})


def _template(folder: Path, test: str, name: str) -> str:
    """Reads a template of the generator's. Raises if it names what there is not, or not what it is about."""
    text = read_named_text(inside(folder, name), name=name, most=LONGEST_TEXT)
    needed, named = "task" if test == SYNTHETIC else "response", placeholders(text)
    if unknown := sorted(named - TEMPLATE_NAMES):
        raise UsageError(
            f"stress.templates: {name} names {{{{{unknown[0]}}}}}", fix=f"known: {', '.join(sorted(TEMPLATE_NAMES))}"
        )
    if needed not in named:
        raise UsageError(f"stress.templates: {name} lacks {{{{{needed}}}}}", fix="add it: it is what is written about")
    return text


def _per_row(columns: ColumnsSpec, rubric: str) -> dict[str, str]:
    """Maps placeholders to texts that differ from row to row: the columns that they come from stand in them."""
    found = {role: f"{{{{row.{column}}}}}" for role, column in columns.by_row.items()}
    if "reference" in found:
        found["rubric"] = with_reference(found.get("rubric", rubric or NO_RUBRIC), found["reference"])
    return found


def _hidden(columns: ColumnsSpec) -> dict[str, str]:
    """Maps the columns that a judge cannot name to what to do instead."""
    hidden = {}
    if columns.response is not None:
        hidden[columns.response] = "write {{first}}: a test shows another text than the column does"
    if columns.task is not None:
        hidden[columns.task] = "write {{task}}, which is the same"
    if columns.label is not None:
        hidden[columns.label] = "take it out: it is the label, and would tell the judge the answer"
    return hidden


def write_stress_pages(reports: Sequence[StressReport], folder: Path) -> Path:
    """Writes the pages of several judges side by side; returns the one to open first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in render_stress_pages(reports).items():
        write_text(folder / name, text)
    return folder / INDEX


STRESS = StressProtocol()
