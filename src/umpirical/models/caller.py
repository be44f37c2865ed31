"""The caller: everything around a request that does not depend on who serves the model.

    in its turn (pace)  >  within the budget (money)  >  sent by an adapter  >  charged  >  retried if that helps
                                                                              >  waited for if the server is down

An adapter makes one attempt at a time. It returns a reply or raises CallFailed, and says what it knows about the bill.
"""

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

import stamina

from umpirical.domain.responses import FailureKind, Response, Usage
from umpirical.models.money import FREE, Ledger, Meter, Received, Reservation
from umpirical.models.outage import Outages
from umpirical.models.pace import Pace
from umpirical.models.recording import Recording
from umpirical.models.requests import ChatRequest

# A retry is recorded with its response and shown as progress; a line on standard error for each would drown both.
logging.getLogger("stamina").setLevel(logging.ERROR)

RETRIED: frozenset[FailureKind] = frozenset({"rate-limited", "server-error", "timeout", "connection", "malformed"})
"""Failures worth retrying. A request that the server rejects, or the model refuses, would end the same way again."""

MAX_RETRY_AFTER = 60.0
"""Seconds. If a server asks for more, the call fails, and the run can be resumed later."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one attempt."""

    text: str
    finish_reason: str = ""
    usage: Usage | None = field(default_factory=Usage)
    """None if the server said that it did not do the work, which is not billed."""
    logprobs: str = ""
    served_by: str = ""
    unread: str = ""
    """Reasoning that came with the answer: it is billed as output, and not kept."""
    sent: str = ""
    """Parameters as sent, as JSON, if they differ from those that the connection announces."""


UNKNOWN = Usage()
NO_REPLY = Reply("")


@dataclass(eq=False)
class CallFailed(Exception):
    """One attempt gave no answer."""

    kind: FailureKind
    detail: str
    """In full, as the server said it. What is recorded of it is up to the caller."""
    _: KW_ONLY
    retry_after: float | None = None
    busy: bool = False
    """Whether the server asked for fewer calls at a time."""
    turned_down: bool = False
    """Whether the server said that it did not do the work, or the request was never sent: neither is billed."""
    usage: Usage | None = None
    """Set if there was a reply that is not an answer: the server did work, which is charged."""
    sent: str = ""
    """As in Reply."""
    down: bool = False
    """Whether the server cannot be reached, or says that it is not available."""
    lasting: bool = False
    """Whether another attempt would end in the same way, although failures of this kind may pass."""

    def __post_init__(self) -> None:
        super().__init__(f"{self.kind}: {self.detail}")

    def slow_down(self, pace: Pace, mark: int) -> None:
        """Passes on a server's request for fewer calls, for at most as long as a retry would wait."""
        wait = self.retry_after if (self.retry_after or 0) <= MAX_RETRY_AFTER else None
        pace.push_back(mark, retry_after=wait)


class Withdrawn(asyncio.CancelledError):
    """The run stopped before the request was sent, so there is nothing to bill."""


def backoff(failed: CallFailed) -> bool | float:
    """Returns whether to try again, or after how many seconds if the server said so."""
    if failed.lasting or failed.kind not in RETRIED:
        return False
    if failed.retry_after is None:
        return True
    return failed.retry_after if failed.retry_after <= MAX_RETRY_AFTER else False


@dataclass(frozen=True, slots=True)
class Retrying:
    """How hard to try."""

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 20.0


class Connection(ABC):
    """A model that an adapter has reached. It only sends: pace, retries and money are up to the caller."""

    client: str = ""
    """What sends the requests, with its version; recorded beside what the server says about itself."""
    gathers: bool = False
    """Whether requests wait for each other and are sent as a batch, so that there is no pace to find."""
    secrets: tuple[str, ...] = ()
    """Everything secret that is sent along. The caller takes it out of all that is recorded."""

    @property
    def requests_per_attempt(self) -> int:
        """How often the underlying client may send a single request."""
        return 1

    @abstractmethod
    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        """Makes one attempt. Raises CallFailed, and nothing else, if it gives no answer."""

    @abstractmethod
    def parameters(self, request: ChatRequest) -> str:
        """Returns the decoding parameters that are sent with a request, as JSON."""

    def try_again(self, failed: CallFailed) -> bool | float:
        """Returns whether another attempt makes sense, or after how many seconds if that is known."""
        return backoff(failed)

    async def close(self) -> None:  # noqa: B027  # many have nothing to release
        """Releases the resources used for sending. May be called more than once."""


class Caller:
    """A model that can be asked: one connection, at its pace, within its budget, with as many retries as it takes."""

    def __init__(
        self,
        connection: Connection,
        *,
        retrying: Retrying | None = None,
        pace: Pace | None = None,
        meter: Meter | None = None,
        outages: Outages | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        """`secrets` are those that the connection may not know of itself."""
        self._connection = connection
        self._recording = Recording((*connection.secrets, *secrets))
        self._retrying = retrying or Retrying()
        self.pace = pace or Pace(16)
        self._meter = meter or Meter(FREE, Ledger())
        self._outages = outages or Outages(0)

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        """Asks until there is an answer or another attempt would not help. A failure is a response too."""
        call, text, failure, detail = _Call(), None, None, ""
        try:
            reply = await self._answered(request, trial_id, call)
            text = reply.text
        except CallFailed as failed:
            reply, failure, detail = NO_REPLY, failed.kind, failed.detail
        # Made once, with everything in it: to replace fields of a response takes longer than to make it.
        whole = Response(
            trial_id,
            text,
            failure,
            detail,
            reply.finish_reason,
            call.usage,
            reply.logprobs,
            self._recording.repeated(call.sent or self._connection.parameters(request)),
            reply.served_by,
            (time.perf_counter() - call.start) * 1000,
            call.attempts,
            call.rate_limited,
            call.cost,
            self._meter.pricer.table,
            call.asked_at,
        )
        kept = self._recording.keep(whole, request.decoding)
        served_by = f"{kept.served_by} {self._connection.client}".strip()
        return kept if served_by == kept.served_by else replace(kept, served_by=served_by)

    async def close(self) -> None:
        await self._connection.close()

    async def _answered(self, request: ChatRequest, trial_id: str, call: "_Call") -> Reply:
        """Asks as often as it takes, and through an outage."""

        async def probe() -> Reply | None:
            try:
                return await self._attempt(request, trial_id, call)
            except CallFailed as failed:
                if failed.down:
                    return None
                raise

        reply = None
        while reply is None:
            try:
                reply = await self._persist(request, trial_id, call)
            except CallFailed as failed:
                before = call.answers_before
                if not failed.down or not self._outages.waits(before):
                    raise
                reply = await self._outages.until_back(probe)
                if reply is None and self._outages.answers == before:
                    raise
        self._outages.answered()
        return reply

    async def _persist(self, request: ChatRequest, trial_id: str, call: "_Call") -> Reply:
        try:
            return await self._attempt(request, trial_id, call)
        except CallFailed as failed:
            first = failed
        # Most calls need no retry, so they bypass its machinery; the others enter it with their first failure.
        async for turn in stamina.retry_context(
            on=self._again,
            attempts=self._retrying.attempts,
            timeout=None,
            wait_initial=self._retrying.first_wait,
            wait_max=self._retrying.longest_wait,
            wait_jitter=self._retrying.first_wait,
        ):
            with turn:
                if turn.num == 1:
                    raise first
                return await self._attempt(request, trial_id, call)
        raise first  # not reached: the last turn returns or raises

    def _again(self, error: Exception) -> bool | float:
        return self._connection.try_again(error) if isinstance(error, CallFailed) else False

    async def _attempt(self, request: ChatRequest, trial_id: str, call: "_Call") -> Reply:
        """Makes one attempt: in its turn, within the budget, and charged however it ends."""
        call.attempts += 1
        call.answers_before = self._outages.answers
        mark = await self.pace.enter()
        reservation, usage, received, start = None, None, None, time.perf_counter()
        try:
            reservation = await self._meter.reserve(request, attempts=self._connection.requests_per_attempt)
            start = time.perf_counter()
            reply = await self._connection.send(request, trial_id=trial_id)
            usage, received, call.sent = reply.usage, received_of(reply), reply.sent or call.sent
            if usage is None:
                reservation.not_billed()
        except CallFailed as failed:
            usage = failed.usage
            call.failed(failed, reservation)
            if failed.busy and not self._connection.gathers:
                failed.slow_down(self.pace, mark)
            raise
        except Withdrawn:
            if reservation is not None:
                reservation.not_billed()
            raise
        finally:
            latency = None
            if usage is not None and reservation is not None:
                latency = time.perf_counter() - start
                call.book(reservation, usage, received)
            call.let_go(reservation)
            self.pace.leave(latency=latency)
        return reply


def received_of(reply: Reply) -> Received:
    """Returns what came with a reply that is billed as output."""
    # Every protocol lists the alternatives of a token once, even if there are none.
    return Received(reply.text, reply.unread, reply.logprobs.count('"top_logprobs"'))


@dataclass(slots=True)
class _Call:
    """Totals over the attempts at one question."""

    attempts: int = 0
    answers_before: int = 0
    """Answers to all calls before the last attempt at this one."""
    rate_limited: int = 0
    usage: Usage = UNKNOWN
    cost: Decimal | None = Decimal(0)
    """None once the price of an attempt is unknown."""
    sent: str = ""
    asked_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    start: float = field(default_factory=time.perf_counter)

    def failed(self, failed: CallFailed, reservation: Reservation | None) -> None:
        self.rate_limited += failed.kind == "rate-limited"
        self.sent = failed.sent or self.sent
        # A server that is not available has not begun to answer. A batch it may have made all the same.
        if (failed.turned_down or failed.down) and reservation is not None:
            reservation.not_billed()

    def book(self, reservation: Reservation, usage: Usage, received: Received | None) -> None:
        """Charges a reply, for which the server did work."""
        cost = reservation.billed(usage, received)
        self.usage = usage if self.usage is UNKNOWN else self.usage.plus(usage)
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def let_go(self, reservation: Reservation | None) -> None:
        """Ends the attempt: what is still reserved for it may have been billed."""
        if reservation is not None and reservation.open:
            reservation.perhaps_billed()
            self.cost = None
