"""Tokens by our own count: the most and the fewest that a text can be, and whether a server's count can be true.

No tokenizer is the provider's, so these are bounds. A call is reserved at the upper one. A server's count is held
against the lower one: a count below it is not believed.
"""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

from umpirical.domain.bills import Bill, BillingFault
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.responses import Usage
from umpirical.models.requests import ChatRequest
from umpirical.store.budget import Booked, Lease, Lending

MESSAGE_OVERHEAD = 32
"""Tokens that a chat template may put around one message, including a default system prompt."""

SCHEMA_OVERHEAD = 512
"""Tokens that a provider may put around an answer schema: Anthropic's instructions for tools take 346."""

WORDS_PER_TOKEN = 2
"""Most tokenizers never join two words; those that do save a third of the tokens."""

LETTERS_PER_TOKEN = 16
"""For what is not divided by spaces, such as Chinese, where a token is one or two letters."""

LETTERS_ENOUGH = 8
"""A count of one token for so many letters can be true of any text: it is twice what tokenizers make of prose."""

LONG_WORDS = 12
"""Mean length of words from which a text is not taken to be divided by spaces."""

_RUNS = re.compile(r"(.)\1+", re.DOTALL)
"""A long line of dashes or spaces may be a single token."""


def most_tokens(text: str) -> int:
    """Returns an upper bound: a byte-level tokenizer never makes more tokens than bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def most_input_tokens(request: ChatRequest) -> int:
    texts = [*(message.content for message in request.messages), request.answer_schema]
    overhead = MESSAGE_OVERHEAD * len(request.messages) + (SCHEMA_OVERHEAD if request.answer_schema else 0)
    return sum(map(most_tokens, texts)) + overhead


def fewest_tokens(text: str) -> int:
    """Returns a lower bound that an honest count does not fall below."""
    words = len(text.split())
    if len(text) <= LONG_WORDS * words:
        return -(-words // WORDS_PER_TOKEN)
    return max(-(-words // WORDS_PER_TOKEN), len(_RUNS.sub(r"\1", text)) // LETTERS_PER_TOKEN)


def fewest_input_tokens(request: ChatRequest) -> int:
    return sum(fewest_tokens(message.content) for message in request.messages)


def can_be_read_as(request: ChatRequest, tokens: int) -> bool:
    """Whether a request can be so few tokens. Most counts are seen to be so without dividing the text into words."""
    letters = sum(len(message.content) for message in request.messages)
    return tokens * LETTERS_ENOUGH >= letters or tokens >= fewest_input_tokens(request)


def counted_usage(
    read: object,
    written: object,
    *,
    cached: object = None,
    total: object = None,
    reasoning: object = None,
) -> Usage:
    """Returns a server's counts; what is no count is unknown, and so is everything if they contradict each other.

    Reasoning that is in the total alone, or in the details alone, was billed as output, and is counted as such.
    """
    sent, received, reused, whole, thought = map(_count, (read, written, cached, total, reasoning))
    if sent is None or received is None:
        return Usage(sent, received, reused)
    if (reused or 0) > sent or (whole and whole < sent + received):
        return Usage()
    if (thought or 0) > received:
        received += thought or 0
    return Usage(sent, max(received, (whole or 0) - sent), reused)


def _count(number: object) -> int | None:
    """Returns a count; None for anything else. True is no count, and neither is what no file format can hold."""
    return number if type(number) is int and 0 <= number < 2**63 else None


# Money: a call is sent only if the worst it can cost still fits into the budget.


BELIEVED = 2
"""How many calls may cost more than they could have before nothing more is sent: one may be a mishap."""


class CapReached(UmpiricalError):
    """The next call might exceed the budget. All answers are kept, and the run can be resumed."""

    exit_code = 6


class BoundBroken(CapReached):
    """Calls cost more than their requests allowed, so no cap can be kept with this server."""


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
    """What was spent, and what is reserved, by one process on one account. One event loop at a time.

    With a lease, the budget is shared with all processes and outlives them. Without one, it is this ledger's alone.
    """

    def __init__(self, cap: Decimal | None = None, *, lease: Lending | None = None) -> None:
        self.cap = cap
        """The budget: what may ever be booked, whoever books it."""
        self.spent = Decimal(0)
        """What was billed here, or may have been."""
        self.reserved = Decimal(0)
        """The worst case of everything in flight."""
        self.elsewhere = Booked()
        """What is booked under the same budget by earlier commands and by other processes, when last looked at."""
        self._billed = Decimal(0)
        self._billed_calls = self._uncertain_calls = 0
        self._faults: Counter[BillingFault] = Counter()
        self._in_flight = 0
        self._stop: CapReached | None = None
        self._waiting: set[asyncio.Future[None]] = set()
        self.lease = lease
        self._beside: dict[int | str, Bill] = {}
        self._limit = cap if lease is None else Decimal(0)
        """The most that `spent` and `reserved` may come to: the cap, or what the lease holds."""
        self._at_cap = False
        """Whether the lease holds all there is."""
        self._wanted = Decimal(0)
        """The worst case of the calls that wait for the lease to grow."""
        self._renewing: asyncio.Task[None] | None = None

    @property
    def bill(self) -> Bill:
        """What was spent here, and by processes that ask together with this one."""
        return Bill.sum([self._own_bill, *self._beside.values()])

    def spent_beside(self, other: int | str, bill: Bill) -> None:
        """Takes note of what another process, or a batch, has spent, which has a lease of its own."""
        self._beside[other] = bill

    @property
    def _own_bill(self) -> Bill:
        return Bill(
            self._billed, self.spent - self._billed, self._billed_calls, self._uncertain_calls, dict(self._faults)
        )

    async def reserve(self, worst: Decimal) -> None:
        """Waits until `worst` fits into the budget. Raises CapReached if nothing in flight could make room.

        From then on it raises for every call: the run is being stopped, and a cheaper call that still fits would be
        cancelled in flight and paid for in vain.
        """
        while self._stop is not None or not self._fits(worst):
            if self._stop is not None:
                raise self._stop
            if self.lease is not None and not (self._at_cap and self._in_flight):
                await self._renewed(worst)
                if self._fits(worst):
                    continue
            if not self._in_flight:
                self._stop = self._stop or self._reached(worst)
                raise self._stop
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)
        self.reserved += worst
        self._in_flight += 1
        if self.lease is not None and worst and not self._at_cap and self._renewing is None:
            # Renewed while there is still room for half of what is in flight, so that no call waits for the disk.
            assert self._limit is not None  # noqa: S101  # it has a lease
            if 2 * (self._limit - self.spent - self.reserved) < self.reserved:
                self._renew()

    def settle(self, worst: Decimal, billed: Decimal, *, faults: tuple[BillingFault, ...] = ()) -> None:
        """Replaces a reservation with what was billed, or with what may have been if a fault says so."""
        self.reserved -= worst
        self._in_flight -= 1
        self.spent += billed
        if faults in {(), ("overcharged",)}:
            self._billed += billed
            self._billed_calls += bool(billed)
        else:
            self._uncertain_calls += 1
        if faults:
            self._blame(faults, worst, billed)
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def check(self) -> None:
        """Raises if nothing more may be sent."""
        if self._stop is not None:
            raise self._stop

    def close(self) -> None:
        """Books what was spent, and gives back the rest of the lease. May be called more than once."""
        if self.lease is not None:
            self.lease.close(self._own_bill)

    def _blame(self, faults: tuple[BillingFault, ...], worst: Decimal, billed: Decimal) -> None:
        self._faults.update(faults)
        if "overcharged" in faults and self._faults["overcharged"] >= BELIEVED and self._stop is None:
            self._stop = BoundBroken(
                f"{self._faults['overcharged']} calls cost more than their requests allow. The last one cost "
                f"${billed:.6f}, but the maximum was ${worst:.6f}: the server ignores max_tokens",
                fix="set decoding.max_tokens to what the server really uses, or use a server that respects it",
            )

    def _fits(self, worst: Decimal) -> bool:
        # What is free needs no room, and no budget.
        return not worst or self._limit is None or self.spent + self.reserved + worst <= self._limit

    async def _renewed(self, worst: Decimal) -> None:
        """Waits for the lease to grow by what is needed, as far as the budget allows."""
        self._wanted += worst
        try:
            if self._renewing is not None:
                # It was asked for before this call came, and may not be enough.
                await asyncio.shield(self._renewing)
            if not self._fits(worst):
                await asyncio.shield(self._renew())
        finally:
            self._wanted -= worst

    def _renew(self) -> "asyncio.Task[None]":
        if self._renewing is None:
            self._renewing = asyncio.get_running_loop().create_task(self._renewal())
            # Whoever waits for it is told what went wrong; if nobody does, the next one will be.
            self._renewing.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._renewing

    async def _renewal(self) -> None:
        assert self.lease is not None  # noqa: S101  # it is renewed
        assert self._limit is not None  # noqa: S101  # likewise
        try:
            # Calls go on meanwhile, as far as the lease allows: so it never shrinks before its end.
            least = max(self._limit, self.spent + self.reserved)
            busy = self.reserved + self._wanted
            want = max(least, self.spent + 2 * busy)
            held, self.elsewhere = await asyncio.to_thread(
                self.lease.renew, self._own_bill, least=least, want=want, cap=self.cap
            )
            self._limit, self._at_cap = held, held < want
        finally:
            self._renewing = None

    def _reached(self, worst: Decimal) -> CapReached:
        booked = Booked(Bill.sum([self.elsewhere.bill, self._own_bill]), self.elsewhere.held)
        return CapReached(
            f"the next call may cost up to ${worst:.6f}, and {booked_line(booked, self.cap)}",
            fix="to continue, run the same command with a higher --max-cost",
        )


def booked_line(booked: Booked, cap: Decimal | None) -> str:
    """Says what is booked, of which budget, and how certain that is."""
    bill = booked.bill
    parts = [f"${bill.billed:.4f} billed"]
    if bill.uncertain:
        parts.append(f"${bill.uncertain:.4f} uncertain")
    if booked.held:
        parts.append(
            f"${booked.held:.4f} reserved by batches at a provider, or by processes that are running or were killed"
        )
    of = "" if cap is None else f" of the budget of ${cap}"
    detail = f": {', '.join(parts)}" if len(parts) > 1 else ""
    return f"${booked.total:.4f}{of} is spent or reserved{detail}"


@dataclass(frozen=True, slots=True)
class Received:
    """The parts of a reply that were written for it, and that are billed as output."""

    text: str = ""
    unread: str = ""
    """Reasoning, and whatever else nobody reads."""
    tokens: int = 0
    """How many tokens came with log-probabilities."""

    def fewest_tokens(self) -> int:
        # A server may list a token that it does not count, such as the one that ends the answer.
        unread = fewest_tokens(self.unread) if self.unread else 0
        return max(fewest_tokens(self.text) + unread, self.tokens // 2)

    def most_tokens(self) -> int:
        return max(most_tokens(self.text) + most_tokens(self.unread), self.tokens)


@dataclass(slots=True)
class Reservation:
    """One attempt's place in the budget. Settled exactly once, whatever happens to the attempt."""

    ledger: Ledger
    pricer: Pricer
    worst: Decimal
    request: ChatRequest
    open: bool = True

    def billed(self, usage: Usage, received: Received | None = None) -> Decimal | None:
        """Settles an attempt that got a reply. Returns what it cost; None if nobody knows.

        The provider's count is believed only if what was sent and received can be so few tokens. If not, the attempt
        may have cost anything up to its worst case.
        """
        cost = self.pricer.cost(usage)
        if not self.worst:
            self._settle(cost or Decimal(0))
            return cost
        received = received or Received()
        if cost is None or not self._plausible(usage, received):
            most = max(self.worst, cost or Decimal(0), self._most(received))
            over: tuple[BillingFault, ...] = ("overcharged",) if most > self.worst else ()
            self._settle(most, ("uncounted" if cost is None else "undercounted", *over))
            return None
        self._settle(cost, ("overcharged",) if cost > self.worst else ())
        return cost

    def not_billed(self) -> None:
        """Settles an attempt that the server refused, which no provider bills."""
        self._settle(Decimal(0))

    def perhaps_billed(self) -> None:
        """Settles an attempt without a usable reply, or that was abandoned: the provider may have done the work."""
        self._settle(self.worst, ("unanswered",) if self.worst else ())

    def _plausible(self, usage: Usage, received: Received) -> bool:
        written = usage.output_tokens or 0
        return written >= received.fewest_tokens() and can_be_read_as(self.request, usage.input_tokens or 0)

    def _most(self, received: Received) -> Decimal:
        """Returns the worst case if the server wrote as much as it sent, whatever the request allowed."""
        decoding = self.request.decoding
        # Only what is proven: a text of 800 bytes may be 200 tokens.
        if decoding.max_tokens is None or received.fewest_tokens() <= decoding.max_tokens:
            return self.worst
        sent = replace(decoding, max_tokens=received.most_tokens())
        return self.pricer.worst(replace(self.request, decoding=sent))

    def _settle(self, amount: Decimal, faults: tuple[BillingFault, ...] = ()) -> None:
        if self.open:
            self.open = False
            self.ledger.settle(self.worst, amount, faults=faults)


class BatchMoney:
    """The money of one batch: held at its worst case from before it is sent until its results are read.

    Out of a durable budget it is held by a lease of the batch's own, which another process may settle.
    """

    def __init__(self, ledger: Ledger, name: str) -> None:
        self._ledger, self._name = ledger, name
        # Only the process that leads has a lease of the study itself, and only that one writes batches.
        self._lease = ledger.lease.of_batch(name) if isinstance(ledger.lease, Lease) else None
        self._held = Decimal(0)
        self._others = Booked()

    async def hold(self, worst: Decimal) -> Decimal:
        """Holds as much of `worst` as the budget has room for, and returns how much that is.

        What is held already, by a process that was killed, counts. Holding less later gives the rest back.
        """
        if not worst:
            return worst
        if self._lease is not None:
            held, self._others = await asyncio.to_thread(
                self._lease.renew, Bill(), least=Decimal(0), want=worst, cap=self._ledger.cap
            )
            if not self._ledger.bill.total and not self._ledger.elsewhere.total:
                # Before this command has spent anything; later, its own batches would be among the others.
                self._ledger.elsewhere = self._others
            return max(held, Decimal(0))
        self.settle(Bill())
        cap, booked = self._ledger.cap, self._ledger.spent + self._ledger.reserved
        self._held = worst if cap is None else max(Decimal(0), min(worst, cap - booked))
        if self._held:
            await self._ledger.reserve(self._held)
        return self._held

    def settle(self, bill: Bill) -> None:
        """Books what the batch cost, and gives back the rest."""
        if self._lease is not None:
            self._lease.settle(bill)
        elif self._held:
            self._ledger.settle(self._held, bill.total, faults=tuple(bill.faults))
            self._held = Decimal(0)
            return
        self._ledger.spent_beside(self._name, bill)

    def reached(self, worst: Decimal) -> CapReached:
        """Returns the error for an entry that there is no room for."""
        ledger = self._ledger
        # With a lease, all that this command has booked is in the budget, too.
        booked = Booked(ledger.bill, ledger.reserved) if self._lease is None else self._others
        return CapReached(
            f"the next entry of a batch may cost up to ${worst:.6f}, and {booked_line(booked, self._ledger.cap)}",
            fix="to continue, run the same command with a higher --max-cost",
        )


@dataclass(frozen=True, slots=True)
class Meter:
    """A model's prices, and the ledger that its calls are charged to."""

    pricer: Pricer
    ledger: Ledger

    async def reserve(self, request: ChatRequest, *, attempts: int = 1) -> Reservation:
        """Reserves room in the budget for `attempts` attempts made as one, for an adapter that retries itself."""
        worst = self.pricer.worst(request) * attempts
        await self.ledger.reserve(worst)
        return Reservation(self.ledger, self.pricer, worst, request)
