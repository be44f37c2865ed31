"""Money: a call is sent only if the worst it can cost still fits under the cap.

    spent + what calls in flight may cost + what this call may cost  <=  cap

Every attempt is reserved at its worst case before it is sent, and settled when it is known what was billed. Where that
is not known (no reply, or a reply without usage) the worst case counts as spent.
"""

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from umpirical.domain.errors import UmpiricalError
from umpirical.domain.responses import Usage
from umpirical.models.requests import ChatRequest

__all__ = ["FREE", "CapReached", "FreePricer", "Ledger", "Meter", "Pricer", "Reservation"]


class CapReached(UmpiricalError):
    """The next call might not fit under the cap. All that was answered is kept, and the run can be resumed."""

    exit_code = 6


class Pricer(Protocol):
    """What a model's tokens cost, in US dollars."""

    @property
    def table(self) -> str:
        """Where the prices are from, with version: goes into the record of every call."""
        ...

    def cost(self, usage: Usage) -> Decimal | None:
        """What was billed for one attempt; None if the provider did not count the tokens."""
        ...

    def worst(self, request: ChatRequest) -> Decimal:
        """The most one attempt at `request` can cost."""
        ...


@dataclass(frozen=True, slots=True)
class FreePricer:
    """Nobody sends a bill: simulated judges, and servers the user has declared to be free."""

    table: str = "free"

    def cost(self, usage: Usage) -> Decimal | None:  # noqa: ARG002
        return Decimal(0)

    def worst(self, request: ChatRequest) -> Decimal:  # noqa: ARG002
        return Decimal(0)


FREE = FreePricer()


class Ledger:
    """What was spent, and what is at stake. One for everything that shares a cap; one event loop at a time."""

    def __init__(self, cap: Decimal | None = None) -> None:
        self.cap = cap
        self.spent = Decimal(0)
        """Billed, or not known not to have been."""
        self.reserved = Decimal(0)
        """The worst case of everything in flight."""
        self._in_flight = 0
        self._reached = False
        self._waiting: set[asyncio.Future[None]] = set()

    async def reserve(self, worst: Decimal) -> None:
        """Waits until `worst` fits under the cap. Raises CapReached once nothing in flight could make room.

        From then on it raises for every call: the run is being stopped, and a cheaper call that still fits would be
        cancelled in flight and paid for nothing.
        """
        while self._reached or (self.cap is not None and self.spent + self.reserved + worst > self.cap):
            if self._reached or not self._in_flight:
                self._reached = True
                raise CapReached(
                    f"the next call may cost up to ${worst:.6f}, ${self.spent:.6f} of ${self.cap} is spent",
                    fix="run the same command with a higher --max-cost to go on",
                )
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)
        self.reserved += worst
        self._in_flight += 1

    def settle(self, worst: Decimal, billed: Decimal) -> None:
        """Replaces a reservation by what was billed."""
        self.reserved -= worst
        self._in_flight -= 1
        self.spent += billed
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


@dataclass(slots=True)
class Reservation:
    """One attempt's place under the cap. Settled exactly once, whatever happens to the attempt."""

    ledger: Ledger
    pricer: Pricer
    worst: Decimal
    open: bool = True

    def billed(self, usage: Usage) -> Decimal | None:
        """There was a reply. Returns what it cost, or None if the provider did not say."""
        cost = self.pricer.cost(usage)
        self._settle(self.worst if cost is None else cost)
        return cost

    def not_billed(self) -> None:
        """The server turned the attempt down: no provider bills for that."""
        self._settle(Decimal(0))

    def perhaps_billed(self) -> None:
        """No usable reply came back, or nobody waited for it: the provider may have done the work."""
        self._settle(self.worst)

    def _settle(self, amount: Decimal) -> None:
        if self.open:
            self.open = False
            self.ledger.settle(self.worst, amount)


@dataclass(frozen=True, slots=True)
class Meter:
    """A model's prices and the ledger its calls are booked in."""

    pricer: Pricer
    ledger: Ledger

    async def reserve(self, request: ChatRequest, *, attempts: int = 1) -> Reservation:
        """A place under the cap for `attempts` attempts made as one; an adapter that retries itself asks for all."""
        worst = self.pricer.worst(request) * attempts
        await self.ledger.reserve(worst)
        return Reservation(self.ledger, self.pricer, worst)
