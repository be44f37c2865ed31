"""The list in which a batch is looked for, from servers that lie: it is read as far as it can matter, and it ends."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from umpirical.models.adapters import anthropic, openai_compatible
from umpirical.models.adapters.protocols import MOST_PAGES
from umpirical.models.caller import CallFailed
from umpirical.models.spec import ModelSpec

NOW = datetime.now(UTC)


class Lists:
    """A server that has pages of batches, by their number; `pages` may go on for ever."""

    def __init__(self, protocol, pages):
        self.protocol, self.pages, self.asked = protocol, pages, 0

    async def answer(self, request):
        after = request.query.get("after") or request.query.get("after_id")
        self.asked += 1
        page, more = self.pages(int(after) + 1 if after else 0)
        return web.json_response({"data": [self.batch(**each) for each in page], "has_more": more})

    def batch(self, number, *, name="", age=timedelta()):
        made = NOW - age
        if self.protocol is openai_compatible:
            return {"id": str(number), "created_at": int(made.timestamp()), "metadata": {"umpirical": name}}
        counts = {"processing": 7, "succeeded": 0}
        return {
            "id": str(number),
            "created_at": made.isoformat(),
            "processing_status": "in_progress",
            "request_counts": counts,
        }

    @asynccontextmanager
    async def form(self):
        app = web.Application()
        app.router.add_get("/v1/batches", self.answer)
        app.router.add_get("/v1/messages/batches", self.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        adapter = "anthropic" if self.protocol is anthropic else "openai-compatible"
        form = self.protocol.ADAPTER.batches(ModelSpec(adapter=adapter, name="m", base_url=base))
        try:
            yield form
        finally:
            await form.close()
            await runner.cleanup()


async def look(lists: Lists):
    async with lists.form() as form:
        return await form.find("ours", since=NOW, entries=3)


either = pytest.mark.parametrize("protocol", [openai_compatible, anthropic])


@either
async def test_a_list_without_end_is_given_up(protocol):
    lists = Lists(protocol, lambda number: ([{"number": number}], True))
    with pytest.raises(CallFailed, match="is endless"):
        await look(lists)
    assert lists.asked == MOST_PAGES


@either
async def test_a_list_that_repeats_itself_is_given_up(protocol):
    lists = Lists(protocol, lambda _: ([{"number": 4}], True))
    with pytest.raises(CallFailed, match="contains duplicates"):
        await look(lists)
    assert lists.asked == 2


@either
async def test_nothing_is_read_beyond_what_is_older(protocol):
    lists = Lists(protocol, lambda number: ([{"number": number, "age": timedelta(hours=3)}], True))
    assert await look(lists) is None
    assert lists.asked == 1


async def test_a_name_of_ours_is_believed_before_a_clock_of_theirs():
    ours = {"number": 5, "name": "ours", "age": timedelta(hours=3)}
    lists = Lists(openai_compatible, lambda number: ([{"number": number}, ours], False))
    assert await look(lists) == "5"
