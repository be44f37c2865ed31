"""Settles what takes several questions: many at a time, and every response durable before it is used."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol
from weakref import WeakValueDictionary

from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt
from umpirical.models.requests import Model
from umpirical.runs.workers import Workers
from umpirical.stimuli.asks import Ask
from umpirical.store.generation import Called, GenerationStore
from umpirical.store.schemas import storable

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

    def asked(self, response: Response) -> None: ...

    def commission_settled(self, last: Attempt | None) -> None:
        """Reports the last attempt at a commission; None if it stays open because a call failed."""
        ...


class Open(ABC):
    """A commission that is neither filled nor given up."""

    id: str
    numbers: range
    """The attempts that are left."""

    @abstractmethod
    def attempt(self, number: int) -> Generator[Ask, Response, Attempt]:
        """Begins an attempt."""

    def settled(self, attempt: Attempt) -> Attempt:
        """Returns an attempt as it is to be recorded. Others may have been settled since it began."""
        return attempt

    def is_final(self, attempt: Attempt) -> bool:
        """Whether no further attempt makes sense after one that was rejected."""
        del attempt
        return False


async def settle(
    left: Sequence[Open],
    store: GenerationStore,
    models: Mapping[str, Model],
    *,
    watcher: GenerationWatcher,
    concurrency: int = 16,
    give_up_after: int = 50,
) -> None:
    """Fills every open commission, as far as its attempts allow. If killed, it loses only the calls in flight.

    `models` are those that are asked, by role. `give_up_after` failures in a row stop it: a server that is down is not
    asked ten thousand times.
    """
    saving = _Saving(store)
    workers = Workers(
        min(concurrency, len(left)),
        give_up_after=give_up_after,
        fix="check that the models answer, then run the same command again",
    )
    filling = _Filling(store, models, saving, watcher, workers)
    try:
        await workers.work_through(left, filling.fill)
    finally:
        # Also on Ctrl-C: answers are paid for, so they are kept.
        saving.flush()


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
    models: Mapping[str, Model]
    saving: _Saving
    watcher: GenerationWatcher
    workers: Workers
    asking: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    """The questions that are being asked."""

    async def fill(self, commission: Open) -> None:
        """Fills one commission, as far as its attempts allow."""
        self.watcher.commission_settled(await self._fill(commission))

    async def _fill(self, commission: Open) -> Attempt | None:
        """Returns the last attempt: a stimulus, or the one before the commission is given up; None if a call failed."""
        last = None
        for number in commission.numbers:
            last = await self._attempt(commission, number)
            if last is None or last.stimulus is not None or commission.is_final(last):
                break
        return last

    async def _attempt(self, commission: Open, number: int) -> Attempt | None:
        protocol = commission.attempt(number)
        step = partial(next, protocol)
        while True:
            try:
                ask = step()
            except StopIteration as end:
                settled = commission.settled(end.value)
                await self.saving.save(attempts=[settled])
                return settled
            answer = await self._answered(commission, ask)
            if not is_answer(answer):
                protocol.close()
                return None
            step = partial(protocol.send, answer)

    async def _answered(self, commission: Open, ask: Ask) -> Response:
        """Returns the answer on record; without one, asks. Several may have the same question, which is asked once."""
        async with self.asking.setdefault(ask.id, asyncio.Lock()):
            earlier = self.store.call(ask.id)
            return earlier if earlier is not None and is_answer(earlier) else await self._ask(commission, ask)

    async def _ask(self, commission: Open, ask: Ask) -> Response:
        answer = await self.models[ask.role].generate(ask.request, trial_id=ask.id)
        # In the form in which it is read back, so that resuming after a crash gives the same text.
        answer = replace(answer, text=None if answer.text is None else storable(answer.text))
        await self.saving.save(calls=[(commission.id, ask.role, answer)])
        self.watcher.asked(answer)
        self.workers.settled(None if is_answer(answer) else f"{answer.failure}: {answer.failure_detail}")
        return answer
