"""The application: which address is answered by what, and for whom."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from umpirical.review.desk import Desk
from umpirical.review.people import People
from umpirical.review.web import adjudicating, joining, owning, reviewing
from umpirical.review.web.answering import answer, broken, refused
from umpirical.review.web.assets import asset
from umpirical.review.web.events import events
from umpirical.review.web.guarding import Guard
from umpirical.review.web.news import News
from umpirical.review.web.review import ServedReview

__all__ = ["create_app"]

ANYONE, SETTLING, OWNING = (
    frozenset({"reviewer", "adjudicator", "owner"}),
    frozenset({"adjudicator", "owner"}),
    frozenset({"owner"}),
)


def create_app(
    desk: Desk,
    people: People,
    *,
    hosts: frozenset[str],
    feed: Callable[[], int] | None = None,
    title: str = "Review",
) -> Starlette:
    """The screen over a desk.

    `hosts` are the names with port that a browser may use for the server; all others are refused. `feed` brings newly
    generated items to the desk and is called about twice a second; without one, no more items are on their way.
    """
    review = ServedReview(desk=desk, people=people, title=title, news=News(desk, feed))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with review.news.gathered():
            yield

    app = Starlette(
        routes=[
            Route("/", answer(reviewing.screen, roles=ANYONE), methods=["GET"]),
            Route("/item/{item:path}", answer(reviewing.again, roles=ANYONE), methods=["GET"]),
            Route("/decide", answer(reviewing.decide, roles=ANYONE), methods=["POST"]),
            Route("/undo", answer(reviewing.undo, roles=ANYONE), methods=["POST"]),
            Route("/adjudicate", answer(adjudicating.screen, roles=SETTLING), methods=["GET"]),
            Route("/settle", answer(adjudicating.settle, roles=SETTLING), methods=["POST"]),
            Route("/people", answer(owning.screen, roles=OWNING), methods=["GET"]),
            Route("/revoke", answer(owning.revoke, roles=OWNING), methods=["POST"]),
            Route("/join/{token}", answer(joining.door), methods=["GET"]),
            Route("/join/{token}", answer(joining.join), methods=["POST"]),
            Route("/events", events, methods=["GET"]),
            Route("/static/{name}", asset, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: refused, Exception: broken},
    )
    app.state.review = review
    app.add_middleware(Guard, hosts=hosts)
    return app
