"""One way of making many calls, measured in this process: `calling_ways.py WAY URL CALLS IN_FLIGHT`."""

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

TRIALS_PER_REPEAT = 720
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
    from umpirical.models.adapters.catalogue import Calling
    from umpirical.models.money import Ledger, Meter
    from umpirical.models.prices import RatePricer, TokenPrices
    from umpirical.protocols.datasheet.facts import FACTS
    from umpirical.protocols.datasheet.stimuli import write_stimulus_set
    from umpirical.runs.judgments import read_judgments
    from umpirical.runs.local import LocalExecutor
    from umpirical.store.budget import Budget
    from umpirical.study.file import parse_study
    from umpirical.study.prepare import prepare_run

    class Watcher:
        def resumed(self, trials: int) -> None: ...

        def settled(self, outcome: object, response: object) -> None: ...

    with tempfile.TemporaryDirectory() as folder:
        repeats = round(calls / TRIALS_PER_REPEAT)
        study = parse_study(STUDY.format(url=url, repeats=repeats, in_flight=in_flight), Path(folder))
        judge = study.spec.judges[0]
        write_stimulus_set(study)
        ledger = Ledger(Decimal(10**6), lease=Budget(Path(folder)).lease("judge stub", "run"))
        meter = Meter(RatePricer(TokenPrices(Decimal(1), Decimal(4)), "benchmark"), ledger)
        with Stopwatch() as watch:
            run = prepare_run(study, judge)
            executor = LocalExecutor(Calling(in_flight, meter))
            executor.run(range(run.shards), run.call, run.store, Watcher())
            ledger.close()
            with read_judgments(run, FACTS) as reading:
                pass
        assert ledger.bill.billed  # noqa: S101
        assert not ledger.bill.uncertain  # noqa: S101
        assert reading.planned == run.trials  # noqa: S101
        assert reading.unasked == 0  # noqa: S101
        assert not reading.trouble  # noqa: S101
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
    from umpirical.models.adapters.catalogue import Calling
    from umpirical.models.requests import ChatRequest, Decoding, Message

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
    call: Callable[[dict[str, Any]], Awaitable[None]], calls: int, in_flight: int
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
    return watch.per_call(calls)


class Stopwatch:
    """Wall and CPU time of this process."""

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall, self.cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu

    def per_call(self, calls: int) -> dict[str, float]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return {"per_second": calls / self.wall, "cpu_ms": self.cpu / calls * 1000, "peak_mb": peak}


WAYS = {
    "fast_path": fast_path,
    "bare_aiohttp": bare_aiohttp,
    "openai_client": openai_client,
    "inspect_generate": inspect_generate,
    "inspect_adapter": inspect_adapter,
}

if __name__ == "__main__":
    main()
