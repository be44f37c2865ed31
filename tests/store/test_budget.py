"""The budget: never less is booked than was spent, never more than the cap allows, however it ends."""

import asyncio
import multiprocessing
import os
import pickle
import random
import sqlite3
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.bills import Bill
from umpirical.domain.errors import StoreError
from umpirical.models.money import CapReached, Ledger
from umpirical.store.budget import Booked, Budget

CENT = Decimal("0.01")


def billed(amount: object, uncertain: object = 0) -> Bill:
    return Bill(Decimal(amount), Decimal(uncertain), billed_calls=1)


def held(budget: Budget, account: str = "a") -> Decimal:
    return budget.booked([account]).total


def test_reading_creates_nothing(tmp_path):
    budget = Budget(tmp_path / "study")
    assert budget.booked(["a"]) == Booked()
    assert budget.bill_of("run") is None
    assert not budget.holds("a")
    lease = budget.lease("a", "run")
    lease.close(Bill())
    assert not (tmp_path / "study").exists()


def test_a_lease_is_booked_in_full_until_it_is_closed(tmp_path):
    budget = Budget(tmp_path)
    lease = budget.lease("a", "run")
    assert lease.renew(Bill(), least=Decimal(0), want=Decimal(3), cap=Decimal(10)) == (3, Booked())
    assert (held(budget), budget.booked(["a"]).held) == (3, 3)
    lease.renew(billed(1), least=Decimal(3), want=Decimal(5), cap=Decimal(10))
    assert budget.booked(["a"]) == Booked(billed(1), Decimal(4))
    lease.close(billed(2, 1))
    lease.close(billed(9))
    assert budget.booked(["a"]) == Booked(billed(2, 1), Decimal(0))
    assert budget.bill_of("run") == billed(2, 1)
    assert budget.bill_of("another") is None


def test_a_lease_takes_what_is_left_and_no_more(tmp_path):
    budget = Budget(tmp_path)
    one, other = budget.lease("a", "one"), budget.lease("a", "other")
    one.renew(Bill(), least=Decimal(0), want=Decimal(7), cap=Decimal(10))
    assert other.renew(Bill(), least=Decimal(0), want=Decimal(7), cap=Decimal(10))[0] == 3
    assert one.renew(Bill(), least=Decimal(7), want=Decimal(9), cap=Decimal(10))[0] == 7
    other.close(billed(1))
    assert one.renew(Bill(), least=Decimal(7), want=Decimal(19), cap=Decimal(10))[0] == 9
    assert held(budget) == 10


def test_accounts_in_scope_share_the_cap_and_others_do_not(tmp_path):
    budget = Budget(tmp_path)
    budget.lease("b", "run b").renew(Bill(), least=Decimal(0), want=Decimal(4), cap=None)
    budget.lease("c", "run c").renew(Bill(), least=Decimal(0), want=Decimal(100), cap=None)
    lease = budget.lease("a", "run a", scope=["a", "b"])
    got, others = lease.renew(Bill(), least=Decimal(0), want=Decimal(9), cap=Decimal(10))
    assert (got, others.total) == (6, 4)


def test_what_a_killed_process_reserved_stays_booked_and_becomes_uncertain(tmp_path):
    budget = Budget(tmp_path)
    budget.lease("a", "run").renew(billed(1), least=Decimal(0), want=Decimal(6), cap=None)
    assert budget.booked(["a"]) == Booked(billed(1), Decimal(5))
    after = budget.lease("a", "run")
    got, others = after.renew(Bill(), least=Decimal(0), want=Decimal(9), cap=Decimal(10))
    assert (got, others) == (4, Booked(Bill(Decimal(1), Decimal(5), 1, faults={"abandoned": 1})))
    after.close(billed(2))
    assert held(budget) == 8


def test_a_process_that_was_taken_for_dead_books_what_it_spent_all_the_same(tmp_path):
    budget = Budget(tmp_path)
    alive, second = budget.lease("a", "run"), budget.lease("a", "run")
    alive.renew(Bill(), least=Decimal(0), want=Decimal(6), cap=None)
    second.renew(Bill(), least=Decimal(0), want=Decimal(1), cap=None)
    assert held(budget) == 7
    alive.close(billed(4))
    second.close(billed(1))
    assert budget.booked(["a"]).bill.total == 5


def test_an_account_is_opened_once(tmp_path):
    budget = Budget(tmp_path)
    budget.begin("a", billed(3))
    budget.begin("a", billed(3))
    assert held(budget) == 3
    assert budget.holds("a")
    assert not budget.holds("b")


def test_cents_are_not_lost(tmp_path):
    budget, tiny = Budget(tmp_path), Decimal("0.000000000000000001")
    lease = budget.lease("a", "run")
    lease.renew(Bill(), least=Decimal(0), want=Decimal(10**9) + tiny, cap=None)
    lease.close(Bill(Decimal(10**9) + tiny))
    assert held(budget) == Decimal(10**9) + tiny


# Damage


def altered(folder: Path, *statements: str) -> Budget:
    budget = Budget(folder)
    lease = budget.lease("a", "run")
    lease.renew(Bill(), least=Decimal(0), want=Decimal(3), cap=None)
    lease.close(billed(2))
    db = sqlite3.connect(budget.path, isolation_level=None)
    for statement in statements:
        db.execute(statement)
    db.close()
    return budget


@pytest.mark.parametrize(
    "statement",
    [
        "pragma user_version = 2",
        "create trigger cheap after update on lease begin update lease set held = '0'; end",
        "create view other as select 1",
        "drop index lease_by_account",
        "alter table lease add column more",
        "update lease set billed = '1'",
        "update lease set open = 0, held = '0'",
        "update lease set billed = '-5'",
        "update lease set billed = 'NaN'",
        "update lease set uncertain = 'much'",
        "update lease set billed = x'00'",
        "update lease set billed_calls = -1",
        "update lease set billed_calls = 'x'",
        "update lease set faults = '{'",
        "update lease set faults = '7'",
        "update lease set faults = '{\"uncounted\": -1}'",
    ],
)
def test_what_was_tampered_with_is_refused(tmp_path, statement):
    budget = altered(tmp_path, statement)
    with pytest.raises(StoreError) as refused:
        budget.booked(["a"])
    assert refused.value.fix
    with pytest.raises(StoreError):
        budget.lease("a", "run").renew(Bill(), least=Decimal(0), want=Decimal(1), cap=Decimal(10))


@pytest.mark.parametrize("flips", [60, pytest.param(4000, marks=pytest.mark.attack)])
def test_every_flipped_bit_is_refused_or_harmless(tmp_path, flips):
    budget, rng = altered(tmp_path), random.Random(7)  # noqa: S311  # places, not secrets
    whole = budget.path.read_bytes()
    for _ in range(flips):
        broken = bytearray(whole)
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        budget.path.write_bytes(broken)
        with suppress(StoreError):
            assert held(budget) == 2


def test_a_file_of_another_kind_is_refused_by_name(tmp_path):
    budget = Budget(tmp_path)
    budget.path.write_text("not a database, and long enough to be read as one " * 20)
    with pytest.raises(StoreError, match=r"budget\.sqlite"):
        budget.booked(["a"])
    with pytest.raises(StoreError, match=r"budget\.sqlite"):
        budget.begin("a", billed(1))


def test_a_study_that_nobody_may_write_to_can_be_read(tmp_path):
    budget = altered(tmp_path)
    tmp_path.chmod(0o500)
    try:
        assert held(budget) == 2
    finally:
        tmp_path.chmod(0o700)


# Whatever the order of things


@dataclass
class Spender:
    """A process, as the budget sees it, and what it has really spent."""

    lease: object
    holds: Decimal = Decimal(0)
    spent: Decimal = Decimal(0)
    gone: bool = False


@dataclass
class World:
    """Some processes and the truth about them."""

    budget: Budget
    cap: Decimal
    spenders: list[Spender] = field(default_factory=list)

    def check(self):
        booked = self.budget.booked(["a", "b"]).total
        assert sum(spender.spent for spender in self.spenders) <= booked <= self.cap


STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "renew", "spend", "close", "kill"]), st.integers(0, 5), st.integers(1, 400)),
    max_size=40,
)


@settings(max_examples=40)
@given(steps=STEPS, cents=st.integers(0, 1500))
def test_the_truth_is_never_above_what_is_booked_nor_that_above_the_cap(steps, cents):
    with tempfile.TemporaryDirectory() as folder:
        world = World(Budget(Path(folder)), cents * CENT)
        for what, who, amount in steps:
            alive = [spender for spender in world.spenders if not spender.gone]
            if what == "start" or not alive:
                account = "ab"[amount % 2]
                world.spenders.append(Spender(world.budget.lease(account, f"run {who}", scope=["a", "b"])))
                continue
            spender = alive[who % len(alive)]
            if what == "renew":
                want = spender.holds + amount * CENT
                got, _ = spender.lease.renew(Bill(spender.spent), least=spender.holds, want=want, cap=world.cap)
                assert spender.holds <= got <= want
                spender.holds = got
            elif what == "spend":
                spender.spent = min(spender.holds, spender.spent + amount * CENT)
            elif what == "close":
                spender.lease.close(Bill(spender.spent))
                spender.gone = True
            else:
                spender.gone = True
            world.check()


# Processes


def spend_at_random(folder: str, seed: int, cap: str, log: str) -> None:
    """Reserves and settles many calls under one budget, keeps the truth in a file, and may be gone at any moment."""
    rng = random.Random(seed)  # noqa: S311  # a schedule, not a secret
    ledger = Ledger(Decimal(cap), lease=Budget(Path(folder)).lease("a", f"run {seed}"))
    with Path(log).open("ab", buffering=0) as truth:

        async def call() -> None:
            worst = Decimal(rng.randrange(1, 100)) / 100
            await ledger.reserve(worst)
            await asyncio.sleep(0)
            cost = worst * rng.randrange(0, 101) / 100
            # What is billed is billed, whatever becomes of the process.
            truth.write(f"{cost}\n".encode())
            if rng.random() < 0.003:
                os._exit(9)
            ledger.settle(worst, cost)

        async def work() -> None:
            for _ in range(40):
                await call()

        async def everything() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(6):
                    group.create_task(work())

        try:
            asyncio.run(everything())
        except* CapReached:
            pass
        ledger.close()


@pytest.mark.parametrize(
    ("rounds", "cap"), [(1, "40"), pytest.param(12, "40", marks=pytest.mark.attack), (1, "100000")]
)
def test_processes_that_spend_at_once_and_die_keep_the_budget(tmp_path, rounds, cap):
    spawn, log = multiprocessing.get_context("spawn"), tmp_path / "truth"
    died = 0
    for turn in range(rounds):
        arguments = [(str(tmp_path), 4 * turn + number, cap, str(log)) for number in range(4)]
        processes = [spawn.Process(target=spend_at_random, args=each) for each in arguments]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert {process.exitcode for process in processes} <= {0, 9}
        died += sum(process.exitcode == 9 for process in processes)
        true = sum(map(Decimal, log.read_text().split()))
        booked = Budget(tmp_path).booked(["a"])
        assert true <= booked.total <= Decimal(cap)
        if not died:
            assert booked == Booked(Bill(true, billed_calls=booked.bill.billed_calls))


def test_processes_of_one_part_have_a_lease_each_and_one_bill(tmp_path):
    budget = Budget(tmp_path)
    lead = budget.lease("a", "run")
    lead.begin()
    others = [pickle.loads(pickle.dumps(lead.beside(number))) for number in (1, 2)]  # noqa: S301  # our own
    taken = [lease.renew(Bill(), least=Decimal(0), want=Decimal(4), cap=Decimal(10))[0] for lease in (lead, *others)]

    # Whoever comes last gets what is left of the budget.
    assert taken == [4, 4, 2]
    lead.close(billed(1))
    others[0].close(billed(2))
    # The third was killed: what it held is uncertain as soon as the run is asked again, and is part of its bill.
    again = budget.lease("a", "run")
    again.begin()
    assert budget.booked(["a"]).held == 0
    assert budget.bill_of("run").billed == 3
    assert budget.bill_of("run").uncertain == 2
