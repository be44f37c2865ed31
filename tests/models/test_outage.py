"""A server that goes down during a run is waited for; one that was never there, or fails in other ways, is not."""

import asyncio
from collections import Counter
from decimal import Decimal

import pytest

from tests.models.chat_model import chat_model
from tests.servers.chat_server import ChatServer
from umpirical.models import outage
from umpirical.models.caller import Retrying
from umpirical.models.money import Ledger, Meter
from umpirical.models.outage import Outages
from umpirical.models.prices import RatePricer, TokenPrices
from umpirical.models.requests import ChatRequest, Decoding, Message

CALLS = 40
AT_ONCE = 8
PATIENCE = 30.0
"""Far longer than any outage here."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(outage, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(outage, "LONGEST_WAIT", 0.2)


class Down:
    """Is not available for some of the requests; each call that finds it so is counted."""

    def __init__(self, first, last, fault="unavailable"):
        self.requests, self.down, self.fault = 0, range(first, last), fault

    def __call__(self, _name, _times):
        self.requests += 1
        return self.fault if self.requests in self.down else None


async def ask_all(url, *, patience=PATIENCE, tell=lambda _: None, ledger=None):
    prices = RatePricer(TokenPrices(Decimal(10), Decimal(10)), "test")
    model = chat_model(
        url,
        retrying=Retrying(attempts=2, first_wait=0.01),
        timeout=5.0,
        meter=Meter(prices, ledger or Ledger(Decimal(100))),
        outages=Outages(patience, tell),
    )
    turns, found = asyncio.Semaphore(AT_ONCE), []

    async def one(number):
        async with turns:
            request = ChatRequest("m", (Message("user", str(number)),), Decoding(max_tokens=16))
            found.append(await model.generate(request, trial_id=f"trial-{number}"))

    try:
        await asyncio.gather(*map(one, range(CALLS)))
    finally:
        await model.close()
    return Counter(response.failure for response in found)


async def test_an_outage_pauses_the_calls_and_none_fails():
    said, ledger = [], Ledger(Decimal(100))
    with ChatServer(lambda _: "tie", misbehave=Down(10, 60)) as server:
        found = await ask_all(server.base_url, tell=said.append, ledger=ledger)
    assert found == {None: CALLS}
    assert [line.split(";")[0] for line in said] == ["the server is not available", "the server answers again"]
    # Nothing was worked on, so nothing may have been billed.
    assert ledger.bill.uncertain == 0
    assert ledger.bill.billed > 0


async def test_one_call_at_a_time_asks_whether_it_is_back():
    with ChatServer(lambda _: "tie", misbehave=Down(10, 60), latency=0.02) as server:
        server.most_in_flight = 0
        await ask_all(server.base_url)
        # Each call in flight tries twice; whatever comes after that asks alone.
        assert server.faults["unavailable"] == 50
        assert server.asked.total() <= CALLS + 50


async def test_a_server_that_is_gone_and_comes_back_is_found_again():
    with ChatServer(lambda _: "tie", latency=0.02) as server:
        address = ("127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]))
        asking = asyncio.create_task(ask_all(server.base_url))
        while sum(server.answered.values()) < 10:  # noqa: ASYNC110  # the server is in another thread
            await asyncio.sleep(0.005)
    await asyncio.sleep(0.5)
    assert not asking.done()
    with ChatServer(lambda _: "tie", address=address):
        found = await asking
    # A call whose connection broke off may have been worked on: it is tried again, but not for long.
    assert found[None] >= CALLS - AT_ONCE


async def test_without_patience_and_after_it_calls_fail():
    with ChatServer(lambda _: "tie", misbehave=Down(10, 10_000)) as server:
        assert (await ask_all(server.base_url, patience=0))["server-error"] > 0
    with ChatServer(lambda _: "tie", misbehave=Down(10, 10_000)) as server:
        found = await ask_all(server.base_url, patience=0.5)
    assert found["server-error"] == CALLS - 9


async def test_a_server_that_has_never_answered_is_not_waited_for():
    with ChatServer(lambda _: "tie", misbehave=Down(0, 10_000)) as server:
        assert await ask_all(server.base_url) == {"server-error": CALLS}


async def test_another_failure_is_not_waited_for():
    with ChatServer(lambda _: "tie", misbehave=Down(10, 60, fault="server-error")) as server:
        assert (await ask_all(server.base_url))["server-error"] > 0
