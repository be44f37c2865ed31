"""The ledger: whatever happens to calls, and in whatever order, the cap holds and nothing hangs."""

import asyncio
import random
from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.errors import UmpiricalError
from umpirical.domain.responses import Usage
from umpirical.models.money import FREE, CapReached, Ledger, Meter
from umpirical.models.requests import ChatRequest, Decoding, Message

WORKERS = 64
CALLS = 6
"""Of each worker."""

REQUEST = ChatRequest("m", (Message("user", "?"),), Decoding(max_tokens=10))


@dataclass(frozen=True)
class Drawn:
    """Prices that were drawn beforehand: `worst` for a request, `actual` for any usage that was counted."""

    most: Decimal
    actual: Decimal
    table: str = "drawn"

    def cost(self, usage):
        return None if usage.output_tokens is None else self.actual

    def worst(self, request):  # noqa: ARG002
        return self.most


class CheckedLedger(Ledger):
    """Asserts after every step what must hold at every step."""

    def __init__(self, cap):
        super().__init__(cap)
        self.steps = 0
        self.in_flight = 0
        self.given_up = False
        self.most_reserved = Decimal(0)

    def check(self):
        self.steps += 1
        assert self.reserved >= 0
        assert self.spent >= 0
        if self.cap is not None:
            assert self.spent + self.reserved <= self.cap
        self.most_reserved = max(self.most_reserved, self.reserved)

    async def reserve(self, worst):
        try:
            await super().reserve(worst)
        except CapReached:
            assert self.in_flight == 0, "given up on while a call in flight could still make room"
            assert self.given_up or self.spent + worst > self.cap
            self.given_up = True
            raise
        self.in_flight += 1
        self.check()

    def settle(self, worst, billed, **how):
        self.in_flight -= 1
        super().settle(worst, billed, **how)
        self.check()


@dataclass
class Schedule:
    """A number of workers that do what a generator of random numbers tells them."""

    rng: random.Random
    ledger: CheckedLedger
    booked: Decimal = Decimal(0)
    """What the ledger should have as spent."""
    reached: int = 0

    async def work(self):
        for _ in range(CALLS):
            worst = Decimal(self.rng.randrange(1, 1000)) / 1000
            meter = Meter(Drawn(worst, worst * self.rng.randrange(0, 101) / 100), self.ledger)
            try:
                await self.call(meter)
            except CapReached:
                self.reached += 1
                return
            except ConnectionError:
                continue

    async def call(self, meter):
        """One attempt, booked the way an adapter books it."""
        attempts = self.rng.choice([1, 1, 1, 3])
        reservation = await meter.reserve(REQUEST, attempts=attempts)
        try:
            for _ in range(self.rng.randrange(0, 6)):
                await asyncio.sleep(0)
            match self.rng.choice(["billed", "uncounted", "turned down", "broken", "billed"]):
                case "billed":
                    self.booked += reservation.billed(Usage(1, 1))
                case "uncounted":
                    assert reservation.billed(Usage()) is None
                    self.booked += reservation.worst
                case "turned down":
                    reservation.not_billed()
                case "broken":
                    raise ConnectionError
        finally:
            if reservation.open:
                reservation.perhaps_billed()
                self.booked += reservation.worst
            reservation.perhaps_billed()

    async def disturb(self, workers):
        """Cancels workers at any moment: while they wait for room, and while their call is in flight."""
        while not all(worker.done() for worker in workers):
            for _ in range(self.rng.randrange(1, 40)):
                await asyncio.sleep(0)
            self.rng.choice(workers).cancel()


async def play(seed: int, cap: Decimal | None, *, disturbed: bool) -> Schedule:
    schedule = Schedule(random.Random(seed), CheckedLedger(cap))  # noqa: S311  # a schedule, not a secret
    async with asyncio.timeout(5):
        workers = [asyncio.create_task(schedule.work()) for _ in range(WORKERS)]
        if disturbed:
            await schedule.disturb(workers)
        for outcome in await asyncio.gather(*workers, return_exceptions=True):
            assert outcome is None or isinstance(outcome, asyncio.CancelledError)
    return schedule


@settings(deadline=None, max_examples=120)
@given(seed=st.integers(0, 2**32), cents=st.integers(0, 30_000), disturbed=st.booleans())
def test_the_cap_holds_under_every_schedule_and_nothing_hangs(seed, cents, disturbed):
    schedule = asyncio.run(play(seed, Decimal(cents) / 100, disturbed=disturbed))
    ledger = schedule.ledger
    assert ledger.reserved == 0
    assert ledger.in_flight == 0
    assert ledger.spent == schedule.booked <= ledger.cap


def test_a_tight_cap_is_reached_and_a_wide_one_is_not():
    tight = asyncio.run(play(1, Decimal(5), disturbed=False))
    wide = asyncio.run(play(1, Decimal(5000), disturbed=False))
    assert tight.reached > WORKERS / 2
    # No call reserves more than 3, so none is turned away before this.
    assert tight.ledger.spent > 2
    assert wide.reached == 0
    assert wide.ledger.most_reserved > tight.ledger.most_reserved


def test_without_a_cap_nothing_ever_waits():
    schedule = asyncio.run(play(2, None, disturbed=False))
    assert schedule.reached == 0
    assert schedule.ledger.steps == 2 * WORKERS * CALLS


async def test_what_waits_goes_on_when_a_call_costs_less_than_feared():
    ledger = Ledger(Decimal(10))
    await ledger.reserve(Decimal(8))
    waiting = asyncio.create_task(ledger.reserve(Decimal(5)))
    await asyncio.sleep(0)
    assert not waiting.done()
    ledger.settle(Decimal(8), Decimal(1))
    await waiting
    assert (ledger.spent, ledger.reserved) == (1, 5)


async def test_what_waits_is_told_when_there_will_be_no_room():
    ledger = Ledger(Decimal(10))
    await ledger.reserve(Decimal(8))
    waiting = asyncio.create_task(ledger.reserve(Decimal(5)))
    await asyncio.sleep(0)
    ledger.settle(Decimal(8), Decimal(8))
    with pytest.raises(CapReached, match="of \\$10") as reached:
        await waiting
    assert isinstance(reached.value, UmpiricalError)
    assert reached.value.exit_code == 6
    assert "--max-cost" in reached.value.fix


async def test_a_call_that_can_never_fit_is_not_waited_for():
    with pytest.raises(CapReached):
        await Ledger(Decimal(1)).reserve(Decimal("1.01"))


async def test_a_call_that_fits_exactly_is_sent():
    ledger = Ledger(Decimal(1))
    await ledger.reserve(Decimal("0.4"))
    await ledger.reserve(Decimal("0.6"))
    assert ledger.reserved == 1


async def test_under_a_cap_of_nothing_what_is_free_goes_on():
    meter = Meter(FREE, Ledger(Decimal(0)))
    reservation = await meter.reserve(REQUEST)
    assert reservation.billed(Usage()) == 0


async def test_once_the_cap_is_reached_nothing_more_is_sent():
    """The run is being stopped: a cheaper call that still fits would be cancelled in flight, and paid for nothing."""
    ledger = Ledger(Decimal(1))
    with pytest.raises(CapReached):
        await ledger.reserve(Decimal(2))
    with pytest.raises(CapReached):
        await ledger.reserve(Decimal("0.5"))


@pytest.mark.parametrize("first", ["billed", "not_billed", "perhaps_billed"])
@pytest.mark.parametrize("then", ["billed", "not_billed", "perhaps_billed"])
async def test_a_reservation_is_settled_exactly_once(first, then):
    ledger = Ledger(Decimal(10))
    reservation = await Meter(Drawn(Decimal(4), Decimal(3)), ledger).reserve(REQUEST)
    other = await Meter(Drawn(Decimal(4), Decimal(3)), ledger).reserve(REQUEST)

    def settle(way):
        return reservation.billed(Usage(1, 1)) if way == "billed" else getattr(reservation, way)()

    settle(first)
    spent = {"billed": 3, "not_billed": 0, "perhaps_billed": 4}[first]
    assert (ledger.spent, ledger.reserved, reservation.open) == (spent, 4, False)
    settle(then)
    assert (ledger.spent, ledger.reserved, other.open) == (spent, 4, True)


async def test_what_the_provider_did_not_count_is_spent_at_its_worst():
    ledger = Ledger()
    reservation = await Meter(Drawn(Decimal(4), Decimal(3)), ledger).reserve(REQUEST)
    assert reservation.billed(Usage()) is None
    assert ledger.spent == 4


async def test_attempts_made_as_one_are_reserved_together():
    ledger = Ledger(Decimal(10))
    reservation = await Meter(Drawn(Decimal(3), Decimal(1)), ledger).reserve(REQUEST, attempts=3)
    assert (reservation.worst, ledger.reserved) == (9, 9)


async def test_judges_that_share_a_ledger_share_the_cap():
    ledger = Ledger(Decimal(5))
    one, other = (Meter(Drawn(Decimal(3), Decimal(3)), ledger) for _ in range(2))
    (await one.reserve(REQUEST)).billed(Usage(1, 1))
    with pytest.raises(CapReached):
        await other.reserve(REQUEST)
