"""What every adapter does around a request: try again where it makes sense, count it all, and book it."""

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

import stamina

from umpirical.domain.responses import FailureKind, Response, Usage
from umpirical.models.money import Meter, Reservation
from umpirical.models.pace import Pace

__all__ = ["RETRIED", "CallFailed", "CallRecord", "Retrying", "backoff", "persist"]

# A retry is recorded with its response and shown as progress; a line on standard error for each would drown both.
logging.getLogger("stamina").setLevel(logging.ERROR)

RETRIED: frozenset[FailureKind] = frozenset({"rate-limited", "server-error", "timeout", "connection", "malformed"})
"""Worth asking again. A request the server rejects and a refusal by the model would come out the same."""

MAX_RETRY_AFTER = 60.0
"""Seconds; a server that asks for more gets a failure, and the run can be resumed later."""

DETAIL_LENGTH = 300


class CallFailed(Exception):
    """One attempt brought no answer."""

    def __init__(self, kind: FailureKind, detail: str, *, retry_after: float | None = None, busy: bool = False) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail[:DETAIL_LENGTH]
        self.retry_after = retry_after
        self.busy = busy
        """The server asked for fewer calls at a time."""

    def slow_down(self, pace: Pace, mark: int) -> None:
        """Passes a server's wish for fewer calls on, for no longer than it would be waited for."""
        wait = self.retry_after if (self.retry_after or 0) <= MAX_RETRY_AFTER else None
        pace.push_back(mark, retry_after=wait)


@dataclass(frozen=True, slots=True)
class Retrying:
    """How hard to try."""

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 20.0


@dataclass(slots=True)
class CallRecord:
    """What the attempts at one question add up to."""

    attempts: int = 0
    rate_limited: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = Decimal(0)
    """None once an attempt's price is not known."""
    sent: str = ""
    """Parameters of the last request, as JSON, where only the adapter's own client knows them."""
    _asked_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    _start: float = field(default_factory=time.perf_counter)

    def book(self, reservation: Reservation, usage: Usage) -> None:
        """A reply came back, and was worked for."""
        cost = reservation.billed(usage)
        self.usage = self.usage.plus(usage)
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def let_go(self, reservation: Reservation | None) -> None:
        """The attempt is over: what is still reserved for it may have been billed."""
        if reservation is not None and reservation.open:
            reservation.perhaps_billed()
            self.cost = None

    def complete(self, answer: Response, meter: Meter) -> Response:
        """The response with all that was counted on the way to it."""
        return replace(
            answer,
            usage=self.usage,
            latency_ms=(time.perf_counter() - self._start) * 1000,
            attempts=self.attempts,
            rate_limited=self.rate_limited,
            cost=self.cost,
            price_table=meter.pricer.table,
            asked_at=self._asked_at,
        )


def backoff(error: Exception) -> bool | float:
    """Whether to retry, and after how long if the server said."""
    if not isinstance(error, CallFailed) or error.kind not in RETRIED:
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= MAX_RETRY_AFTER else False


async def persist(
    attempt: Callable[[], Awaitable[Response]],
    retrying: Retrying,
    trial_id: str,
    *,
    again: Callable[[Exception], bool | float] = backoff,
) -> Response:
    """Attempts until there is an answer or no more sense in it; a failure is a response too."""
    try:
        return await attempt()
    except CallFailed as failed:
        first = failed
    # Most calls need no retry and do not pay for its machinery; those that do enter it with their first failure.
    answer = Response(trial_id, None, first.kind, first.detail)
    try:
        async for turn in stamina.retry_context(
            on=again,
            attempts=retrying.attempts,
            timeout=None,
            wait_initial=retrying.first_wait,
            wait_max=retrying.longest_wait,
            wait_jitter=retrying.first_wait,
        ):
            with turn:
                if turn.num == 1:
                    raise first
                answer = await attempt()
    except CallFailed as failed:
        answer = Response(trial_id, None, failed.kind, failed.detail)
    return answer
