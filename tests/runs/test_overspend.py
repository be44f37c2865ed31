"""No overspend: whatever the server bills for stays under the cap, with 64 workers, retries and cancellations."""

import asyncio
import hashlib
import socket
from decimal import Decimal
from pathlib import Path

import pytest

from tests.protocols.datasheet.end_to_end.conftest import Silent
from tests.runs.loopback import judgments, swayed_answer, write_study
from tests.servers.chat_server import ChatServer, Fault
from umpirical.domain.responses import Usage
from umpirical.models.money import CapReached, Ledger, Meter
from umpirical.models.spec import Calling
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.runs.local import LocalExecutor
from umpirical.runs.run import open_run
from umpirical.study.file import read_study
from umpirical.study.prepare import prepare_run

ACTUAL = Decimal("0.001")
WORST = Decimal("0.004")
WORKED: tuple[Fault, ...] = ("truncated", "hang", "malformed")
"""Faults after which the provider has done the work, and may bill it."""


class FlatPricer:
    """Every answer costs the same; the worst case is four times that."""

    table = "flat"

    def cost(self, usage: Usage) -> Decimal | None:
        return None if usage.output_tokens is None else ACTUAL

    def worst(self, request) -> Decimal:  # noqa: ARG002
        return WORST


def faulty(seed: int):
    kinds: tuple[Fault, ...] = ("rate-limit", "server-error", "reset", *WORKED)

    def misbehave(name: str, times: int) -> Fault | None:
        digest = hashlib.sha256(f"{seed} {name} {times}".encode()).digest()
        return kinds[digest[1] % len(kinds)] if digest[0] < 70 else None

    return misbehave


def billed(server: ChatServer) -> Decimal:
    """The most the provider could charge: for every answer it made, delivered or not."""
    return ACTUAL * (server.answered.total() + sum(server.faults[kind] for kind in WORKED))


@pytest.fixture
def planned(tmp_path):
    def plan(server: ChatServer, timeout=0.3):
        study = read_study(write_study(tmp_path, server.base_url, timeout=timeout, attempts=3, concurrency=64))
        return prepare_run(study, study.spec.judges[0])

    return plan


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cap", ["0.05", "0.2"])
def test_what_the_server_bills_never_exceeds_the_cap(planned, seed, cap):
    with ChatServer(swayed_answer, misbehave=faulty(seed)) as server:
        run = planned(server)
        ledger = Ledger(Decimal(cap))
        executor = LocalExecutor(Calling(64, Meter(FlatPricer(), ledger)))
        with pytest.raises(CapReached):
            executor.run(range(run.shards), run.call, run.store, Silent())
        # A hanging answer may still be on its way when the client has gone.
        assert billed(server) <= ledger.spent <= ledger.cap
        assert ledger.reserved == 0
        assert server.answered.total() > 0


def test_resumed_with_a_higher_cap_it_goes_on_without_asking_again(planned):
    with ChatServer(swayed_answer) as server:
        # Nothing hangs here, and on a busy machine an answer takes its time.
        run = planned(server, timeout=30)
        for cap in ("0.10", "0.12"):
            executor = LocalExecutor(Calling(64, Meter(FlatPricer(), Ledger(Decimal(cap)))))
            with pytest.raises(CapReached):
                executor.run(range(run.shards), run.call, run.store, Silent())
        assert 0 < run.calls_left() == run.trials - len(server.answered)
        ledger = Ledger(Decimal(100))
        LocalExecutor(Calling(64, Meter(FlatPricer(), ledger))).run(range(run.shards), run.call, run.store, Silent())
        assert max(server.asked.values()) == 1
        assert len(server.answered) == run.trials
    datasheet = DATASHEET.report(open_run(run.store.folder))
    assert datasheet.complete
    assert not any(outcome in ("failed", "unasked") for outcome, _ in judgments(Path(run.store.folder)).values())


async def test_a_call_cancelled_in_flight_counts_as_spent_at_its_worst():
    from tests.models.chat_model import chat_model
    from umpirical.models.requests import ChatRequest, Decoding, Message

    with ChatServer(swayed_answer, misbehave=lambda _n, _t: "hang") as server:
        ledger = Ledger(Decimal(1))
        model = chat_model(server.base_url, meter=Meter(FlatPricer(), ledger))
        request = ChatRequest("m", (Message("user", "x"),), Decoding())
        call = asyncio.create_task(model.generate(request, trial_id="a"))
        while not server.asked:  # noqa: ASYNC110  # the server lives in a thread of its own
            await asyncio.sleep(0.01)
        assert ledger.reserved == WORST
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await model.close()
    assert (ledger.reserved, ledger.spent) == (0, WORST)


async def test_a_call_cancelled_before_it_was_sent_costs_nothing():
    from tests.models.chat_model import chat_model
    from umpirical.models.requests import ChatRequest, Decoding, Message

    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        # Whoever fills the queue of a server that accepts nobody keeps the next one waiting for a connection.
        with socket.create_connection(address), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex(address)
            ledger = Ledger(Decimal(1))
            model = chat_model(f"http://127.0.0.1:{address[1]}/v1", meter=Meter(FlatPricer(), ledger))
            call = asyncio.create_task(
                model.generate(ChatRequest("m", (Message("user", "x"),), Decoding()), trial_id="a")
            )
            while not ledger.reserved:  # noqa: ASYNC110  # nothing tells when an attempt begins
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.1)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await model.close()
    assert (ledger.reserved, ledger.spent) == (0, 0)
