"""Makes many calls through the Inspect adapter, in a process of its own.

`python -m tests.models.inspect_memory FIRST MORE` prints by how many MB the process and the Python objects in it
grew over the later calls, and how many of Inspect's records of calls are still there.
"""

import asyncio
import gc
import json
import os
import sys
import tracemalloc
from pathlib import Path

from tests.servers.chat_server import ChatServer
from umpirical.integrations.inspect.model import InspectConnection, Provider
from umpirical.models.caller import Caller
from umpirical.models.pace import Pace
from umpirical.models.requests import ChatRequest, Decoding, Message

PROMPT = "Which of the two answers is better, and by how much? " * 20


async def main(first, more):
    with ChatServer(lambda _: '{"verdict": "tie"}', keep_bodies=0) as server:
        provider = Provider("openai-api/local/judge", base_url=server.base_url, api_key="k")
        model = Caller(InspectConnection(provider, concurrency=16), pace=Pace(16))
        await ask(model, first)
        tracemalloc.start()
        before, objects = megabytes(), megabytes_of_objects()
        await ask(model, more)
        objects = megabytes_of_objects() - objects
        tracemalloc.stop()
        grown = megabytes() - before
        await model.close()
    from inspect_ai.event import ModelEvent

    kept = sum(isinstance(each, ModelEvent) for each in gc.get_objects())
    sys.stdout.write(json.dumps({"grown": grown, "objects": objects, "kept": kept}))


async def ask(model, calls):
    numbers = iter(range(calls))

    async def worker():
        for number in numbers:
            request = ChatRequest("judge", (Message("user", f"{number} {PROMPT}"),), Decoding())
            response = await model.generate(request, trial_id="same")
            assert response.text, response

    await asyncio.gather(*(worker() for _ in range(16)))


def megabytes():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def megabytes_of_objects():
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 1e6


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
