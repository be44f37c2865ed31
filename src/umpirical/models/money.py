"""Money: a call is sent only if the worst it can cost still fits under the cap.

    spent + what calls in flight may cost + what this call may cost  <=  cap

Every attempt is reserved at its worst case before it is sent, and settled when it is known what was billed. If that is
not known (no reply, or a reply without usage), the worst case counts as spent.
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
    """The next call might exceed the cap. All answers are kept, and the run can be resumed."""

    exit_code = 6


class Pricer(Protocol):
    """What a model's tokens cost, in US dollars."""

    @property
    def table(self) -> str:
        """Where the prices come from, with a version; recorded with every call."""
        ...

    def cost(self, usage: Usage) -> Decimal | None:
        """Returns what was billed for one attempt; None if the provider did not count the tokens."""
        ...

    def worst(self, request: ChatRequest) -> Decimal:
        """Returns the most that one attempt at `request` can cost."""
        ...


@dataclass(frozen=True, slots=True)
class FreePricer:
    """For calls that are not billed: simulated judges, and servers that the user has declared to be free."""

    table: str = "free"

    def cost(self, usage: Usage) -> Decimal | None:  # noqa: ARG002
        return Decimal(0)

    def worst(self, request: ChatRequest) -> Decimal:  # noqa: ARG002
        return Decimal(0)


FREE = FreePricer()


class Ledger:
    """What was spent, and what is reserved. One for everything that shares a cap; one event loop at a time."""

    def __init__(self, cap: Decimal | None = None) -> None:
        self.cap = cap
        self.spent = Decimal(0)
        """What was billed, or may have been."""
        self.reserved = Decimal(0)
        """The worst case of everything in flight."""
        self._in_flight = 0
        self._reached = False
        self._waiting: set[asyncio.Future[None]] = set()

    async def reserve(self, worst: Decimal) -> None:
        """Waits until `worst` fits under the cap. Raises CapReached if nothing in flight could make room.

        From then on it raises for every call: the run is being stopped, and a cheaper call that still fits would be
        cancelled in flight and paid for in vain.
        """
        while self._reached or (self.cap is not None and self.spent + self.reserved + worst > self.cap):
            if self._reached or not self._in_flight:
                self._reached = True
                raise CapReached(
                    f"the next call may cost up to ${worst:.6f}, ${self.spent:.6f} of ${self.cap} is spent",
                    fix="run the same command with a higher --max-cost to resume",
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
        """Replaces a reservation with what was billed."""
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
        """Settles an attempt that got a reply. Returns what it cost, or None if the provider did not say."""
        cost = self.pricer.cost(usage)
        self._settle(self.worst if cost is None else cost)
        return cost

    def not_billed(self) -> None:
        """Settles an attempt that the server refused, which no provider bills."""
        self._settle(Decimal(0))

    def perhaps_billed(self) -> None:
        """Settles an attempt without a usable reply, or that was abandoned: the provider may have done the work."""
        self._settle(self.worst)

    def _settle(self, amount: Decimal) -> None:
        if self.open:
            self.open = False
            self.ledger.settle(self.worst, amount)


@dataclass(frozen=True, slots=True)
class Meter:
    """A model's prices, and the ledger that its calls are charged to."""

    pricer: Pricer
    ledger: Ledger

    async def reserve(self, request: ChatRequest, *, attempts: int = 1) -> Reservation:
        """Reserves room under the cap for `attempts` attempts made as one, for an adapter that retries itself."""
        worst = self.pricer.worst(request) * attempts
        await self.ledger.reserve(worst)
        return Reservation(self.ledger, self.pricer, worst)
