"""The stimulus set of a stress study: originals, what a program made from them, and what a generator wrote."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from umpirical.domain.digests import Json, canonical_json
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import ORIGINAL, Attempt, Stimulus
from umpirical.protocols.review import Review, applied, read_review
from umpirical.protocols.stress.commissions import PlannedCommissions, planned_commissions
from umpirical.protocols.stress.originals import Originals, read_originals
from umpirical.protocols.stress.responses import GENERATED
from umpirical.protocols.stress.sources import note_source, set_made_from, source_of
from umpirical.protocols.stress.spec import StressStudy
from umpirical.protocols.stress.writing_spend import writing_spend
from umpirical.protocols.writing import MadeCounts, ReviewSpec
from umpirical.runs.generation import commissions_left
from umpirical.stimuli.generation.buckets import Bucket, bucket_report, rejection_reasons, source_report
from umpirical.stimuli.generation.commissions import Commission
from umpirical.stimuli.generation.opinions import FALLBACK
from umpirical.stimuli.perturbations.proof import proved_stimuli
from umpirical.store.files import drafted_folder, publish_folder
from umpirical.store.generation import GenerationStore
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli


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
    shown = (_as_reviewed(study.spec.review, review, made, *each) for each in written)
    stimuli = chain(originals.stimuli, _proved(study, originals.stimuli, made), filter(None, shown))
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
) -> Iterator[Stimulus]:
    """Yields what judges will be asked about: what is written, as reviewed, and originals in place of what is not."""
    written, tried = _by_commission(attempts), Counter(settled.commission for settled in attempts)
    uncounted = defaultdict[str, MadeCounts](MadeCounts)
    for commission in planned.commissions:
        if commission.id in written:
            shown = _as_reviewed(study.spec.review, review, uncounted, commission, written[commission.id])
            yield from () if shown is None else (shown,)
        elif tried[commission.id] < commission.terms.attempts:
            source = commission.source
            yield replace(
                source, family=commission.perturbation.name, expectation=commission.expectation, parent=source.id
            )


def open_generation(study_folder: Path) -> GenerationStore:
    return GenerationStore(study_folder / GENERATED)


def existing_generation(study_folder: Path) -> GenerationStore | None:
    """Returns the record of a study's generation for reading; None if generation has not begun."""
    return open_generation(study_folder) if GenerationStore.exists(study_folder / GENERATED) else None


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


def _proved(study: StressStudy, originals: Sequence[Stimulus], made: Mapping[str, MadeCounts]) -> Iterator[Stimulus]:
    for perturbation in study.spec.stress.proved:
        entry = made[perturbation.name]
        for _, stimulus in proved_stimuli(perturbation, originals, seed=study.spec.seed):
            if stimulus is None:
                entry.unchanged += 1
            else:
                entry.proved += 1
                yield stimulus


def _written(
    folder: Path, planned: PlannedCommissions, made: dict[str, MadeCounts]
) -> list[tuple[Commission, Stimulus]]:
    """Returns what the generator wrote, each text with its commission."""
    store = open_generation(folder)
    try:
        if left := len(commissions_left(planned.commissions, store)):
            raise UsageError(
                f"{left:,} of {len(planned.commissions):,} stimuli are not written yet",
                fix=f"umpirical generate {folder}  writes them, or resumes writing",
            )
        attempts = list(store.attempts([commission.id for commission in planned.commissions]))
    finally:
        store.close()
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
    waits = policy.undecided == "leave-out"
    if review is None and not waits:
        return known
    counts.reviewed += review is not None and review.looked_at(stimulus.id)
    fate = "undecided" if review is None else review.fate(stimulus.id)
    if review is None or fate == "undecided":
        counts.undecided += 1
        counts.left_out += waits
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
    store = open_generation(folder)
    try:
        calls = store.spent({commission.id for commission in planned.commissions})
        return writing_spend(planned.commissions[0].terms, calls)
    finally:
        store.close()


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
