"""What a generator writes for a stress study, and what its validators say about it."""

from collections.abc import Callable, Mapping
from decimal import Decimal

from umpirical.domain.bills import WritingEstimate
from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewItem
from umpirical.domain.stimuli import Attempt
from umpirical.models.money import Ledger, Meter, Pricer
from umpirical.models.prices import UNPRICED, WorstCase
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, open_model
from umpirical.protocols.review import review_item
from umpirical.protocols.stress.spec import StressStudy
from umpirical.protocols.stress.stimuli import (
    generated_made,
    planned_commissions,
    read_originals,
    texts_by_label,
)
from umpirical.protocols.writing import WatchGeneration, Writing, Written, generation
from umpirical.runs.attempts import GenerationWatcher
from umpirical.runs.generation import Unlike, Writers, commissions_left, generate
from umpirical.runs.loop import run_on_loop
from umpirical.stimuli.generation.attempt import attempt, opinion_schema, validator_prompt
from umpirical.stimuli.generation.commissions import Commission

BYTES_PER_TOKEN = 6
"""Most bytes of a token in a generated text, for the bound on what validators read."""

GENERATOR, OWN, VALIDATOR, FALLBACK = "generator", "own-generator", "validator", "fallback"
WRITERS = {GENERATOR, OWN}


class StressWriting(Writing):
    """The commissions of a study: reads the dataset, and plans every text."""

    def __init__(self, study: StressStudy) -> None:
        stress = study.spec.stress
        if stress.generator is None or stress.validator is None or not stress.generated:
            raise UsageError(
                "this study has no generated tests, so there is nothing to generate or review",
                fix="add a test such as paraphrase under stress, with a generator and a validator, "
                "or run without: umpirical run",
            )
        self._study, self.folder = study, study.folder
        self.models = {part: writer.model for part, writer in stress.writers.items()}
        self.review = study.review_terms
        self._originals = read_originals(study).stimuli
        self._planned = planned_commissions(study, self._originals)
        self._commissions = {commission.id: commission for commission in self._planned.commissions}
        self._sensitive = frozenset(study.spec.review.sensitive)

    @property
    def wanted(self) -> int:
        return len(self._commissions)

    def estimate(self, pricers: Mapping[str, Pricer]) -> WritingEstimate:
        with generation(self.folder) as store:
            left = commissions_left(self._planned.commissions, store)
        fewest = most = 0
        expected, at_most = WorstCase(), WorstCase()
        for commission, tried in left:
            votes = 0 if commission.perturbation.validation == "none" else commission.terms.votes
            agree, attempts = min(votes, commission.terms.agree), commission.terms.attempts - tried
            fewest += agree + (not commission.given)
            most += attempts * (votes * len(self.models.keys() - WRITERS) + (not commission.given))
            worst = {part: _worst(commission, part, pricers[part]) for part in self.models}
            # Nobody knows how often the fallback will be asked: at worst about every opinion.
            writer = commission.perturbation.writer
            expected.add(worst[writer], self.models[writer])
            expected.add(worst[VALIDATOR], self.models[VALIDATOR], times=agree)
            for part, model in self.models.items():
                at_most.add(worst[part], model, times=attempts if part in WRITERS else attempts * votes)
        known = UNPRICED not in pricers.values()
        return WritingEstimate(
            commissions=self.wanted,
            settled=self.wanted - len(left),
            fewest_calls=fewest,
            most_calls=most,
            expected=expected.total if known else None,
            at_most=at_most.at_most if known else None,
            tables=tuple(dict.fromkeys(pricer.table for pricer in pricers.values())),
        )

    def write(
        self, pricers: Mapping[str, Pricer], ledger: Ledger, watch: Callable[[str, int], WatchGeneration]
    ) -> Written:
        with generation(self.folder) as store:
            with store.locked(), watch("generate", self.wanted) as watcher:
                run_on_loop(self._write(pricers, ledger, watcher))
            attempts = list(store.attempts(list(self._commissions)))
            left = {commission.id for commission, _ in commissions_left(self._planned.commissions, store)}
            failures = store.failures(left)
        return Written(generated_made(self._planned, attempts), failures)

    def item(self, settled: Attempt) -> ReviewItem | None:
        commission = self._commissions.get(settled.commission)
        return review_item(commission, settled, sensitive=settled.test in self._sensitive) if commission else None

    def _calling(self, meter: Meter) -> Calling:
        spec = self._study.spec
        # A simulated generator recognises the prompts of the study's own tests.
        return Calling(spec.concurrency, meter, answer_key=lambda: spec.stress.generated, seed=spec.seed)

    async def _write(self, pricers: Mapping[str, Pricer], ledger: Ledger, watcher: GenerationWatcher) -> None:
        stress, concurrency = self._study.spec.stress, self._study.spec.concurrency
        models = {
            part: open_model(model, self._calling(Meter(pricers[part], ledger))) for part, model in self.models.items()
        }
        writers = Writers(models[GENERATOR], models[VALIDATOR], models.get(FALLBACK), models.get(OWN))
        try:
            with generation(self.folder) as store:
                await generate(
                    self._planned.commissions,
                    store,
                    writers,
                    watcher=watcher,
                    unlike=Unlike(texts_by_label(self._originals), stress.unlike_originals, stress.unlike_generated),
                    concurrency=concurrency,
                )
        finally:
            await writers.close()


def _worst(commission: Commission, part: str, pricer: Pricer) -> Decimal:
    """Returns the most that one text, or one opinion on it, can cost."""
    terms = commission.terms
    if part in WRITERS and (commission.given or part != commission.perturbation.writer):
        return Decimal(0)
    if part in WRITERS:
        protocol = attempt(commission, 0)
        write = pricer.worst(next(protocol).request)
        protocol.close()
        return write
    writer = terms.fallback if part == FALLBACK else terms.validator
    if writer is None or commission.perturbation.validation == "none":
        return Decimal(0)
    longest = "x" * (commission.generator.max_tokens * BYTES_PER_TOKEN)
    request = ChatRequest(
        writer.model,
        (Message("user", validator_prompt(commission, longest)),),
        Decoding(max_tokens=writer.max_tokens),
        opinion_schema(commission.perturbation.validation, terms.scale),
    )
    return pricer.worst(request)
