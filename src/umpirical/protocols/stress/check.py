"""Checks whether a stress study is fit to run. Only reads files."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from umpirical.datasets.items import read_items
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Attempt
from umpirical.judges.prompt import columns_of, prompt_text
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES
from umpirical.models.spec import ADAPTERS
from umpirical.protocols.protocol import StudyCheck
from umpirical.protocols.review import Review, read_review
from umpirical.protocols.review_record import never_opened, review_words
from umpirical.protocols.stress.responses import responses_left
from umpirical.protocols.stress.spec import RUBRIC_PLACEHOLDER, StressStudy
from umpirical.protocols.stress.stimuli import (
    Originals,
    PlannedCommissions,
    existing_generation,
    expected_stimuli,
    generated_made,
    planned_commissions,
    read_originals,
)
from umpirical.stimuli.perturbations.proof import proved_stimuli


def check_stress(study: StressStudy) -> StudyCheck:
    """Reads the dataset, makes the stimuli that a program can make, and counts what a generator has written."""
    if unwritten := list(_unwritten(study)):
        return StudyCheck(problems=list(_simulated_problems(study)), notes=unwritten)
    originals = read_originals(study)
    notes = list(_dataset_notes(originals))
    notes += _label_notes(study, sum(bool(stimulus.gold) for stimulus in originals.stimuli))
    if study.rubric == RUBRIC_PLACEHOLDER:
        notes.append("the rubric is still the text that init wrote: judges go by it as it stands")
    stimuli = list(originals.stimuli)
    for perturbation in study.spec.stress.proved:
        made = [stimulus for _, stimulus in proved_stimuli(perturbation, originals.stimuli, seed=study.spec.seed)]
        changed = [stimulus for stimulus in made if stimulus is not None]
        notes.append(f"{perturbation.name}: {len(changed)} of {len(made)} items changed by program")
        stimuli += changed
    planned = planned_commissions(study, originals.stimuli)
    notes += _generation_notes(study, planned)
    attempts = list(_attempts(study, planned))
    problems = [*_rubric_problems(study), *_simulated_problems(study)]
    review = None
    try:
        review = read_review(study.review_terms) if planned.commissions else None
        notes += _review_notes(study, attempts, review)
    except UsageError as error:
        problems.append(f"{error}; {error.fix}")
    stimuli += expected_stimuli(study, planned, attempts, review)
    return StudyCheck(problems=problems, notes=notes, stimuli=stimuli)


def _unwritten(study: StressStudy) -> Iterator[str]:
    """Yields what is to be done before there is anything to check; nothing if every row has its response."""
    spec = study.spec.dataset
    if spec.responses is None:
        return
    items, summary = read_items(spec, study.folder, seed=study.spec.seed, columns=study.named_columns)
    if left := responses_left(study, items):
        yield f"dataset {summary.source}: {summary.rows:,} rows, {len(items):,} taken"
        yield f"umpirical generate  has {left:,} responses to write, with {spec.responses.model.name}; all else follows"
        yield from _label_notes(study, 0)


def _label_notes(study: StressStudy, labelled: int) -> Iterator[str]:
    """Yields what cannot be measured without labels, for responses that a model writes."""
    if study.spec.dataset.responses is None or labelled:
        return
    needy = [test.name for test in study.spec.stress.generated if test.expectation != "same-verdict"]
    yield "responses that a model writes have no label: it is measured whether verdicts stay the same, and not whether"
    yield "  they are right; label generated/responses.jsonl, and name that file in dataset.responses.labels"
    if needy:
        yield f"  until then nothing is written for {', '.join(needy)}, which starts from a label"


def _dataset_notes(originals: Originals) -> Iterator[str]:
    summary = originals.summary
    if (made := originals.responses) is not None:
        yield f"responses of {made.model}: {len(made.items):,} of {made.wanted:,} rows have one"
        yield from (f"  {count:,} have none: {reason}" for reason, count in made.without.items())
        if made.stale:
            yield f"  {made.stale:,} labels are of other responses, and are not used"
    yield f"dataset {summary.source}: {summary.rows:,} rows, {len(originals.stimuli):,} taken"
    if summary.unlabelled:
        yield f"  {summary.unlabelled:,} rows have no label: nothing is said of agreement with them"
    if summary.empty_responses:
        yield f"  {summary.empty_responses:,} responses are empty, and are kept"
    for column, empty in originals.empty_columns.items():
        yield f"  {empty:,} of the rows taken have no {column!r}, which a prompt names: an empty text is shown"
    if originals.repeated:
        yield f"  {originals.repeated:,} rows repeat an earlier one: they say nothing new, and are left out"


def _generation_notes(study: StressStudy, planned: PlannedCommissions) -> Iterator[str]:
    if not planned.commissions:
        return
    stress = study.spec.stress
    if stress.generator and stress.validator and stress.generator.model == stress.validator.model:
        yield "generator and validator are one model: it is asked whether it did well itself"
    if planned.simulated:
        yield "generator and validator are simulated: what they write is nonsense, for a rehearsal"
    made = generated_made(planned, _attempts(study, planned))
    left = sum(entry.open for entry in made.values())
    for test, entry in made.items():
        asked = entry.wanted - sum(entry.skipped.values())
        yield f"{test}: {entry.generated} of {asked} written, {entry.given_up} given up, {entry.open} to write"
        yield from (f"  {count} not asked for: {reason}" for reason, count in entry.skipped.items())
    if left:
        yield f"umpirical generate  has {left:,} stimuli to write before  umpirical run  can be used"


def _review_notes(study: StressStudy, attempts: Sequence[Attempt], review: Review | None) -> Iterator[str]:
    """Yields the review in one line, if there is anything to say of it."""
    written = [attempt.stimulus.id for attempt in attempts if attempt.stimulus is not None]
    if review is not None:
        from umpirical.protocols.review_record import review_record

        yield f"review: {review_words(review_record(study.review_terms, review, written))}"
    elif study.spec.review.undecided == "leave-out" and written:
        yield never_opened(len(written))


def _attempts(study: StressStudy, planned: PlannedCommissions) -> Iterator[Attempt]:
    store = existing_generation(study.folder)
    if store is None:
        return
    try:
        yield from store.attempts([commission.id for commission in planned.commissions])
    finally:
        store.close()


def _simulated_problems(study: StressStudy) -> Iterator[str]:
    for judge in study.spec.judges:
        simulated = judge.model is not None and ADAPTERS.get(judge.model.adapter).simulated
        if judge.model is not None and simulated and judge.model.name not in EXAMINER_PROFILES:
            near = get_close_matches(judge.model.name, EXAMINER_PROFILES, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(EXAMINER_PROFILES)}"
            yield f"judge {judge.name}: no simulated examiner is named {judge.model.name!r}; {hint}"


def _rubric_problems(study: StressStudy) -> Iterator[str]:
    """Yields prompts without the rubric: with two rubrics, a test would measure their difference and not the judge."""
    if not study.spec.stress.generated:
        return
    for judge in study.spec.judges:
        for role, column in study.spec.dataset.columns.by_row.items():
            if column not in columns_of(judge):
                yield f"judge {judge.name}: it is not shown {column!r}, the {role} that validators follow"
        written = {test.name for test in study.spec.stress.generated}
        by_test = {f"of {test}": prompt for test, prompt in judge.test_prompts.items() if test in written}
        for name, prompt in {**judge.prompts, **by_test}.items():
            if study.rubric not in prompt_text(prompt):
                yield f"judge {judge.name}, prompt {name}: it does not contain the rubric that validators follow"
