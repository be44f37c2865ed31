"""The stress test protocol."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from umpirical.datasets.items import read_items
from umpirical.datasets.readers import format_of
from umpirical.datasets.spec import ColumnsSpec, LimitsSpec
from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Attempt
from umpirical.domain.trials import BASELINE
from umpirical.judges.prompt import StudyTexts, columns_of, prompt_text, resolve_prompts
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.estimates.labels import agreement_difference
from umpirical.models.spec import ADAPTERS, ModelSpec
from umpirical.protocols.protocol import (
    CombinesJudges,
    DataSource,
    DecidesByPolicy,
    Documents,
    HoldsToChecks,
    NewStudy,
    PlannedCounts,
    Protocol,
    ReviewsStimuli,
    ShowsSideBySide,
    StudyCheck,
    WritesStimuli,
)
from umpirical.protocols.review import Review, read_review
from umpirical.protocols.review_record import never_opened, review_line, review_words
from umpirical.protocols.stress.design import PlannedStress, StressDesign
from umpirical.protocols.stress.given import GivenTexts, read_given
from umpirical.protocols.stress.heat_map import INDEX
from umpirical.protocols.stress.overview import tiles
from umpirical.protocols.stress.policy import SHELF, StressPolicy
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.rendering import render_stress_markdown, render_stress_pages
from umpirical.protocols.stress.report import FACTS, held_to, read_stress, stress_from, stress_report_of
from umpirical.protocols.stress.responses import ResponsesWriting, responses_left
from umpirical.protocols.stress.spec import (
    HARNESS_NAMES,
    JURY,
    RUBRIC_PLACEHOLDER,
    SYNTHETIC,
    StressSpec,
    StressStudy,
    StressStudySpec,
    start_stress_study,
)
from umpirical.protocols.stress.stimuli import (
    Originals,
    PlannedCommissions,
    expected_stimuli,
    generated_made,
    planned_commissions,
    proved_of,
    read_originals,
    write_stress_set,
)
from umpirical.protocols.stress.verdicts import TITLES, checks_held
from umpirical.protocols.stress.writing import StressWriting
from umpirical.protocols.writing import MadeCounts, ReviewTerms, Writing, generation, has_generation
from umpirical.reports.gate import HeldCheck
from umpirical.reports.tiles import Tile
from umpirical.runs.judgments import Reading
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stimuli.generation.attempt import RESPONDER
from umpirical.stimuli.generation.commissions import with_reference
from umpirical.store.files import inside, read_named_text, write_text
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.text.templates import placeholders

# Checks whether a stress study is fit to run. Only reads files.


def check_stress(study: StressStudy) -> StudyCheck:
    """Reads the dataset, makes the stimuli that a program can make, and counts what a generator has written."""
    if unwritten := list(_unwritten(study)):
        return StudyCheck(problems=list(_simulated_problems(study)), notes=unwritten)
    originals = read_originals(study)
    notes = list(_dataset_notes(originals))
    notes += _label_notes(study, sum(bool(stimulus.gold) for stimulus in originals.stimuli))
    if study.rubric == RUBRIC_PLACEHOLDER:
        notes.append("rubric.txt still has the placeholder text from init")
    stimuli = list(originals.stimuli)
    notes += study.given.notes(originals.stimuli)
    planned = planned_commissions(study, originals.stimuli)
    attempts = list(_attempts(study, planned))
    problems = [*_rubric_problems(study), *_simulated_problems(study)]
    review, reviewed = None, list[str]()
    try:
        review = read_review(study.review_terms) if planned.commissions else None
        reviewed += _review_notes(study, attempts, review)
    except UsageError as error:
        problems.append(f"{error}; {error.fix}")
    written = expected_stimuli(study, planned, attempts, review)
    for perturbation in study.spec.stress.proved:
        counts = MadeCounts(wanted=len(originals.stimuli))
        changed = list(proved_of(study, perturbation, originals.stimuli, written, counts))
        whom = "texts proved" if perturbation.name in study.given.texts else "items changed by a program"
        notes.append(f"{perturbation.name}: {len(changed)} of {counts.wanted} {whom}")
        notes += [f"  {count} rejected: {reason}" for reason, count in counts.rejected.items()]
        stimuli += changed
    notes += [*_generation_notes(study, planned), *reviewed]
    return StudyCheck(problems=problems, notes=notes, stimuli=[*stimuli, *written])


def _unwritten(study: StressStudy) -> Iterator[str]:
    """Yields what is to be done before there is anything to check; nothing if every row has its response."""
    spec = study.spec.dataset
    if spec.responses is None:
        return
    items, summary = read_items(spec, study.folder, seed=study.spec.seed, columns=study.named_columns)
    if left := responses_left(study, items):
        yield f"dataset {summary.source}: {summary.rows:,} rows, {len(items):,} used"
        yield f"{left:,} responses to write with {spec.responses.model.name}: run  umpirical generate  first"
        yield from _label_notes(study, 0)


def _label_notes(study: StressStudy, labelled: int) -> Iterator[str]:
    """Yields what cannot be measured without labels, for responses that a model writes."""
    if study.spec.dataset.responses is None or labelled:
        return
    needy = [test.name for test in study.spec.stress.generated if test.expectation != "same-verdict"]
    yield "generated responses have no label, so the tests show whether verdicts stay the same, not whether they are"
    yield "  right; to add labels, edit generated/responses.jsonl and set dataset.responses.labels to that file"
    if needy:
        yield f"  without labels, nothing is written for {', '.join(needy)}"


def _dataset_notes(originals: Originals) -> Iterator[str]:
    summary = originals.summary
    if (made := originals.responses) is not None:
        yield f"responses of {made.model}: {len(made.items):,} of {made.wanted:,} rows have one"
        yield from (f"  {count:,} have none: {reason}" for reason, count in made.without.items())
        if made.stale:
            yield f"  {made.stale:,} labels belong to other responses and are not used"
    yield f"dataset {summary.source}: {summary.rows:,} rows, {len(originals.stimuli):,} used"
    if summary.unlabelled:
        yield f"  {summary.unlabelled:,} rows have no label: agreement is not measured on them"
    if summary.empty_responses:
        yield f"  {summary.empty_responses:,} responses are empty and are kept"
    for column, empty in originals.empty_columns.items():
        yield f"  {empty:,} of the rows used have no {column!r}: the prompt shows an empty text"
    if originals.repeated:
        yield f"  {originals.repeated:,} rows repeat an earlier row and are excluded"


def _generation_notes(study: StressStudy, planned: PlannedCommissions) -> Iterator[str]:
    if not planned.commissions:
        return
    stress = study.spec.stress
    if stress.generator and stress.validator and stress.generator.model == stress.validator.model:
        yield "generator and validator are the same model, which checks its own work"
    if planned.simulated:
        yield "generator and validator are simulated: dry run with meaningless texts"
    made = generated_made(planned, _attempts(study, planned))
    left = sum(entry.open for entry in made.values())
    for test, entry in made.items():
        asked = entry.wanted - sum(entry.skipped.values())
        yield f"{test}: {entry.generated} of {asked} written, {entry.given_up} given up, {entry.open} to write"
        yield from (f"  {count} not attempted: {reason}" for reason, count in entry.skipped.items())
    if left:
        yield f"{left:,} test cases to write: run  umpirical generate  before  umpirical run"


def _review_notes(study: StressStudy, attempts: Sequence[Attempt], review: Review | None) -> Iterator[str]:
    """Yields the review in one line, if there is anything to say of it."""
    written = [attempt.stimulus.id for attempt in attempts if attempt.stimulus is not None]
    if review is not None:
        from umpirical.protocols.review_record import review_record

        yield f"review: {review_words(review_record(study.review_terms, review, written))}"
    elif study.spec.review.undecided == "exclude" and written:
        yield never_opened(len(written))


def _attempts(study: StressStudy, planned: PlannedCommissions) -> Iterator[Attempt]:
    if has_generation(study.folder):
        with generation(study.folder) as store:
            yield from store.attempts([commission.id for commission in planned.commissions])


def _simulated_problems(study: StressStudy) -> Iterator[str]:
    for judge in study.spec.judges:
        simulated = judge.model is not None and ADAPTERS.get(judge.model.adapter).simulated
        if judge.model is not None and simulated and judge.model.name not in EXAMINER_PROFILES:
            near = get_close_matches(judge.model.name, EXAMINER_PROFILES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(EXAMINER_PROFILES)}"
            yield f"judge {judge.name}: unknown simulated examiner {judge.model.name!r}; {hint}"


def _rubric_problems(study: StressStudy) -> Iterator[str]:
    """Yields prompts without the rubric: with two rubrics, a test would measure their difference and not the judge."""
    if not study.spec.stress.generated:
        return
    for judge in study.spec.judges:
        for role, column in study.spec.dataset.columns.by_row.items():
            if column not in columns_of(judge):
                yield f"judge {judge.name}: its prompt lacks {column!r}, the {role} that validators use"
        written = {test.name for test in study.spec.stress.generated}
        by_test = {f"of {test}": prompt for test, prompt in judge.test_prompts.items() if test in written}
        for name, prompt in {**judge.prompts, **by_test}.items():
            if study.rubric not in prompt_text(prompt):
                yield f"judge {judge.name}, prompt {name}: it lacks the rubric that validators use"


# The protocol.


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
    CombinesJudges[StressReport],
    WritesStimuli[StressStudy],
    ReviewsStimuli[StressStudy],
    DecidesByPolicy[StressReport],
    HoldsToChecks[StressReport],
    ShowsSideBySide[StressReport],
):
    """Judges on changed versions of the user's own data, compared with their own verdict on the original."""

    name = "stress"
    version = "umpirical-stress/2"
    shelf = SHELF
    mark = "dataset"
    spec = StressStudySpec
    record = StressReport
    facts = FACTS
    jury = JURY
    answer_key = "umpirical.protocols.stress.design:answer_key"

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
        texts, hidden = StudyTexts(shared, per_row), _hidden(spec.dataset.columns)
        judges = [
            resolve_prompts(judge, folder, spec.design.variants, texts, hidden=hidden, tests=spec.stress.shown)
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
            given=_given(spec.stress, folder, outside=outside),
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
        texts["texts"] = spec.stress.texts
        texts |= {"labels": spec.dataset.responses.labels} if spec.dataset.responses else {}
        checks = {name: (most, getattr(usual, name)) for name, most in spec.dataset.limits}
        return [
            DataSource(
                "dataset",
                spec.dataset.path,
                format_of(spec.dataset.path, study.folder, named=spec.dataset.format),
                spec.dataset.options,
                {name: pair for name, pair in checks.items() if pair[0] > pair[1]},
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
            variants=tuple(judge.prompts) or ("baseline",),
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

    def of_judgments(self, run: Run, reading: Reading) -> StressReport:
        return stress_from(run, reading)[0]

    def page(self, record: StressReport) -> str:
        return render_stress_pages([record])[INDEX]

    def card(self, record: StressReport) -> str:
        return render_stress_markdown(record)

    def tiles(self, record: StressReport) -> list[Tile]:
        return tiles(record)

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

    def policy_of(self, record: StressReport) -> StressPolicy:
        return record.own_policy or SHELF.preset()

    def as_published(self, record: StressReport, published: StressReport) -> StressReport:
        return held_to(record, published.own_policy)

    def held_checks(self, record: StressReport) -> list[HeldCheck]:
        return checks_held(record)

    def differences(self, before: Run, now: Run) -> Iterable[Measure]:
        """Returns the difference in agreement with the labels, on the items of both."""
        found = agreement_difference(read_stress(before)[1], read_stress(now)[1], BASELINE)
        return () if found is None else (found,)

    def summary(self, record: StressReport) -> Mapping[str, Any]:
        return {"verdicts": {cell.test: cell.verdict for cell in record.verdicts}}

    def side_by_side(self, records: Sequence[StressReport], folder: Path) -> Path:
        return write_stress_pages(records, folder)

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy:
        return start_stress_study(folder, data, told=told)


def _given(spec: StressSpec, folder: Path, *, outside: bool) -> GivenTexts:
    if spec.texts is None:
        return GivenTexts()
    inside(folder, spec.texts, outside=outside)
    return read_given(folder, spec.texts, HARNESS_NAMES, list(spec.shown))


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
            f"dataset.responses: {responses.prompt} must contain {{{{task}}}} and no other placeholder",
            fix="put {{task}} where the row's task belongs",
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
            f"stress.templates: {name} has an unknown placeholder {{{{{unknown[0]}}}}}",
            fix=f"known: {', '.join(sorted(TEMPLATE_NAMES))}",
        )
    if needed not in named:
        raise UsageError(f"stress.templates: {name} lacks {{{{{needed}}}}}", fix="add it")
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
        hidden[columns.response] = "write {{first}}: tests change the text in the column"
    if columns.task is not None:
        hidden[columns.task] = "write {{task}} instead"
    if columns.label is not None:
        hidden[columns.label] = "remove it: the label would reveal the answer to the judge"
    return hidden


def write_stress_pages(reports: Sequence[StressReport], folder: Path) -> Path:
    """Writes the pages of several judges side by side; returns the one to open first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in render_stress_pages(reports).items():
        write_text(folder / name, text)
    return folder / INDEX


STRESS = StressProtocol()
