"""One way of making many calls, measured in this process: `calling_ways.py WAY URL CALLS IN_FLIGHT`."""

import asyncio
import json
import queue
import resource
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

TRIALS_PER_REPEAT = 1368
"""Of the standard size."""

STUDY = """\
study: calling
judges:
  - name: stub
    model: {{adapter: openai-compatible, name: stub, base_url: "{url}"}}
design: {{size: standard, repeats: {repeats}}}
concurrency: {in_flight}
"""


def main() -> None:
    way, url, calls, in_flight = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print(json.dumps(WAYS[way](url, calls, in_flight)))


def fast_path(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """The product, end to end: planned, asked, recorded durably, read into judgments; money and pace included."""
    return product(url, calls, in_flight, whole=True)


def asking(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """The product's asking stage alone: from a written plan to sealed responses; money and pace included."""
    return product(url, calls, in_flight)


def asking_in_two(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """The same in two processes. They are started within the time that is measured."""
    return product(url, calls, in_flight, processes=2)


def product(url: str, calls: int, in_flight: int, *, whole: bool = False, processes: int = 1) -> dict[str, float]:
    # Imported late by the product, and no part of what a call costs.
    import aiohttp  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    from umpirical.models.money import Ledger, Meter
    from umpirical.models.prices import RatePricer, TokenPrices
    from umpirical.models.spec import Calling
    from umpirical.protocols.datasheet.counting import FACTS
    from umpirical.protocols.datasheet.stimuli import write_stimulus_set
    from umpirical.runs.executor import Unwatched
    from umpirical.runs.judgments import read_judgments
    from umpirical.runs.local import LocalExecutor
    from umpirical.store.budget import Budget
    from umpirical.study.file import parse_study
    from umpirical.study.prepare import prepare_run

    with tempfile.TemporaryDirectory() as folder:
        repeats = round(calls / TRIALS_PER_REPEAT)
        study = parse_study(STUDY.format(url=url, repeats=repeats, in_flight=in_flight), Path(folder))
        judge = study.spec.judges[0]
        write_stimulus_set(study)
        ledger = Ledger(Decimal(10**6), lease=Budget(Path(folder)).lease("judge stub", "run"))
        meter = Meter(RatePricer(TokenPrices(Decimal(1), Decimal(4)), "benchmark"), ledger)
        with Stopwatch() as planning:
            run = prepare_run(study, judge)
        with Stopwatch() as watch:
            calling = Calling(in_flight, meter, processes=processes)
            LocalExecutor(calling).run(range(run.shards), run.call, run.store, Unwatched())
            ledger.close()
        with Stopwatch() as rereading, read_judgments(run, FACTS) as reading:
            pass
        assert ledger.bill.billed  # noqa: S101
        assert not ledger.bill.uncertain  # noqa: S101
        assert reading.planned == run.trials  # noqa: S101
        assert reading.unasked == 0  # noqa: S101
        assert not reading.trouble  # noqa: S101
        for other in (planning, rereading) if whole else ():
            watch.add(other)
        return watch.per_call(run.trials)


def bare_aiohttp(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """A loop that only calls."""
    import aiohttp

    async def run() -> dict[str, float]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def call(body: dict[str, Any]) -> None:
                async with session.post(f"{url}/chat/completions", json=body) as reply:
                    await reply.read()

            return await in_parallel(call, calls, in_flight)

    return asyncio.run(run())


def bare_durable(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """A loop that calls, and keeps every answer in SQLite before it counts: what any durable store has to cost."""
    import aiohttp

    async def run() -> dict[str, float]:
        connector = aiohttp.TCPConnector(limit=0)
        with tempfile.TemporaryDirectory() as folder, appending(Path(folder), in_flight) as answers:
            async with aiohttp.ClientSession(connector=connector) as session:

                async def call(body: dict[str, Any]) -> None:
                    async with session.post(f"{url}/chat/completions", json=body) as reply:
                        raw = await reply.read()
                    answers.append(raw)
                    await answers.keep_up()

                return await in_parallel(call, calls, in_flight, finish=answers.close)

    return asyncio.run(run())


def bare_durable_uvloop(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """The same on uvloop."""
    import uvloop

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
    return bare_durable(url, calls, in_flight)


class Answers:
    """Answers on their way to the disk, in a thread of their own: at most `most` are taken and not durable yet."""

    def __init__(self, path: Path, most: int) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.executescript("pragma journal_mode = wal; pragma synchronous = full")
        self._db.execute("create table answer (number integer primary key, body blob)")
        self._inbox: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        self._taken = self._durable = 0
        self._most = most
        self._loop, self._saved = asyncio.get_running_loop(), asyncio.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def append(self, body: bytes) -> None:
        self._taken += 1
        self._inbox.put((self._taken, body))

    async def keep_up(self) -> None:
        while self._taken - self._durable > self._most:
            self._saved.clear()
            await self._saved.wait()

    def close(self) -> None:
        """Waits until all is durable."""
        self._inbox.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (first := self._inbox.get()) is not None:
            time.sleep(0.01)
            batch: list[tuple[int, bytes] | None] = [first]
            while not self._inbox.empty():
                batch.append(self._inbox.get())
            rows = [row for row in batch if row is not None]
            places = ", ".join(["(?, ?)"] * len(rows))
            self._db.execute("begin")
            self._db.execute(f"insert into answer values {places}", [value for row in rows for value in row])  # noqa: S608
            self._db.execute("commit")
            self._durable += len(rows)
            self._loop.call_soon_threadsafe(self._saved.set)
            if batch[-1] is None:
                return


@contextmanager
def appending(folder: Path, most: int) -> Iterator[Answers]:
    answers = Answers(folder / "answers.sqlite", most)
    try:
        yield answers
    finally:
        answers.close()


def openai_client(url: str, calls: int, in_flight: int) -> dict[str, float]:
    from openai import AsyncOpenAI

    async def run() -> dict[str, float]:
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

            async def call(body: dict[str, Any]) -> None:
                await client.chat.completions.create(**body)

            return await in_parallel(call, calls, in_flight)

    return asyncio.run(run())


def inspect_generate(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """Inspect's own generate, each call in a fresh context as it must be."""
    import contextvars

    from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, get_model

    async def run() -> dict[str, float]:
        config = GenerateConfig(
            max_connections=in_flight, max_retries=2, timeout=60, attempt_timeout=60, max_tokens=256
        )
        model = get_model("openai-api/stub/stub", base_url=url, api_key="none", config=config)
        clean = contextvars.copy_context()

        async def call(body: dict[str, Any]) -> None:
            messages: list[ChatMessage] = [ChatMessageUser(content=body["messages"][0]["content"])]
            await asyncio.create_task(model.generate(messages), context=clean.copy())

        return await in_parallel(call, calls, in_flight)

    return asyncio.run(run())


def inspect_adapter(url: str, calls: int, in_flight: int) -> dict[str, float]:
    """Our adapter around it."""
    from umpirical.judges.factory import build_judge
    from umpirical.judges.prompt import resolve_prompts
    from umpirical.judges.spec import JudgeSpec
    from umpirical.models.requests import ChatRequest, Decoding, Message
    from umpirical.models.spec import Calling

    model = {"adapter": "inspect", "name": "openai-api/stub/stub", "base_url": url, "api_key_env": "STUB_KEY"}
    spec = resolve_prompts(JudgeSpec.model_validate({"name": "stub", "model": model}), Path())

    async def run() -> dict[str, float]:
        judge = build_judge(spec, folder=Path(), calling=Calling(in_flight))
        number = 0

        async def call(body: dict[str, Any]) -> None:
            nonlocal number
            number += 1
            request = ChatRequest("stub", (Message("user", body["messages"][0]["content"]),), Decoding(max_tokens=256))
            response = await judge.ask(request, trial_id=str(number))
            assert response.failure is None, response  # noqa: S101

        found = await in_parallel(call, calls, in_flight)
        await judge.close()
        return found

    import os

    os.environ["STUB_KEY"] = "none"
    return asyncio.run(run())


async def in_parallel(
    call: Callable[[dict[str, Any]], Awaitable[None]],
    calls: int,
    in_flight: int,
    *,
    finish: Callable[[], None] = lambda: None,
) -> dict[str, float]:
    """`calls` calls with a prompt of the size of ours, `in_flight` at a time; the first few are not counted."""
    body = {"model": "stub", "max_tokens": 256, "messages": [{"role": "user", "content": "word " * 400}]}
    for _ in range(3):
        await call(body)
    left = iter(range(calls))

    async def work() -> None:
        for _ in left:
            await call(body)

    with Stopwatch() as watch:
        await asyncio.gather(*(work() for _ in range(in_flight)))
        finish()
    return watch.per_call(calls)


class Stopwatch:
    """Wall time, and CPU time of this process and of those that it has started and waited for."""

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), cpu_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, cpu_time() - self._cpu

    def add(self, other: "Stopwatch") -> None:
        self.wall, self.cpu = self.wall + other.wall, self.cpu + other.cpu

    def per_call(self, calls: int) -> dict[str, float]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"per_second": calls / self.wall, "cpu_ms": self.cpu / calls * 1000, "peak_mb": peak}


def cpu_time() -> float:
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + started.ru_utime + started.ru_stime


WAYS = {
    "fast_path": fast_path,
    "asking": asking,
    "asking_in_two": asking_in_two,
    "bare_aiohttp": bare_aiohttp,
    "bare_durable": bare_durable,
    "bare_durable_uvloop": bare_durable_uvloop,
    "openai_client": openai_client,
    "inspect_generate": inspect_generate,
    "inspect_adapter": inspect_adapter,
}

if __name__ == "__main__":
    main()
