"""The application: what answers each address and who may use it, the static files, and the event stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from umpirical.review.desk import Desk
from umpirical.review.people import People
from umpirical.review.records import ReviewProgress
from umpirical.review.web import work_pages as pages
from umpirical.review.web.requests import (
    DeskWatcher,
    ServedReview,
    crash_page,
    endpoint,
    error_page,
    review_of,
    session_of,
)
from umpirical.web.guard import MOST_AT_ONCE, MOST_STREAMS, PAGE_STYLES, AtOnce, Guard, static_files

ANYONE, SETTLING, OWNING = (
    frozenset({"reviewer", "adjudicator", "owner"}),
    frozenset({"adjudicator", "owner"}),
    frozenset({"owner"}),
)

asset = static_files(
    {
        "page.css": PAGE_STYLES,
        "review.css": ("umpirical.review.web", "static/review.css", "text/css"),
        "review.js": ("umpirical.review.web", "static/review.js", "text/javascript"),
    }
)
"""The style sheets and the script."""

SESSION_CHECK_SECONDS = 2.0
"""How often an event stream checks that the person may still see it."""


def create_app(
    desk: Desk,
    people: People,
    *,
    hosts: frozenset[str],
    feed: Callable[[], int] | None = None,
    title: str = "Review",
) -> Starlette:
    """The pages of a review.

    `hosts` are the names, with port, by which browsers may address the server; all others are refused. `feed` adds new
    items to the desk and is called about twice a second; without one, no more items are to come.
    """
    review = ServedReview(
        desk=desk,
        people=people,
        title=title,
        watcher=DeskWatcher(desk, feed),
        at_once=AtOnce(MOST_AT_ONCE),
        streams=AtOnce(MOST_STREAMS),
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with review.watcher.watching():
            yield

    app = Starlette(
        routes=[
            Mount("/s/{place}", routes=_pages_of_a_session()),
            Route("/", nobody, methods=["GET"]),
            Route("/join/{token}", endpoint(pages.invitation), methods=["GET"]),
            Route("/join/{token}", endpoint(pages.join), methods=["POST"]),
            Route("/static/{name}", asset, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: error_page, Exception: crash_page},
    )
    app.state.review = review
    app.state.close = review.watcher.close
    app.add_middleware(Guard, hosts=hosts, unknown="To allow it: --called HOST:PORT")
    return app


def _pages_of_a_session() -> list[Route]:
    return [
        Route("/", endpoint(pages.open_item, roles=ANYONE), methods=["GET"]),
        Route("/item/{item:path}", endpoint(pages.earlier_item, roles=ANYONE), methods=["GET"]),
        Route("/next", endpoint(pages.take_item, roles=ANYONE), methods=["POST"]),
        Route("/decide", endpoint(pages.decide, roles=ANYONE), methods=["POST"]),
        Route("/undo", endpoint(pages.undo, roles=ANYONE), methods=["POST"]),
        Route("/adjudicate", endpoint(pages.next_dispute, roles=SETTLING), methods=["GET"]),
        Route("/settle", endpoint(pages.settle, roles=SETTLING), methods=["POST"]),
        Route("/people", endpoint(pages.people, roles=OWNING), methods=["GET"]),
        Route("/revoke", endpoint(pages.revoke, roles=OWNING), methods=["POST"]),
        Route("/events", events, methods=["GET"]),
    ]


async def nobody(request: Request) -> Response:
    """The page without a session. Its script leads a browser that has one to the pages of that session."""
    return await error_page(request, HTTPException(401))


async def events(request: Request) -> Response:
    """Server-sent events for anyone with a session: how many items are left, sent whenever that changes."""
    review, session = review_of(request.app), session_of(request)
    # Before anything is looked up: one person's thousands of streams must cost the others nothing.
    with review.at_once.one_more(session) as is_welcome:
        if not is_welcome or review.streams.is_full(session):
            return PlainTextResponse("Too many pages of this session are open.\n", status_code=429)
        if not session or await run_in_threadpool(_progress, review, session) is None:
            return PlainTextResponse("You are not signed in.\n", status_code=401)
    return StreamingResponse(_stream(review, session), media_type="text/event-stream")


async def _stream(review: ServedReview, session: str) -> AsyncIterator[str]:
    with review.streams.one_more(session) as is_welcome:
        if is_welcome:
            async for change in _changes(review, session):
                yield change


async def _changes(review: ServedReview, session: str) -> AsyncIterator[str]:
    sent: ReviewProgress | None = None
    # The first bytes go out at once: they tell the browser that the connection is open.
    yield ": here\n\n"
    while not review.watcher.closed:
        change = review.watcher.next_change()
        progress = await run_in_threadpool(_progress, review, session)
        if progress is None:
            return
        if progress != sent:
            numbers = {"left": progress.left, "total": progress.total, "disputed": progress.disputed}
            yield f"data: {json.dumps(numbers)}\n\n"
            sent = progress
        with suppress(TimeoutError):
            await asyncio.wait_for(change.wait(), SESSION_CHECK_SECONDS)


def _progress(review: ServedReview, session: str) -> ReviewProgress | None:
    """None if the session has ended."""
    person = review.people.person(session)
    return None if person is None or person.revoked else review.desk.progress(person.name)
