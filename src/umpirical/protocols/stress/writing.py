"""What a generator writes for a stress study, and what its validators say about it."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import islice

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Response
from umpirical.domain.reviews import ReviewItem
from umpirical.models.money import Ledger, Meter, Pricer
from umpirical.models.prices import UNPRICED, WorstCase
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, open_model
from umpirical.protocols.review import review_item
from umpirical.protocols.stress.spec import StressStudy
from umpirical.protocols.stress.stimuli import (
    existing_generation,
    generated_made,
    open_generation,
    planned_commissions,
    read_originals,
    texts_by_label,
)
from umpirical.protocols.writing import WatchGeneration, Writing, WritingEstimate, Written
from umpirical.runs.attempts import GenerationWatcher
from umpirical.runs.generation import Unlike, Writers, commissions_left, generate
from umpirical.runs.loop import run_on_loop
from umpirical.stimuli.generation.attempt import attempt, opinion_schema, validator_prompt
from umpirical.stimuli.generation.commissions import Commission

BYTES_PER_TOKEN = 6
"""Most bytes of a token in a generated text, for the bound on what validators read."""

GENERATOR, VALIDATOR, FALLBACK = "generator", "validator", "fallback"


class StressWriting(Writing):
    """The commissions of a study: reads the dataset, and plans every text."""

    def __init__(self, study: StressStudy) -> None:
        stress = study.spec.stress
        if stress.generator is None or stress.validator is None or not stress.generated:
            raise UsageError(
                "no test of the study is written by a model, so there is nothing to generate or to review",
                fix="name a test such as paraphrase under stress, with a generator and a validator; "
                "umpirical run  measures with what a program makes",
            )
        self._study = study
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
        store = open_generation(self._study.folder)
        try:
            left = commissions_left(self._planned.commissions, store)
        finally:
            store.close()
        fewest = most = 0
        expected, at_most = WorstCase(), WorstCase()
        for commission, tried in left:
            votes = 0 if commission.perturbation.validation == "none" else commission.terms.votes
            agree, attempts = min(votes, commission.terms.agree), commission.terms.attempts - tried
            fewest += 1 + agree
            most += attempts * (1 + votes * (len(self.models) - 1))
            worst = {part: _worst(commission, part, pricers[part]) for part in self.models}
            # Nobody knows how often the fallback will be asked: at worst about every opinion.
            expected.add(worst[GENERATOR], self.models[GENERATOR])
            expected.add(worst[VALIDATOR], self.models[VALIDATOR], times=agree)
            for part, model in self.models.items():
                at_most.add(worst[part], model, times=attempts if part == GENERATOR else attempts * votes)
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
        store = open_generation(self._study.folder)
        try:
            with store.locked(), watch("generate", self.wanted) as watcher:
                run_on_loop(self._write(pricers, ledger, watcher))
            attempts = list(store.attempts(list(self._commissions)))
            left = {commission.id for commission, _ in commissions_left(self._planned.commissions, store)}
            failures = store.failures(left)
        finally:
            store.close()
        return Written(generated_made(self._planned, attempts), failures)

    def calls(self) -> Iterator[Response]:
        store = existing_generation(self._study.folder)
        if store is not None:
            try:
                yield from (response for _, response in store.spent())
            finally:
                store.close()

    def items_after(self, serial: int, *, most: int) -> list[tuple[int, ReviewItem | None]]:
        # Nothing stays open between calls: generation may not have begun, and reading must not create its record.
        store = existing_generation(self._study.folder)
        if store is None:
            return []
        try:
            found = list(islice(store.accepted_after(serial), most))
        finally:
            store.close()
        items: list[tuple[int, ReviewItem | None]] = []
        for number, settled in found:
            commission = self._commissions.get(settled.commission)
            sensitive = settled.test in self._sensitive
            items.append((number, review_item(commission, settled, sensitive=sensitive) if commission else None))
        return items

    def _calling(self, meter: Meter) -> Calling:
        spec = self._study.spec
        # A simulated generator recognises the prompts of the study's own tests.
        return Calling(spec.concurrency, meter, answer_key=lambda: spec.stress.generated, seed=spec.seed)

    async def _write(self, pricers: Mapping[str, Pricer], ledger: Ledger, watcher: GenerationWatcher) -> None:
        stress, concurrency = self._study.spec.stress, self._study.spec.concurrency
        store = open_generation(self._study.folder)
        models = {
            part: open_model(model, self._calling(Meter(pricers[part], ledger))) for part, model in self.models.items()
        }
        writers = Writers(models[GENERATOR], models[VALIDATOR], models.get(FALLBACK))
        try:
            await generate(
                self._planned.commissions,
                store,
                writers,
                originals=texts_by_label(self._originals),
                watcher=watcher,
                unlike=Unlike(stress.unlike_originals, stress.unlike_generated),
                concurrency=concurrency,
            )
        finally:
            await writers.close()
            store.close()


def _worst(commission: Commission, part: str, pricer: Pricer) -> Decimal:
    """Returns the most that one text, or one opinion on it, can cost."""
    terms = commission.terms
    if part == GENERATOR:
        protocol = attempt(commission, 0)
        write = pricer.worst(next(protocol).request)
        protocol.close()
        return write
    writer = terms.fallback if part == FALLBACK else terms.validator
    if writer is None or commission.perturbation.validation == "none":
        return Decimal(0)
    longest = "x" * (terms.generator.max_tokens * BYTES_PER_TOKEN)
    request = ChatRequest(
        writer.model,
        (Message("user", validator_prompt(commission, longest)),),
        Decoding(max_tokens=writer.max_tokens),
        opinion_schema(commission.perturbation.validation, terms.scale),
    )
    return pricer.worst(request)
