"""Generates stimuli: many commissions at a time, and every response durable before it is used."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from umpirical.domain.attempts import Attempt
from umpirical.domain.responses import Response
from umpirical.models.requests import Model
from umpirical.runs.workers import Workers
from umpirical.stimuli.generation.attempt import Ask, attempt, check_again
from umpirical.stimuli.generation.commissions import Commission
from umpirical.store.generation import Called, GenerationStore
from umpirical.store.schemas import storable

__all__ = ["GenerationWatcher", "Writers", "commissions_left", "generate"]


UNFIT = ("HTTP 400", "HTTP 413", "HTTP 422")
"""How a server's permanent refusal of a request begins: it is too long, or against the server's policy."""


def is_answer(response: Response) -> bool:
    """Whether asking again would be useless: there is a text or a refusal, or the server will not take the request."""
    if response.failure == "rejected":
        return response.failure_detail.startswith(UNFIT)
    return response.failure in (None, "refused")


class GenerationWatcher(Protocol):
    """Is told about everything that settles, so that a person can see it."""

    def resumed(self, commissions: int) -> None:
        """Reports that this many commissions were already settled."""
        ...

    def asked(self, response: Response) -> None:
        """Reports that a model was asked."""
        ...

    def commission_settled(self, last: Attempt | None) -> None:
        """Reports the last attempt at a commission; None if it stays open because a call failed."""
        ...


@dataclass(frozen=True, slots=True)
class Writers:
    """The models, open for calls."""

    generator: Model
    validator: Model

    def of(self, ask: Ask) -> Model:
        return self.generator if ask.role == "generator" else self.validator


def commissions_left(commissions: Sequence[Commission], store: GenerationStore) -> list[tuple[Commission, int]]:
    """Returns commissions that are neither filled nor given up, each with the number of attempts so far."""
    settled = store.settled()
    left = []
    for commission in commissions:
        tried, taken = settled.get(commission.id, (0, False))
        if not taken and tried < commission.terms.attempts:
            left.append((commission, tried))
    return left


async def generate(  # noqa: PLR0913  # each by its name
    commissions: Sequence[Commission],
    store: GenerationStore,
    writers: Writers,
    *,
    originals: Mapping[str, Sequence[str]],
    watcher: GenerationWatcher,
    concurrency: int = 16,
    give_up_after: int = 50,
) -> None:
    """Fills every open commission, as far as its attempts allow. If killed, it loses only the calls in flight.

    `originals` are the user's own texts by label, which a text written for that label must not repeat.
    `give_up_after` failures in a row stop it: a server that is down is not asked ten thousand times.
    """
    left = commissions_left(commissions, store)
    watcher.resumed(len(commissions) - len(left))
    asked_before, texts = store.commissions_called(), _Texts(originals, _accepted(commissions, store))
    saving = _Saving(store)
    workers = Workers(
        min(concurrency, len(left)),
        give_up_after=give_up_after,
        fix="make sure that the models answer, then run the same command again",
    )
    filling = _Filling(store, writers, saving, texts, watcher, asked_before, workers)
    try:
        await workers.work_through(left, filling.fill)
    finally:
        # Also on Ctrl-C: answers are paid for, so they are kept.
        saving.flush()


def _accepted(commissions: Sequence[Commission], store: GenerationStore) -> Iterator[tuple[Commission, str]]:
    by_id = {commission.id: commission for commission in commissions}
    for settled in store.attempts():
        if settled.stimulus is not None and settled.commission in by_id:
            yield by_id[settled.commission], settled.text


class _Texts:
    """What a text written from scratch must not repeat: originals and earlier texts of the same label."""

    def __init__(self, originals: Mapping[str, Sequence[str]], accepted: Iterable[tuple[Commission, str]]) -> None:
        self._texts: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._originals = originals
        for commission, text in accepted:
            self.add(commission, text)

    def others(self, commission: Commission) -> tuple[str, ...]:
        if commission.perturbation.expectation != "given-label":
            return ()
        key = (commission.perturbation.name, commission.target)
        return (*self._originals.get(commission.target, ()), *self._texts[key])

    def add(self, commission: Commission, text: str) -> None:
        if commission.perturbation.expectation == "given-label":
            self._texts[commission.perturbation.name, commission.target].append(text)


@dataclass
class _Saving:
    """Group commit: everything that arrives during one turn of the event loop is made durable together."""

    store: GenerationStore
    _calls: list[Called] = field(default_factory=list)
    _attempts: list[Attempt] = field(default_factory=list)
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def save(self, *, calls: Sequence[Called] = (), attempts: Sequence[Attempt] = ()) -> None:
        """Returns once they are durable."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self.flush)
        self._calls += calls
        self._attempts += attempts
        durable = loop.create_future()
        self._waiting.append(durable)
        await durable

    def flush(self) -> None:
        calls, attempts, waiting = self._calls, self._attempts, self._waiting
        self._calls, self._attempts, self._waiting = [], [], []
        if not waiting:
            return
        try:
            self.store.commit(calls, attempts)
        except Exception as error:  # noqa: BLE001  # whoever waits for the disk has to be told
            for durable in waiting:
                if not durable.done():
                    durable.set_exception(error)
            return
        for durable in waiting:
            if not durable.done():
                durable.set_result(None)


@dataclass
class _Filling:
    """The state that the workers share."""

    store: GenerationStore
    writers: Writers
    saving: _Saving
    texts: _Texts
    watcher: GenerationWatcher
    asked_before: set[str]
    workers: Workers

    async def fill(self, open_commission: tuple[Commission, int]) -> None:
        """Fills one commission, as far as its attempts allow."""
        self.watcher.commission_settled(await self._fill(*open_commission))

    async def _fill(self, commission: Commission, tried: int) -> Attempt | None:
        """Returns the last attempt: a stimulus, or the one before the commission is given up; None if a call failed."""
        known = self.store.calls(commission.id) if commission.id in self.asked_before else {}
        last = None
        for number in range(tried, commission.terms.attempts):
            last = await self._attempt(commission, number, known)
            if last is None or last.stimulus is not None:
                break
        return last

    async def _attempt(self, commission: Commission, number: int, known: Mapping[str, Response]) -> Attempt | None:
        protocol = attempt(commission, number, others=self.texts.others(commission))
        ask = next(protocol)
        while True:
            earlier = known.get(ask.id)
            answer = earlier if earlier is not None and is_answer(earlier) else await self._ask(commission, ask)
            if not is_answer(answer):
                protocol.close()
                return None
            try:
                ask = protocol.send(answer)
            except StopIteration as end:
                settled: Attempt = end.value
                return await self._settle(commission, settled)

    async def _settle(self, commission: Commission, settled: Attempt) -> Attempt:
        if settled.stimulus is not None:
            # Another worker may have written the same text while validators were asked about this one.
            settled = check_again(commission, settled, others=self.texts.others(commission))
        if settled.stimulus is not None:
            self.texts.add(commission, settled.text)
        await self.saving.save(attempts=[settled])
        return settled

    async def _ask(self, commission: Commission, ask: Ask) -> Response:
        answer = await self.writers.of(ask).generate(ask.request, trial_id=ask.id)
        # In the form in which it is read back, so that resuming after a crash gives the same text.
        answer = replace(answer, text=None if answer.text is None else storable(answer.text))
        await self.saving.save(calls=[(commission.id, ask.role, answer)])
        self.watcher.asked(answer)
        self.workers.settled(None if is_answer(answer) else f"{answer.failure}: {answer.failure_detail}")
        return answer
