"""What models rewrite for an agent study: transcripts that violate the rubric, or satisfy it, verified or dropped."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from umpirical.domain.bills import WritingEstimate
from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewItem
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Attempt, GivenLabel, SameVerdict, Stimulus
from umpirical.domain.transcripts import Transcript, transcript_from_text
from umpirical.models.money import Ledger, Meter, Pricer
from umpirical.models.spec import Calling, open_model
from umpirical.protocols.agent.spec import AgentStudy, LevelItemSpec, RewritingSpec
from umpirical.protocols.review import Review, read_review
from umpirical.protocols.writing import (
    MadeCounts,
    ReviewTerms,
    WatchGeneration,
    Writing,
    Written,
    generation,
    has_generation,
)
from umpirical.runs.attempts import GenerationWatcher
from umpirical.runs.loop import run_on_loop
from umpirical.runs.rewriting import estimated, rewrite_transcripts, rewritings_left
from umpirical.stimuli.transcripts.rewriting.commissions import (
    LEVEL_TESTS,
    TESTS,
    Rewriting,
    RewritingTerms,
    Rubric,
    RubricItem,
)
from umpirical.stimuli.transcripts.rewriting.settlement import STATUS
from umpirical.store.generation import GenerationStore

AS_FOUND = "as-found"
"""The family of a transcript under a rubric in words, as it was found."""

AS_FOUND_LEVELS = "as-found-levels"
"""The same under an item that is graded in levels."""

LEVEL_FAMILIES = (AS_FOUND_LEVELS, *LEVEL_TESTS.values())
"""What is graded in levels. It is counted apart from everything that has two labels."""

ABOUT_REWRITTEN: Mapping[str, str] = {
    AS_FOUND: "Original transcripts, under a rubric in words. Verifiers agreed on their status.",
    TESTS["violate"]: "A model rewrote the transcript to violate the rubric. Verifiers agreed that it does.",
    TESTS["satisfy"]: "A model rewrote the transcript to satisfy the rubric. Verifiers agreed that it does.",
    AS_FOUND_LEVELS: "Original transcripts, graded in levels. Verifiers agreed on each level.",
    LEVEL_TESTS["violate"]: "A model rewrote the transcript down to a level. Verifiers agreed on that level.",
    LEVEL_TESTS["satisfy"]: "A model rewrote the transcript up to a level. Verifiers agreed on that level.",
}

MAKER = "transcript/1"


def commissions_of(study: AgentStudy, transcripts: Sequence[Transcript]) -> tuple[Rewriting, ...]:
    """Returns every rewriting that a study asks for: each transcript, each item of the rubric, each objective."""
    spec = study.spec.rewriting
    if spec is None:
        return ()
    terms, labels = _terms(spec), GradeScale("binary", study.spec.labels)
    made = []
    for transcript in transcripts:
        for name, item in _items(spec, transcript).items():
            text, scale = (item, labels) if isinstance(item, str) else (item.words, item.scale)
            rubric = Rubric((RubricItem(name, text, scale),))
            source = _source(transcript, rubric)
            made += [
                Rewriting(source, rubric, name, objective, terms, target)
                for objective in spec.objectives
                for target in (("",) if isinstance(item, str) else item.targets(objective))
            ]
    return tuple(made)


def rewritings_open(study: AgentStudy, commissions: Sequence[Rewriting]) -> int:
    """Returns how many are neither rewritten nor given up. Creates no record where there is none."""
    if not has_generation(study.folder):
        return len(commissions)
    with generation(study.folder) as store:
        return len(rewritings_left(commissions, store))


def rewritten_stimuli(
    study: AgentStudy, commissions: Sequence[Rewriting]
) -> tuple[list[Stimulus], dict[str, Counter[str]]]:
    """Returns what was rewritten, each text after its original, and why the rest was dropped, by test.

    Raises UsageError if not everything has been settled.
    """
    if not commissions:
        return [], {}
    with generation(study.folder) as store:
        left = rewritings_left(commissions, store)
        attempts = list(store.attempts([commission.id for commission in commissions]))
    if left:
        raise UsageError(
            f"{len(left):,} of {len(commissions):,} transcripts are not rewritten yet",
            fix=f"run: umpirical generate {study.folder}",
        )
    review = read_review(_review_terms(study))
    made = {attempt.commission: attempt.stimulus for attempt in attempts if attempt.stimulus is not None}
    dropped: dict[str, Counter[str]] = {test: Counter() for test in (*TESTS.values(), *LEVEL_TESTS.values())}
    for attempt in attempts:
        if attempt.rejected and attempt.commission not in made:
            dropped[attempt.test][_reason(attempt)] += 1
    found: dict[str, Stimulus] = {}
    for commission in commissions:
        if (stimulus := made.get(commission.id)) is None:
            continue
        kept = _as_reviewed(study, review, stimulus)
        if kept is None:
            dropped[commission.test]["rejected or undecided in review"] += 1
            continue
        original = _settled(commission, stimulus)
        found[original.id] = original
        found[kept.id] = replace(kept, parent=original.id)
    return list(found.values()), {test: reasons for test, reasons in dropped.items() if reasons}


class AgentWriting(Writing):
    """The rewritings of a study."""

    def __init__(self, study: AgentStudy, transcripts: Sequence[Transcript]) -> None:
        spec = study.spec.rewriting
        if spec is None:
            raise UsageError(
                "this study has no rewritten transcripts, so there is nothing to generate or review",
                fix="set a planner and a verifier under rewriting, or run without: umpirical run",
            )
        self._study, self.folder = study, study.folder
        self.models = {role: writer.model for role, writer in spec.writers.items()}
        self.review = _review_terms(study)
        self._commissions = commissions_of(study, transcripts)
        self._by_id = {commission.id: commission for commission in self._commissions}

    @property
    def wanted(self) -> int:
        return len(self._commissions)

    def estimate(self, pricers: Mapping[str, Pricer]) -> WritingEstimate:
        with generation(self.folder) as store:
            return estimated(self._commissions, store, pricers, self.models)

    def write(
        self, pricers: Mapping[str, Pricer], ledger: Ledger, watch: Callable[[str, int], WatchGeneration]
    ) -> Written:
        with generation(self.folder) as store:
            with store.locked(), watch("generate", self.wanted) as watcher:
                run_on_loop(self._write(store, pricers, ledger, watcher))
            attempts = list(store.attempts(list(self._by_id)))
            left = {commission.id for commission, _ in rewritings_left(self._commissions, store)}
            return Written(self._made(attempts, left), store.failures(left))

    def item(self, settled: Attempt) -> ReviewItem | None:
        commission = self._by_id.get(settled.commission)
        if commission is None or settled.stimulus is None:
            return None
        return ReviewItem(
            id=settled.stimulus.id,
            test=commission.test,
            # The aim is hidden from a blind reviewer.
            question="Which label does this item give the run, and is the run realistic?",
            task=commission.rubric.words,
            before=commission.source.candidates[0],
            after=settled.text,
            generator=commission.terms.editor.model,
            labels=commission.item.scale.labels,
            target=commission.target,
            checks=settled.checks,
            opinions=settled.opinions,
            sensitive=commission.test in self._study.spec.review.sensitive,
        )

    def _made(self, attempts: Sequence[Attempt], left: set[str]) -> dict[str, MadeCounts]:
        made: dict[str, MadeCounts] = {}
        for commission in self._commissions:
            entry = made.setdefault(commission.test, MadeCounts())
            entry.wanted += 1
            entry.open += commission.id in left
        filled = {attempt.commission for attempt in attempts if attempt.stimulus is not None}
        for attempt in attempts:
            entry = made[attempt.test]
            entry.attempts += 1
            if attempt.stimulus is not None:
                entry.generated += 1
            else:
                reason = _reason(attempt)
                entry.rejected[reason] = entry.rejected.get(reason, 0) + 1
        for commission in self._commissions:
            made[commission.test].given_up += commission.id not in filled and commission.id not in left
        return made

    async def _write(
        self, store: GenerationStore, pricers: Mapping[str, Pricer], ledger: Ledger, watcher: GenerationWatcher
    ) -> None:
        spec = self._study.spec
        models = {
            role: open_model(model, Calling(spec.concurrency, Meter(pricers[role], ledger), seed=spec.seed))
            for role, model in self.models.items()
        }
        try:
            await rewrite_transcripts(self._commissions, store, models, watcher=watcher, concurrency=spec.concurrency)
        finally:
            for model in models.values():
                await model.close()


def _terms(spec: RewritingSpec) -> RewritingTerms:
    writers = {role: writer.writer for role, writer in spec.writers.items()}
    return RewritingTerms(
        planner=writers["planner"],
        editor=writers["editor"],
        summariser=writers["summariser"],
        verifier=writers["verifier"],
        fallback=writers.get("fallback"),
        votes=spec.votes,
        agree=spec.agree,
        temperatures=spec.temperatures,
        tries=spec.tries,
        most_steps=spec.most_steps,
    )


def _items(spec: RewritingSpec, transcript: Transcript) -> Mapping[str, str | LevelItemSpec]:
    """Returns the items of a transcript's rubric: those of the study, and its own."""
    own = transcript.columns.get(spec.column, "") if spec.column else ""
    found = dict(spec.items) | ({spec.column or "": own} if own.strip() else {})
    if not found:
        raise UsageError(
            f"transcript {transcript.name!r} has no rubric in {spec.column!r}", fix="set items under rewriting"
        )
    return found


def _source(transcript: Transcript, rubric: Rubric) -> Stimulus:
    return Stimulus(
        task_id=transcript.name,
        task=rubric.items[0].text,
        candidates=(transcript.text,),
        expectation=SameVerdict(),
        maker=MAKER,
        family=AS_FOUND_LEVELS if rubric.items[0].scale.kind == "ordinal" else AS_FOUND,
        stratum=rubric.items[0].name,
        strata={**transcript.strata, "rule": rubric.items[0].name},
    )


def _settled(commission: Rewriting, made: Stimulus) -> Stimulus:
    """Returns the original with the status that verifiers agreed on before anything was rewritten."""
    labels = commission.item.scale.labels
    status = made.evidence.get(STATUS) or (labels[-1] if commission.objective == "violate" else labels[0])
    return replace(
        commission.source, expectation=GivenLabel(status), gold=status, gold_from="construction", version="as-written"
    )


def _reason(attempt: Attempt) -> str:
    return ":".join(attempt.rejected.split(":")[:2])


def _review_terms(study: AgentStudy) -> ReviewTerms:
    return ReviewTerms(study.folder, study.spec.review)


def _as_reviewed(study: AgentStudy, review: Review | None, stimulus: Stimulus) -> Stimulus | None:
    """Returns a rewritten transcript as judges see it; None if people rejected it, or have yet to settle it."""
    waits = study.spec.review.undecided == "exclude"
    fate = "undecided" if review is None else review.fate(stimulus.id)
    shown = replace(stimulus, version="as-written")
    if review is None or fate == "undecided":
        return None if waits else shown
    if fate == "rejected":
        return None
    outcome = review.outcomes[stimulus.id]
    label = outcome.label or stimulus.gold
    text = outcome.text if outcome.edited else stimulus.candidates[0]
    found = next(transcript_from_text(text).problems(), "none")
    return replace(
        shown,
        candidates=(text,),
        gold=label,
        gold_from="review" if label != stimulus.gold else stimulus.gold_from,
        expectation=GivenLabel(label),
        evidence={**stimulus.evidence, "review": f"kept by people; problems of the transcript: {found}"},
    )
