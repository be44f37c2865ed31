"""The ledger: whatever happens to calls, and in whatever order, the cap holds and nothing hangs."""

import asyncio
import random
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.bills import Bill
from umpirical.domain.errors import StoreError, UmpiricalError
from umpirical.domain.responses import Usage
from umpirical.models.money import FREE, BoundBroken, CapReached, Ledger, Meter, Received
from umpirical.models.prices import RatePricer, TokenPrices
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.store.budget import Booked, Budget, Lease

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

    def __init__(self, cap, **shared):
        super().__init__(cap, **shared)
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
            assert self.given_up or self.elsewhere.total + self.spent + worst > self.cap
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


async def play(seed: int, cap: Decimal | None, *, disturbed: bool, **shared) -> Schedule:
    schedule = Schedule(random.Random(seed), CheckedLedger(cap, **shared))  # noqa: S311  # a schedule, not a secret
    async with asyncio.timeout(60):
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


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32), cents=st.integers(0, 30_000), disturbed=st.booleans())
def test_a_lease_covers_whatever_is_in_flight_under_every_schedule(seed, cents, disturbed):
    cap, third = Decimal(cents) / 100, Decimal(cents // 3) / 100
    with tempfile.TemporaryDirectory() as folder:
        budget = Budget(Path(folder))
        before = budget.lease("a", "before")
        before.renew(Bill(), least=Decimal(0), want=third, cap=cap)
        schedule = asyncio.run(play(seed, cap, disturbed=disturbed, lease=Lookout(budget)))
        ledger = schedule.ledger
        # Not settled yet, it is spent or reserved at what it may have come to; settled, at what it came to.
        assert ledger.spent + third <= budget.booked(["a"]).total <= cap
        ledger.close()
        assert ledger.reserved == 0
        assert ledger.spent == schedule.booked
        assert budget.booked(["a"]) == Booked(ledger.bill, third)


class Lookout(Lease):
    """A lease that checks at each renewal that what was in flight was covered by the one before."""

    def __init__(self, budget):
        super().__init__(budget, "a", "run", ("a",))
        self.held = Decimal(0)

    def renew(self, bill, *, least, want, cap):
        assert bill.total <= self.held <= least <= want
        self.held, others = super().renew(bill, least=least, want=want, cap=cap)
        assert least <= self.held <= want
        assert self.held + others.total <= cap
        return self.held, others


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
    with pytest.raises(CapReached, match="of the budget of \\$10") as reached:
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


# What a server says of its bill


QUESTION = ChatRequest("m", (Message("user", "which of the two is better " * 20),), Decoding(max_tokens=50))
"""120 words, so at least 60 tokens."""

DOLLAR_A_TOKEN = RatePricer(TokenPrices(Decimal(10**6), Decimal(10**6)), "test")
WORST = DOLLAR_A_TOKEN.worst(QUESTION)


@pytest.mark.parametrize(
    ("usage", "received", "cost", "fault"),
    [
        (Usage(150, 6), Received("1"), 156, None),
        (Usage(60, 1), Received("1"), 61, None),
        (Usage(150, 0), Received(""), 150, None),
        (Usage(), Received("1"), None, "uncounted"),
        (Usage(150), Received("1"), None, "uncounted"),
        (Usage(0, 0), Received("1"), None, "undercounted"),
        (Usage(1, 1), Received("1"), None, "undercounted"),
        (Usage(59, 40), Received("1"), None, "undercounted"),
        (Usage(150, 0), Received("1"), None, "undercounted"),
        (Usage(150, 9), Received("so it is " * 10), None, "undercounted"),
        (Usage(150, 9), Received("1", unread="so it is " * 10), None, "undercounted"),
        (Usage(150, 9), Received("1", tokens=20), None, "undercounted"),
        (Usage(150, 10), Received("1", tokens=20), 160, None),
    ],
)
async def test_a_count_is_believed_if_it_can_be_true(usage, received, cost, fault):
    ledger = Ledger()
    reservation = await Meter(DOLLAR_A_TOKEN, ledger).reserve(QUESTION)
    assert reservation.billed(usage, received) == cost
    assert ledger.spent == (WORST if cost is None else cost)
    certain = Bill(Decimal(cost or 0), billed_calls=1)
    assert ledger.bill == (certain if fault is None else Bill(uncertain=WORST, uncertain_calls=1, faults={fault: 1}))


@pytest.mark.parametrize(
    ("usage", "received", "spent"),
    [
        (Usage(150, 100_000), Received("1"), 100_150),
        (Usage(150, 900), Received("so it is " * 300), 1050),
        (Usage(1, 1), Received("so it is " * 300), WORST - 50 + 2700),
        (Usage(), Received("so it is " * 300), WORST - 50 + 2700),
        (Usage(), Received("1", unread="so it is " * 300), WORST - 50 + 2701),
    ],
)
async def test_what_is_more_than_was_allowed_is_booked_and_the_second_time_stops_the_run(usage, received, spent):
    ledger = Ledger(Decimal(1_000_000))
    meter = Meter(DOLLAR_A_TOKEN, ledger)
    for times in (1, 2):
        (await meter.reserve(QUESTION)).billed(usage, received)
        assert ledger.spent == times * spent
        assert ledger.bill.faults["overcharged"] == times
    with pytest.raises(BoundBroken, match="ignores max_tokens") as stopped:
        await meter.reserve(QUESTION)
    assert (stopped.value.exit_code, bool(stopped.value.fix)) == (6, True)


async def test_a_text_that_may_be_within_the_limit_is_no_proof():
    """Of 200 bytes and no count, nobody can say that they are more than 50 tokens."""
    ledger = Ledger()
    (await Meter(DOLLAR_A_TOKEN, ledger).reserve(QUESTION)).billed(Usage(), Received("so it is " * 22))
    assert ledger.spent == WORST
    assert "overcharged" not in ledger.bill.faults


async def test_free_calls_touch_no_file(tmp_path):
    ledger = Ledger(Decimal(1), lease=Budget(tmp_path / "study").lease("a", "run"))
    reservation = await Meter(FREE, ledger).reserve(QUESTION)
    assert reservation.billed(Usage()) == 0
    ledger.close()
    assert not (tmp_path / "study").exists()
    assert ledger.bill == Bill()


async def test_a_budget_that_cannot_be_written_sends_nothing(tmp_path):
    (tmp_path / "budget.sqlite").write_text("not a database " * 100)
    ledger = Ledger(Decimal(1), lease=Budget(tmp_path).lease("a", "run"))
    with pytest.raises(StoreError, match=r"budget\.sqlite"):
        await ledger.reserve(Decimal("0.1"))


async def test_another_process_that_gives_back_makes_room(tmp_path):
    budget = Budget(tmp_path)
    other = budget.lease("a", "other")
    other.renew(Bill(), least=Decimal(0), want=Decimal(9), cap=Decimal(10))
    ledger = Ledger(Decimal(10), lease=budget.lease("a", "run"))
    await ledger.reserve(Decimal(1))
    other.close(Bill(Decimal(2)))
    ledger.settle(Decimal(1), Decimal(1))
    await ledger.reserve(Decimal(7))
    ledger.settle(Decimal(7), Decimal(7))
    with pytest.raises(CapReached, match=r"\$10\.0000 of the budget of \$10 is spent or reserved"):
        await ledger.reserve(Decimal(1))
