"""Batches: many questions handed to a provider at once, which answers within a day and at a lower price.

An adapter may offer a batch form of its model. Like a connection it only sends and reads: what goes into a batch, when
it is sent, what it may cost and what is recorded is up to whoever runs it. A batch has a name of ours, by which it can
be found at the provider even if nobody has heard the provider's id for it.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import IO

from umpirical.domain.responses import Response, Usage
from umpirical.models.caller import CallFailed, Reply, received_of
from umpirical.models.money import Ledger, Pricer, Reservation
from umpirical.models.recording import Recording
from umpirical.models.requests import ChatRequest

_ID = re.compile(r"[A-Za-z0-9_.-]{1,200}")

_SEPARATOR = "-"


@dataclass(frozen=True, slots=True)
class BatchState:
    """What a provider says about a batch."""

    over: bool
    """Whether there is nothing more to wait for."""
    said: str
    """In the provider's words."""
    total: int = 0
    done: int = 0
    """Entries that are through, as far as the provider says so before the end."""
    results: tuple[str, ...] = ()
    """Where the results are."""
    unworked: bool = False
    """Whether it was turned down as a whole before any work, which no provider bills."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One line of the results."""

    custom_id: str
    found: Reply | CallFailed


class Undecided(Exception):
    """Whether a batch of ours is at the provider cannot be told yet."""


class BatchForm(ABC):
    """Batches of one model at one provider. Everything but `find` raises CallFailed, and nothing else."""

    most_entries: int
    most_bytes: int
    """What the provider takes at once."""
    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"
    """What stands around the entries in a file."""
    secrets: tuple[str, ...] = ()

    @abstractmethod
    def entry(self, request: ChatRequest, custom_id: str) -> bytes:
        """Returns a question as an entry. Raises CallFailed for one that the protocol cannot say."""

    @abstractmethod
    def parameters(self, request: ChatRequest) -> str:
        """Returns the decoding parameters that are sent with a request, as JSON."""

    @abstractmethod
    async def check(self) -> None:
        """Raises CallFailed of kind `rejected` if the server has no batches. Nothing is made there."""

    async def upload(self, name: str, file: IO[bytes]) -> str:  # noqa: ARG002  # not every protocol has this step
        """Sends the entries, if that comes before the batch; returns the provider's name for them, or nothing."""
        return ""

    @abstractmethod
    async def create(self, name: str, file: IO[bytes], uploaded: str) -> str:
        """Creates the batch and returns its id: from here on, the provider works."""

    @abstractmethod
    async def find(self, name: str, *, since: datetime, entries: int) -> str | None:
        """Returns the id of the batch of that name; None if there is none. Raises Undecided, or CallFailed."""

    @abstractmethod
    async def state(self, batch: str) -> BatchState: ...

    @abstractmethod
    def results(self, batch: str, state: BatchState, *, most: int, entries: int) -> AsyncIterator[BatchResult]:
        """Yields the results, in any order. A line that cannot be read, or has more than `most` bytes, is not there."""

    @abstractmethod
    async def close(self) -> None: ...


def custom_id(trial_id: str, name: str) -> str:
    """Returns the id of an entry: the trial's, and the batch's, so that no result of another batch passes for it."""
    return f"{trial_id}{_SEPARATOR}{name}"


def trial_of(found: str, name: str) -> str | None:
    """Returns the trial that an entry of this batch is about; None if it is not of this batch."""
    trial_id, _, batch = found.rpartition(_SEPARATOR)
    return trial_id if batch == name else None


def checked_id(found: object) -> str:
    """Returns an id that a provider gave, which becomes part of an address. Raises CallFailed if it is none."""
    if not isinstance(found, str) or not _ID.fullmatch(found) or not found.strip("."):
        raise CallFailed("malformed", f"invalid batch or file id: {found!r}"[:200])
    return found


@dataclass
class Settlement:
    """Turns the results of one batch into responses and a bill. The same results always give the same."""

    form: BatchForm
    pricer: Pricer
    asked_at: str
    recording: Recording
    ledger: Ledger = field(default_factory=Ledger)
    """A ledger of its own: a batch is settled as a whole, or not at all."""

    def response(self, request: ChatRequest, trial_id: str, found: Reply | CallFailed) -> Response:
        """Settles one entry, and returns what is recorded of it."""
        worst = self.pricer.worst(request)
        self.ledger.reserved += worst
        reservation = Reservation(self.ledger, self.pricer, worst, request)
        usage, cost = found.usage, None if worst else Decimal(0)
        if usage is not None:
            cost = reservation.billed(usage, received_of(found) if isinstance(found, Reply) else None)
        elif isinstance(found, CallFailed) and found.turned_down:
            reservation.not_billed()
            cost = Decimal(0)
        else:
            reservation.perhaps_billed()
        return self._recorded(request, trial_id, found, usage or Usage(), cost)

    def _recorded(
        self, request: ChatRequest, trial_id: str, found: Reply | CallFailed, usage: Usage, cost: Decimal | None
    ) -> Response:
        reply, failed = (found, None) if isinstance(found, Reply) else (Reply(""), found)
        whole = Response(
            trial_id,
            reply.text if failed is None else None,
            None if failed is None else failed.kind,
            "" if failed is None else failed.detail,
            reply.finish_reason,
            usage,
            reply.logprobs,
            self.recording.repeated(self.form.parameters(request)),
            reply.served_by,
            cost=cost,
            price_table=self.pricer.table,
            asked_at=self.asked_at,
        )
        return self.recording.keep(whole, request.decoding)
