"""Changes at the desk wake those who wait, and trouble with new items stops nobody."""

import asyncio

from umpirical.review.web.requests import DeskWatcher

from . import samples
from .asking import ask


class Desk:
    def __init__(self):
        self.number = 0

    def version(self):
        return self.number


async def test_who_waits_is_woken_by_what_is_new():
    desk = Desk()
    watcher = DeskWatcher(desk, None)
    async with watcher.watching():
        await asyncio.wait_for(watcher.next_change().wait(), 10)
        waiting = watcher.next_change()
        desk.number = 1
        await asyncio.wait_for(waiting.wait(), 10)
        assert watcher.version == 1
        last = watcher.next_change()
    assert last.is_set()
    assert watcher.closed


async def test_a_desk_that_is_away_for_a_moment_is_asked_again():
    desk = Desk()
    watcher = DeskWatcher(desk, None)
    answers = iter([OSError("away"), 7])

    def version():
        answer = next(answers, 7)
        if isinstance(answer, OSError):
            raise answer
        return answer

    desk.version = version
    async with watcher.watching():
        await asyncio.wait_for(watcher.next_change().wait(), 10)
    assert watcher.version == 7


async def test_a_feed_that_fails_is_said_and_tried_again(served):
    trouble = [OSError("the store is gone")]

    def feed(desk):
        if trouble:
            raise trouble[0]
        return desk.add([samples.paraphrase()])

    review = served(feed=feed)
    await shown(review, "Cannot read new items: OSError: the store is gone")
    trouble.clear()
    await shown(review, "1 item left for you")


async def shown(review, words):
    for _ in range(100):
        page = await ask(review, "GET", "/", session=review.session("olga", "owner"))
        if words in page.text:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(page.text)
