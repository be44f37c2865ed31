"""Generating the stimuli of a study: what it will take, and doing it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.judges.factory import Calling, open_model
from umpirical.judges.spec import ModelSpec
from umpirical.models.money import Ledger, Meter, Pricer
from umpirical.models.prices import UNPRICED, TokenPrices
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.runs.generation import GenerationWatcher, Writers, commissions_left, generate
from umpirical.stimuli.generation.attempt import attempt
from umpirical.stimuli.generation.commissions import Commission
from umpirical.stimuli.generation.opinions import opinion_schema, validator_prompt
from umpirical.study.estimating import pricer_of
from umpirical.study.files import Study
from umpirical.study.stress.making import MadeCounts, generated_made, open_generation
from umpirical.study.stress.originals import read_originals
from umpirical.study.stress.writing import PlannedCommissions, planned_commissions, texts_by_label

__all__ = [
    "Generation",
    "GenerationEstimate",
    "WatchGeneration",
    "Written",
    "estimate_generation",
    "generate_stimuli",
    "plan_generation",
]

BYTES_PER_TOKEN = 6
"""Of a text that a generator writes, at most, for the bound on what validators read."""


class WatchGeneration(GenerationWatcher, AbstractContextManager["WatchGeneration"], Protocol):
    """A watcher that is shown while stimuli are generated."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What is to be written, and by whom."""

    study: Study
    originals: tuple[Stimulus, ...]
    planned: PlannedCommissions
    generator: ModelSpec
    validator: ModelSpec
    generator_pricer: Pricer
    validator_pricer: Pricer


@dataclass(frozen=True, slots=True)
class GenerationEstimate:
    """What generating will take."""

    commissions: int
    settled: int
    """Written or given up before."""
    fewest_calls: int
    """If every first attempt is taken by the first validators asked."""
    most_calls: int
    """If every commission is given up."""
    expected: Decimal | None
    """US dollars for the fewest calls at their worst; None if no price is known."""
    at_most: Decimal | None
    """US dollars for the most calls at their worst."""
    tables: tuple[str, ...]
    """Where the prices are from."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of it, by test."""

    made: Mapping[str, MadeCounts]
    failures: Mapping[tuple[str, str], int]
    """Kind and detail of the calls that failed for what is still open."""

    @property
    def open(self) -> int:
        return sum(made.open for made in self.made.values())


def plan_generation(study: Study, overrides: Mapping[str, TokenPrices], *, allow_unpriced: bool = False) -> Generation:
    """Reads the dataset, plans every commission and finds the prices. Raises if there is nothing to generate."""
    stress = study.stress
    if stress is None:
        raise UsageError("the study has no dataset", fix="umpirical init --from FILE  writes a study that has one")
    if stress.generator is None or stress.validator is None or not stress.generated:
        raise UsageError(
            "no test of the study is written by a model", fix="umpirical run  measures with what a program makes"
        )
    originals = read_originals(study).stimuli
    models = stress.generator.model, stress.validator.model
    if stray := [name for name in overrides if name not in {model.name for model in models}]:
        raise UsageError(f"--price {stray[0]}: neither generator nor validator has that model")
    pricers = [pricer_of(model, overrides, allow_unpriced=allow_unpriced) for model in models]
    return Generation(study, originals, planned_commissions(study, originals), *models, *pricers)


def estimate_generation(generation: Generation) -> GenerationEstimate:
    """Counts what is left to write, and prices it. Reads the record; asks nothing."""
    store = open_generation(generation.study.folder)
    try:
        left = commissions_left(generation.planned.commissions, store)
    finally:
        store.close()
    fewest = most = 0
    expected = at_most = Decimal(0)
    for commission, tried in left:
        votes = 0 if commission.perturbation.validation == "none" else commission.terms.votes
        agree = min(votes, commission.terms.agree)
        write, validate = _worst(generation, commission)
        attempts = commission.terms.attempts - tried
        fewest += 1 + agree
        most += attempts * (1 + votes)
        expected += write + agree * validate
        at_most += attempts * (write + votes * validate)
    known = UNPRICED not in (generation.generator_pricer, generation.validator_pricer)
    tables = dict.fromkeys([generation.generator_pricer.table, generation.validator_pricer.table])
    commissions = len(generation.planned.commissions)
    return GenerationEstimate(
        commissions=commissions,
        settled=commissions - len(left),
        fewest_calls=fewest,
        most_calls=most,
        expected=expected if known else None,
        at_most=at_most if known else None,
        tables=tuple(tables),
    )


def generate_stimuli(generation: Generation, ledger: Ledger, watch: Callable[[str, int], WatchGeneration]) -> Written:
    """Writes what is left, or goes on where it stopped. Calls are booked in `ledger`, and stop at its cap."""
    store = open_generation(generation.study.folder)
    try:
        with store.locked(), watch("generate", len(generation.planned.commissions)) as watcher:
            asyncio.run(_generate(generation, ledger, watcher))
        attempts = list(store.attempts([commission.id for commission in generation.planned.commissions]))
        left = {commission.id for commission, _ in commissions_left(generation.planned.commissions, store)}
        failures = store.failures(left)
    finally:
        store.close()
    return Written(generated_made(generation.planned, attempts), failures)


async def _generate(generation: Generation, ledger: Ledger, watcher: GenerationWatcher) -> None:
    concurrency = generation.study.spec.concurrency
    store = open_generation(generation.study.folder)
    generator = open_model(generation.generator, Calling(concurrency, Meter(generation.generator_pricer, ledger)))
    validator = open_model(generation.validator, Calling(concurrency, Meter(generation.validator_pricer, ledger)))
    try:
        await generate(
            generation.planned.commissions,
            store,
            Writers(generator, validator),
            originals=texts_by_label(generation.originals),
            watcher=watcher,
            concurrency=concurrency,
        )
    finally:
        await generator.close()
        await validator.close()
        store.close()


def _worst(generation: Generation, commission: Commission) -> tuple[Decimal, Decimal]:
    """The most that one text, and one opinion on it, can cost."""
    protocol = attempt(commission, 0)
    write = generation.generator_pricer.worst(next(protocol).request)
    protocol.close()
    if commission.perturbation.validation == "none":
        return write, Decimal(0)
    longest = "x" * (commission.terms.generator.max_tokens * BYTES_PER_TOKEN)
    request = ChatRequest(
        commission.terms.validator.model,
        (Message("user", validator_prompt(commission, longest)),),
        Decoding(max_tokens=commission.terms.validator.max_tokens),
        opinion_schema(commission.perturbation.validation, commission.terms.scale),
    )
    return write, generation.validator_pricer.worst(request)
