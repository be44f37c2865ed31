"""The stimuli of a stress study: the user's own responses, the changed texts, and how a set is made only once.

A set is named by its stimuli, which have to be made before the name is known. Beside its manifest is therefore a note
of what it was made from. A note that is missing or damaged costs time, and nothing else.
"""

import hashlib
import inspect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from umpirical.datasets.items import DatasetSummary, read_items
from umpirical.datasets.readers import format_of
from umpirical.domain.digests import Json, canonical_json, digest
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.stimuli import ORIGINAL, Attempt, GivenLabel, Item, SameVerdict, Stimulus
from umpirical.protocols.review import Review, applied, read_review
from umpirical.protocols.stress.given import NO_TEXT, with_given
from umpirical.protocols.stress.responses import Answered, answered, writing_spend
from umpirical.protocols.stress.spec import StressStudy
from umpirical.protocols.writing import MadeCounts, ReviewSpec, generation
from umpirical.runs.generation import commissions_left
from umpirical.stimuli.generation.attempt import FALLBACK
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms
from umpirical.stimuli.generation.plan import (
    Bucket,
    Counts,
    Skipped,
    bucket_report,
    plan_commissions,
    rejection_reasons,
    source_report,
)
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, ProvedPerturbation
from umpirical.stimuli.perturbations.proof import ProofFailed, proved_stimuli
from umpirical.store.files import drafted_folder, publish_folder
from umpirical.store.manifests import file_sha256, read_manifest, write_manifest
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli

MAKER = "original/1"

LEAST = 2
"""Fewest items: an interval needs at least two."""


@dataclass(frozen=True, slots=True)
class Originals:
    """The items that the tests of a study are made from."""

    summary: DatasetSummary
    stimuli: tuple[Stimulus, ...]
    """One for each item of the sample, in the order of the file; only the first row with the same task and response."""
    repeated: int
    """How many items of the sample are left out because they repeat an earlier one."""
    empty_columns: Mapping[str, int]
    """How many of the items have nothing in a column that a judge names; only columns with such items."""
    responses: Answered | None = None
    """How a model wrote the responses; None if they are the user's own."""


def read_originals(study: StressStudy) -> Originals:
    """Reads the dataset of a study and draws its sample."""
    spec = study.spec.dataset
    items, summary = read_items(spec, study.folder, seed=study.spec.seed, columns=study.named_columns)
    made = None
    if spec.responses is not None:
        made, summary = answered(study, items, summary)
        items = list(made.items)
    _refuse_label(items, study.named_columns)
    if len({(item.task, item.response) for item in items}) < LEAST:
        raise UsageError(f"{spec.path}: {len(items)} items are too few", fix=f"provide at least {LEAST}")
    # A row that repeats another is the same question to a judge: asking it again would cost more and add nothing.
    distinct = {_question(item): item for item in reversed(items)}
    kept = [item for item in items if distinct[_question(item)] is item]
    empty = {column: sum(not item.columns[column] for item in kept) for column in study.named_columns}
    return Originals(
        summary,
        tuple(_originals(kept)),
        repeated=len(items) - len(kept),
        empty_columns={column: count for column, count in empty.items() if count},
        responses=made,
    )


def _question(item: Item) -> tuple[str, ...]:
    """Returns what a judge may be shown of an item: one response may be judged by two rubrics."""
    return (item.task, item.response, *(text for _, text in sorted(item.columns.items())))


def _refuse_label(items: Sequence[Item], columns: Sequence[str]) -> None:
    """Raises if a column that a prompt names is the label under another name, which would tell a judge the answer."""
    labelled = [item for item in items if item.labels]
    if len({item.labels for item in labelled}) < LEAST:
        return
    for column in columns:
        if all(item.columns[column].strip().casefold() == item.labels[0].casefold() for item in labelled):
            raise UsageError(
                f"the prompt shows the column {column!r}, which contains the label of every row",
                fix="remove it from the prompt",
            )


def _originals(items: Sequence[Item]) -> list[Stimulus]:
    return [
        Stimulus(
            task_id=item.cluster or item.name,
            task=item.task,
            candidates=(item.response,),
            # Without a label, a judge can only be required to give the same answer again.
            expectation=GivenLabel(item.labels[0]) if item.labels else SameVerdict(),
            maker=MAKER,
            family=ORIGINAL,
            parent=item.id,
            gold=item.labels[0] if item.labels else "",
            gold_from="label" if item.labels else None,
            evidence={"item": item.name},
            strata=item.strata,
            columns=item.columns,
        )
        for item in items
    ]


@dataclass(frozen=True, slots=True)
class PlannedCommissions:
    """The texts that a generator is to write."""

    commissions: tuple[Commission, ...]
    skipped: tuple[Skipped, ...]
    """What it cannot be asked to write, and why."""
    by_source: bool = False
    """Whether every original is to have texts of every level."""

    @property
    def simulated(self) -> bool:
        """Whether a program stands in for the generator."""
        return any(commission.terms.generator.simulated for commission in self.commissions)


def planned_commissions(study: StressStudy, originals: Sequence[Stimulus]) -> PlannedCommissions:
    """Returns the commissions of a study's generated tests; none if it has no such test."""
    stress = study.spec.stress
    if not stress.generated:
        return PlannedCommissions((), ())
    counts = Counts(stress.per_level, stress.per_source, stress.examples)
    commissions, skipped = plan_commissions(
        originals, stress.generated, generation_terms(study), counts, seed=study.spec.seed
    )
    if study.given:
        commissions, skipped = with_given(commissions, skipped, study.given)
    return PlannedCommissions(tuple(commissions), tuple(skipped), by_source=stress.per_source is not None)


def generation_terms(study: StressStudy) -> GenerationTerms:
    """Returns the terms of a study whose stress tests need a generator."""
    stress = study.spec.stress
    if stress.generator is None or stress.validator is None:
        raise UsageError("no generator and validator are set", fix="set both under stress in the study file")
    return GenerationTerms(
        instruction=study.instruction,
        rubric=study.rubric,
        scale=study.spec.dataset.scale,
        generator=stress.generator.writer,
        validator=stress.validator.writer,
        votes=stress.votes,
        agree=stress.agree,
        validator_temperature=stress.validator_temperature,
        temperatures=stress.temperatures,
        tries=stress.tries,
        fallback=stress.fallback_validator.writer if stress.fallback_validator else None,
        own_generator=stress.own_generator.writer if stress.own_generator else None,
        rubric_column=study.spec.dataset.columns.rubric or "",
        reference_column=study.spec.dataset.columns.reference or "",
    )


def texts_by_label(originals: Sequence[Stimulus]) -> dict[str, list[str]]:
    """Returns the user's own responses by label."""
    found: dict[str, list[str]] = defaultdict(list)
    for original in originals:
        found[original.gold].append(original.candidates[0])
    return found


NOTE = "made-from.json"

UNPROVED = "the text changes more than the test may"
"""Why a text that was written elsewhere is not used for a test that needs a proof."""

ONE_FILE = ("csv", "jsonl", "parquet", "xlsx")
"""Formats whose readers read one file and nothing else."""


def source_of(study: StressStudy) -> str | None:
    """Returns the digest of everything that decides the stimuli of a study; None if that cannot be told beforehand.

    That is so for a dataset that is not one file here, and for texts that a model writes and people review.
    """
    spec = study.spec
    path = study.folder / spec.dataset.path
    if spec.stress.generated or spec.stress.texts or spec.dataset.responses is not None or not path.is_file():
        return None
    read_as = format_of(spec.dataset.path, study.folder, named=spec.dataset.format)
    if read_as not in ONE_FILE:
        return None
    tests: list[Json] = [[test.maker, *_code(test)] for test in spec.stress.proved]
    return digest(
        "source of a stress set",
        {
            "dataset": spec.dataset.model_dump(mode="json"),
            "format": read_as,
            "content": file_sha256(path),
            "columns": list(study.named_columns),
            "tests": tests,
            "seed": spec.seed,
            "umpirical": version("umpirical"),
        },
    )


def set_made_from(stimuli: Path, source: str | None) -> StimulusSet | None:
    """Returns the set of a study that was made from this before, if there is one."""
    for note in sorted(stimuli.glob(f"*/{NOTE}")) if source is not None else ():
        with suppress(StoreError):
            if read_manifest(note).get("source") == source and (note.parent / "manifest.json").exists():
                return StimulusSet(note.parent)
    return None


def note_source(folder: Path, source: str | None) -> None:
    """Notes what a set was made from. One that is made from several things in turn has the last of them."""
    if source is not None:
        write_manifest(folder / NOTE, {"source": source})


def _code(test: ProvedPerturbation) -> list[str]:
    """Returns digests of the files with the code of a test: its author may forget to raise its version."""
    files = {inspect.getsourcefile(function) for function in (test.change, test.normal)}
    return [file_sha256(Path(file)) for file in sorted(filter(None, files))]


def write_stress_set(study: StressStudy) -> StimulusSet:
    """Returns the study's current stimuli. Raises if the generator has not yet settled everything it is to write."""
    source = source_of(study)
    if (found := set_made_from(study.folder / "stimuli", source)) is not None:
        return found
    originals = read_originals(study)
    made = {test.name: MadeCounts(wanted=len(originals.stimuli)) for test in study.spec.stress.proved}
    planned = planned_commissions(study, originals.stimuli)
    written = _written(study.folder, planned, made) if planned.commissions or planned.skipped else []
    review = read_review(study.review_terms) if written else None
    reviewed = (_as_reviewed(study.spec.review, review, made, *each) for each in written)
    shown = _compared_written(study, filter(None, reviewed), made)
    stimuli = chain(originals.stimuli, _proved(study, originals.stimuli, shown, made), shown)
    name = _SetName()

    def about() -> dict[str, Json]:
        if originals.responses is not None and originals.responses.simulated:
            made[ORIGINAL].simulated = len(originals.stimuli)
        told = _about(originals, made)
        name.add(told["made"])
        if planned.commissions:
            told["writing"] = _writing(study.folder, planned)
        if originals.responses is not None:
            told["responses"] = originals.responses.as_json()
        if review is not None:
            told["review"] = _review_json(study, review, [stimulus.id for _, stimulus in written])
            name.add(told["review"])
        return told

    with drafted_folder(study.folder / "stimuli") as draft:
        write_stimuli(draft, _counted(stimuli, made, name, wanted=len(originals.stimuli)), about)
        folder = study.folder / "stimuli" / name.finish()
        if not (folder / "manifest.json").exists():
            publish_folder(draft, folder)
    note_source(folder, source)
    return StimulusSet(folder)


class _SetName:
    """The digest of the ids of a set and of what is told about it, which are taken one by one."""

    def __init__(self) -> None:
        # The same as `digest` of a list whose first entry is the list of ids.
        self._state = hashlib.sha256(b"stress set\n[[")
        self._between = b""
        self._told = ""

    def take(self, name: str) -> None:
        self._state.update(self._between + canonical_json(name).encode())
        self._between = b","

    def add(self, told: Json) -> None:
        self._told += f",{canonical_json(told)}"

    def finish(self) -> str:
        self._state.update(f"]{self._told}]".encode("utf-8", "surrogatepass"))
        return self._state.hexdigest()[:12]


def _counted(
    stimuli: Iterable[Stimulus], made: dict[str, MadeCounts], name: _SetName, *, wanted: int
) -> Iterator[Stimulus]:
    """Yields the stimuli, and counts where the gold label of each comes from."""
    for stimulus in stimuli:
        entry = made.setdefault(stimulus.family, MadeCounts(wanted=wanted))
        source = stimulus.gold_from or "none"
        entry.gold_from[source] = entry.gold_from.get(source, 0) + 1
        name.take(stimulus.id)
        yield stimulus


def expected_stimuli(
    study: StressStudy, planned: PlannedCommissions, attempts: Sequence[Attempt], review: Review | None
) -> list[Stimulus]:
    """Returns what judges will be asked about: what is written, as reviewed, and originals in place of what is not."""
    uncounted = defaultdict[str, MadeCounts](MadeCounts)
    return _compared_written(study, _expected(study, planned, attempts, review, uncounted), uncounted)


def _expected(
    study: StressStudy,
    planned: PlannedCommissions,
    attempts: Sequence[Attempt],
    review: Review | None,
    uncounted: Mapping[str, MadeCounts],
) -> Iterator[Stimulus]:
    written, tried = _by_commission(attempts), Counter(settled.commission for settled in attempts)
    for commission in planned.commissions:
        if commission.id in written:
            shown = _as_reviewed(study.spec.review, review, uncounted, commission, written[commission.id])
            yield from () if shown is None else (shown,)
        elif tried[commission.id] < commission.terms.attempts:
            source = commission.source
            yield replace(
                source, family=commission.perturbation.name, expectation=commission.expectation, parent=source.id
            )


def generated_made(planned: PlannedCommissions, attempts: Iterable[Attempt]) -> dict[str, MadeCounts]:
    """Counts how the generated stimuli came about, by test."""
    made: dict[str, MadeCounts] = defaultdict(MadeCounts)
    attempts = list(attempts)
    for commission in planned.commissions:
        entry = made[commission.perturbation.name]
        entry.wanted += 1
        if commission.perturbation.validation != "none":
            terms = commission.terms
            whom = terms.validator.words + (f", else {terms.fallback.words}" if terms.fallback else "")
            entry.validators = f"{whom}: {terms.agree} of at most {terms.votes} opinions had to agree"
    for bucket in bucket_report(planned.commissions, attempts):
        made[bucket.test].levels[bucket.level] = _level(bucket)
    for test, words in source_report(planned.commissions, attempts).items() if planned.by_source else ():
        made[test].sources = words
    for skipped in planned.skipped:
        entry = made[skipped.test]
        entry.wanted += 1
        entry.skipped[skipped.reason] = entry.skipped.get(skipped.reason, 0) + 1
    tried, taken = Counter[str](), set[str]()
    for settled in attempts:
        entry = made[settled.test]
        entry.attempts += 1
        tried[settled.commission] += 1
        if settled.stimulus is not None:
            entry.generated += 1
            entry.simulated += planned.simulated
            entry.by_fallback += any(FALLBACK in opinion for opinion in settled.opinions)
            taken.add(settled.commission)
        else:
            # An attempt may fail several checks; it is counted once, by the first.
            kind = rejection_reasons(settled)[0]
            entry.rejected[kind] = entry.rejected.get(kind, 0) + 1
    for commission in planned.commissions:
        if commission.id not in taken:
            given_up = tried[commission.id] >= commission.terms.attempts
            made[commission.perturbation.name].given_up += given_up
            made[commission.perturbation.name].open += not given_up
    return dict(made)


def _level(bucket: Bucket) -> str:
    words = f"{bucket.filled} of {bucket.wanted} written in {bucket.tried} attempts"
    if why := ", ".join(f"{reason} ({count})" for reason, count in bucket.reasons.items()):
        words += f"; the rest was rejected: {why}"
    if bucket.examples_from and bucket.examples_from != (bucket.level,):
        words += f"; examples were of {', '.join(bucket.examples_from)}"
    return words


ONE_TEXT = "the text it is compared with is missing"
"""Why a text is not used whose counterpart was not written, or was rejected."""


def _compared(stimuli: Iterable[Stimulus], others: Iterable[Stimulus], counts: MadeCounts) -> Iterator[Stimulus]:
    """Yields stimuli to be compared with others that were made from the same text, instead of with that text."""
    by_source = {other.parent: other.id for other in others}
    for stimulus in stimuli:
        if stimulus.parent in by_source:
            yield replace(stimulus, parent=by_source[stimulus.parent])
        else:
            counts.leave_out(ONE_TEXT)


def _compared_written(study: StressStudy, shown: Iterable[Stimulus], made: Mapping[str, MadeCounts]) -> list[Stimulus]:
    shown = list(shown)
    for test in study.spec.stress.generated:
        if test.against:
            own = [stimulus for stimulus in shown if stimulus.family == test.name]
            others = [stimulus for stimulus in shown if stimulus.family == test.against]
            rest = [stimulus for stimulus in shown if stimulus.family != test.name]
            shown = [*rest, *_compared(own, others, made[test.name])]
    return shown


def _proved(
    study: StressStudy, originals: Sequence[Stimulus], shown: Sequence[Stimulus], made: Mapping[str, MadeCounts]
) -> Iterator[Stimulus]:
    for perturbation in study.spec.stress.proved:
        yield from proved_of(study, perturbation, originals, shown, made[perturbation.name])


def proved_of(
    study: StressStudy,
    test: ProvedPerturbation,
    originals: Sequence[Stimulus],
    shown: Sequence[Stimulus],
    counts: MadeCounts,
) -> Iterator[Stimulus]:
    """Yields the texts of a test that a program has proved: its own, or those that were written elsewhere.

    They are made from the originals, or from the texts of `shown` that the test is meant for.
    """
    if any(written.name in test.over for written in study.spec.stress.generated):
        originals = [stimulus for stimulus in shown if stimulus.family in test.over]
        counts.wanted = len(originals)
    stimuli = _proved_from(study, test, originals, counts)
    other = PERTURBATIONS.get(test.against) if test.against else None
    if isinstance(other, ProvedPerturbation):
        return _compared(stimuli, _proved_from(study, other, originals, MadeCounts()), counts)
    return stimuli


def _proved_from(
    study: StressStudy, test: ProvedPerturbation, originals: Sequence[Stimulus], counts: MadeCounts
) -> Iterator[Stimulus]:
    given = study.given if test.name in study.given.texts else None
    held = [original for original in originals if given is None or given.of(test.name, original)]
    if len(held) < len(originals):
        counts.skipped[NO_TEXT] = len(originals) - len(held)
    for original in held:
        text = None if given is None else next(iter(given.of(test.name, original).values()))
        try:
            [(_, stimulus)] = proved_stimuli(test, [original], seed=study.spec.seed, text=text)
        except ProofFailed:
            # Of a text that is not ours, this is its author's mistake.
            if given is None:
                raise
            counts.rejected[UNPROVED] = counts.rejected.get(UNPROVED, 0) + 1
            continue
        counts.unchanged += stimulus is None
        counts.proved += stimulus is not None
        if stimulus is not None:
            yield stimulus


def _written(
    folder: Path, planned: PlannedCommissions, made: dict[str, MadeCounts]
) -> list[tuple[Commission, Stimulus]]:
    """Returns what the generator wrote, each text with its commission."""
    with generation(folder) as store:
        if left := len(commissions_left(planned.commissions, store)):
            raise UsageError(
                f"{left:,} of {len(planned.commissions):,} test cases are not written yet",
                fix=f"run: umpirical generate {folder}",
            )
        attempts = list(store.attempts([commission.id for commission in planned.commissions]))
    made |= generated_made(planned, attempts)
    # In the order of the commissions: the order in which they were settled is arbitrary.
    stimuli = _by_commission(attempts)
    return [(commission, stimuli[commission.id]) for commission in planned.commissions if commission.id in stimuli]


def _by_commission(attempts: Iterable[Attempt]) -> dict[str, Stimulus]:
    return {settled.commission: settled.stimulus for settled in attempts if settled.stimulus is not None}


def _as_reviewed(
    policy: ReviewSpec,
    review: Review | None,
    made: Mapping[str, MadeCounts],
    commission: Commission,
    stimulus: Stimulus,
) -> Stimulus | None:
    """Returns the stimulus as judges see it; None if people rejected it or have not decided on it."""
    counts, known = made[stimulus.family], _as_known_now(stimulus, commission.source)
    waits = policy.undecided == "exclude"
    if review is None and not waits:
        return known
    counts.reviewed += review is not None and review.looked_at(stimulus.id)
    fate = "undecided" if review is None else review.fate(stimulus.id)
    if review is None or fate == "undecided":
        counts.undecided += 1
        counts.excluded += waits
        return None if waits else known
    if fate == "rejected":
        counts.rejected_by_review += 1
        return None
    kept = applied(review, stimulus.id, commission, known)
    counts.edited += kept.candidates != known.candidates
    counts.relabelled += kept.gold != known.gold
    return kept


def _writing(folder: Path, planned: PlannedCommissions) -> Json:
    """Returns what writing took. It is no part of the set's name: the same texts are the same set at any price."""
    with generation(folder) as store:
        calls = store.spent({commission.id for commission in planned.commissions})
        return writing_spend(planned.commissions[0].terms, calls)


def _review_json(study: StressStudy, review: Review, items: Sequence[str]) -> Json:
    # Imported here: it needs the packages of a review, which may be missing for a study without one.
    from umpirical.protocols.review_record import review_record

    record: Json = review_record(study.review_terms, review, items).model_dump(mode="json")
    return record


def _as_known_now(stimulus: Stimulus, source: Stimulus) -> Stimulus:
    """Returns the text as written, with what the dataset now says about the item it was written from."""
    kept = stimulus.gold_from == "construction"
    return replace(
        stimulus,
        task_id=source.task_id,
        parent=source.id,
        strata=source.strata,
        gold=stimulus.gold if kept else source.gold,
        gold_from=stimulus.gold_from if kept else source.gold_from,
    )


def _about(originals: Originals, made: Mapping[str, MadeCounts]) -> dict[str, Json]:
    summary: dict[str, Json] = asdict(originals.summary)
    return {
        "dataset": summary,
        "sampled": len(originals.stimuli),
        "repeated": originals.repeated,
        "made": {name: entry.as_json() for name, entry in made.items()},
    }
