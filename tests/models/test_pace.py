"""The pace: starts low, grows while the server keeps up, shrinks when it says so, and never leaks a place."""

import asyncio
import mmap
import time

import pytest

from tests.models.chat_model import chat_model
from tests.runs.loopback import swayed_answer
from tests.servers.chat_server import ChatServer
from umpirical.models.caller import Retrying
from umpirical.models.pace import Pace, PushBacks
from umpirical.models.requests import ChatRequest, Decoding, Message

PROMPT = "[candidate 1, 0]\na\n[end of candidate 1, 0]\n\n[candidate 2, 0]\nb\n[end of candidate 2, 0]"


async def answered(pace: Pace, times: int, latency: float = 0.01) -> None:
    for _ in range(times):
        await pace.enter()
        pace.leave(latency=latency)


async def test_it_starts_low_and_doubles_up_to_the_most():
    pace = Pace(64, first=8)
    limits = []
    for _ in range(60):
        await answered(pace, 8)
        limits.append(pace.limit)
    assert limits[0] == 16
    assert limits[-1] == 64
    assert limits == sorted(limits)


async def test_it_never_starts_above_the_most():
    assert Pace(3, first=8).limit == 3


async def test_a_push_back_shrinks_it_once_for_all_calls_sent_at_the_same_limit():
    pace = Pace(64, first=40)
    marks = [await pace.enter() for _ in range(40)]
    for mark in marks[:10]:
        pace.push_back(mark, retry_after=None)
    assert pace.limit == pytest.approx(28)
    assert pace.pushed_back == 10
    for _ in marks:
        pace.leave()
    mark = await pace.enter()
    pace.push_back(mark, retry_after=None)
    assert pace.limit == pytest.approx(28 * 0.7)


async def test_after_a_push_back_it_grows_by_one_at_a_time():
    pace = Pace(64, first=10)
    pace.push_back(await pace.enter(), retry_after=None)
    pace.leave()
    await answered(pace, 7)
    assert pace.limit == pytest.approx(8)
    await answered(pace, 8)
    assert pace.limit == pytest.approx(9)


async def test_it_never_shrinks_below_one():
    pace = Pace(4)
    for _ in range(20):
        pace.push_back(await pace.enter(), retry_after=None)
        pace.leave()
    assert pace.limit == 1


async def test_it_stops_growing_when_answers_take_much_longer_than_the_best():
    pace = Pace(1000, first=8)
    await answered(pace, 8, latency=0.5)
    assert pace.limit == 16
    await answered(pace, 200, latency=5.0)
    held = pace.limit
    await answered(pace, 500, latency=5.0)
    assert pace.limit == held < 100


async def test_nobody_starts_before_the_time_the_server_named():
    pace = Pace(8)
    pace.push_back(await pace.enter(), retry_after=0.3)
    pace.leave()
    before = time.monotonic()
    await asyncio.gather(*(pace.enter() for _ in range(3)))
    # A lower bound, which a slow machine can only exceed.
    assert time.monotonic() - before >= 0.29


async def test_no_more_are_in_flight_than_the_limit_and_everyone_gets_a_turn():
    pace, most, done = Pace(5, first=5), 0, 0

    async def call() -> None:
        nonlocal most, done
        await pace.enter()
        most = max(most, pace.in_flight)
        await asyncio.sleep(0.001)
        pace.leave()
        done += 1

    await asyncio.gather(*(call() for _ in range(200)))
    assert (most, done, pace.in_flight) == (5, 200, 0)


async def test_who_is_cancelled_while_waiting_takes_no_place_with_him():
    pace = Pace(1)
    await pace.enter()
    waiters = [asyncio.create_task(pace.enter()) for _ in range(5)]
    await asyncio.sleep(0)
    for waiter in waiters[:4]:
        waiter.cancel()
    pace.leave()
    await asyncio.wait_for(waiters[4], 1)
    pace.leave()
    await asyncio.wait_for(pace.enter(), 1)


async def test_a_server_that_takes_twenty_at_a_time_is_asked_about_that_many():
    """Against a real server: far fewer 429s than with all calls at once, and all answered in the end."""

    async def run(pace: Pace) -> tuple[int, float]:
        with ChatServer(swayed_answer, latency=0.02) as server:
            server.misbehave = lambda _name, _times: "rate-limit" if server._in_flight > 20 else None
            retrying = Retrying(attempts=50, first_wait=0.02, longest_wait=0.1)
            model = chat_model(server.base_url, pace=pace, retrying=retrying)
            request = ChatRequest("m", (Message("user", PROMPT),), Decoding())
            answers = await asyncio.gather(*(model.generate(request, trial_id=str(n)) for n in range(600)))
            await model.close()
        assert all(answer.failure is None for answer in answers)
        assert sum(answer.rate_limited for answer in answers) == server.faults["rate-limit"]
        return server.faults["rate-limit"], pace.limit

    unpaced, _ = await run(Pace(200, first=200))
    paced, limit = await run(Pace(200))
    assert limit < 60
    assert paced < unpaced / 2


async def test_a_push_back_to_one_process_slows_the_others():
    wait = 0.2
    with mmap.mmap(-1, PushBacks.size(2)) as memory:
        one, other = (Pace(64, first=64, others=PushBacks(memory, place=place, places=2)) for place in (0, 1))
        assert (one.limit, other.limit) == (32, 32)
        mark = await one.enter()
        one.push_back(mark, retry_after=wait)
        start = time.monotonic()
        await other.enter()

    # It has shrunk once, and has waited for the time that the server named to the first.
    assert other.limit == one.limit == pytest.approx(0.7 * 32)
    assert time.monotonic() - start >= 0.75 * wait
    assert other.pushed_back == 0


async def test_processes_that_are_pushed_back_at_once_shrink_once():
    with mmap.mmap(-1, PushBacks.size(2)) as memory:
        one, other = (Pace(64, first=64, others=PushBacks(memory, place=place, places=2)) for place in (0, 1))
        for pace in (one, other):
            for _ in range(4):
                await pace.enter()
                pace.leave(latency=60.0)
        marks = [await pace.enter() for pace in (one, other)]
        for pace, mark in zip((one, other), marks, strict=True):
            pace.push_back(mark, retry_after=None)
        for pace in (one, other):
            await pace.enter()
    assert one.limit == other.limit == pytest.approx(0.7 * 32)
