"""Generates stimuli: fills the commissions of single texts."""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt
from umpirical.models.requests import Model
from umpirical.runs.attempts import GenerationWatcher, Open, settle
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.generation.attempt import attempt, check_again
from umpirical.stimuli.generation.commissions import Commission
from umpirical.store.generation import GenerationStore

Scope = Literal["level", "all"]
"""Which texts a new one is compared with: those of its own level, or those of all levels."""


@dataclass(frozen=True, slots=True)
class Unlike:
    """What a text written from scratch must not repeat."""

    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The user's own, by label."""
    originals: Scope = "level"
    generated: Scope = "level"


@dataclass(frozen=True, slots=True)
class Writers:
    """The models, open for calls."""

    generator: Model
    validator: Model
    fallback: Model | None = None
    """Asked where the validator refuses."""
    own_generator: Model | None = None
    """The judge's own model."""

    @property
    def by_role(self) -> dict[str, Model]:
        some = {"fallback": self.fallback, "own-generator": self.own_generator}
        models = {role: model for role, model in some.items() if model is not None}
        return {"generator": self.generator, "validator": self.validator, **models}

    async def close(self) -> None:
        for model in self.by_role.values():
            await model.close()


def commissions_left(commissions: Sequence[Commission], store: GenerationStore) -> list[tuple[Commission, int]]:
    """Returns commissions that are neither filled nor given up, each with the number of attempts so far."""
    settled = store.settled()
    left = []
    for commission in commissions:
        tried, taken = settled.get(commission.id, (0, False))
        if not taken and tried < commission.terms.attempts:
            left.append((commission, tried))
    return left


async def generate(
    commissions: Sequence[Commission],
    store: GenerationStore,
    writers: Writers,
    *,
    watcher: GenerationWatcher,
    unlike: Unlike,
    concurrency: int = 16,
) -> None:
    """Fills every open commission, as far as its attempts allow. If killed, it loses only the calls in flight."""
    left = commissions_left(commissions, store)
    watcher.resumed(len(commissions) - len(left))
    texts = _Texts(unlike, _accepted(commissions, store))
    filling = [_OpenText(commission, tried, texts) for commission, tried in left]
    await settle(filling, store, writers.by_role, watcher=watcher, concurrency=concurrency)


def _accepted(commissions: Sequence[Commission], store: GenerationStore) -> Iterator[tuple[Commission, str]]:
    by_id = {commission.id: commission for commission in commissions}
    for settled in store.attempts():
        if settled.stimulus is not None and settled.commission in by_id:
            yield by_id[settled.commission], settled.text


class _Texts:
    """What a text written from scratch must not repeat: originals and earlier texts, of the same label or of all."""

    def __init__(self, unlike: Unlike, accepted: Iterable[tuple[Commission, str]]) -> None:
        self._texts: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._unlike = unlike
        for commission, text in accepted:
            self.add(commission, text)

    def others(self, commission: Commission) -> tuple[str, ...]:
        if commission.perturbation.expectation != "given-label":
            return ()
        test, target = commission.perturbation.name, commission.target
        originals = [*self._unlike.texts.get(target, ())]
        if self._unlike.originals == "all":
            originals = [text for texts in self._unlike.texts.values() for text in texts]
        written = self._texts[test, target]
        if self._unlike.generated == "all":
            written = [text for (name, _), texts in self._texts.items() if name == test for text in texts]
        return (*originals, *written)

    def add(self, commission: Commission, text: str) -> None:
        if commission.perturbation.expectation == "given-label":
            self._texts[commission.perturbation.name, commission.target].append(text)


class _OpenText(Open):
    """A single text that is still to be written."""

    def __init__(self, commission: Commission, tried: int, texts: _Texts) -> None:
        self.id = commission.id
        self.numbers = range(tried, commission.terms.attempts)
        self._commission = commission
        self._texts = texts

    def attempt(self, number: int) -> Generator[Ask, Response, Attempt]:
        return attempt(self._commission, number, others=self._texts.others(self._commission))

    def settled(self, attempt: Attempt) -> Attempt:
        if attempt.stimulus is not None:
            # Another worker may have written the same text while validators were asked about this one.
            attempt = check_again(self._commission, attempt, others=self._texts.others(self._commission))
        if attempt.stimulus is not None:
            self._texts.add(self._commission, attempt.text)
        return attempt
