"""The live line of a page: how many items are left, told when it changes."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from umpirical.review.desk import Progress
from umpirical.review.web.answering import session_of
from umpirical.review.web.review import ServedReview, review_of

__all__ = ["events"]

SECONDS = 2.0
"""Between two looks at whether the person may still see this."""


async def events(request: Request) -> Response:
    """Server-sent events for whoever has a session."""
    review, session = review_of(request.app), session_of(request)
    if not session or await run_in_threadpool(_progress, review, session) is None:
        return PlainTextResponse("You are not signed in.\n", status_code=401)
    return StreamingResponse(_told(review, session), media_type="text/event-stream")


async def _told(review: ServedReview, session: str) -> AsyncIterator[str]:
    said: Progress | None = None
    # The first bytes go out at once: they tell the browser that the line stands.
    yield ": here\n\n"
    while not review.news.closed:
        stirred = review.news.next_change()
        progress = await run_in_threadpool(_progress, review, session)
        if progress is None:
            return
        if progress != said:
            numbers = {"left": progress.left, "total": progress.total, "disputed": progress.disputed}
            yield f"data: {json.dumps(numbers)}\n\n"
            said = progress
        with suppress(TimeoutError):
            await asyncio.wait_for(stirred.wait(), SECONDS)


def _progress(review: ServedReview, session: str) -> Progress | None:
    """None for someone whose session has ended."""
    person = review.people.person(session)
    return None if person is None or person.revoked else review.desk.progress(person.name)
