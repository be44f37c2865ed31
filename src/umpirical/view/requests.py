"""Requests to the view: who may come in, and pages as answers."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from typing import cast
from urllib.parse import parse_qsl

from anyio import CapacityLimiter, to_thread
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from umpirical.domain.errors import UmpiricalError
from umpirical.reports.pages import environment as reports_environment
from umpirical.view.catalogue import Catalogue, FoundRun
from umpirical.view.comparing import Comparisons
from umpirical.view.tables import FirstEstimates, TrialTables
from umpirical.web.guard import HEADERS, AtOnce, address_of, session_of

TOKEN_BYTES = 32
"""256 bits, which nobody guesses."""


class Door:
    """One link, and the session of everyone who comes by it, for as long as the server runs.

    The session is not the token: a cookie that leaks does not become a link that can be passed on.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(TOKEN_BYTES)
        self._session = secrets.token_urlsafe(TOKEN_BYTES)

    def enter(self, token: str) -> str | None:
        """Returns the session; None for another token."""
        return self._session if _is_same(token, self.token) else None

    def knows(self, session: str) -> bool:
        return _is_same(session, self._session)


def _is_same(given: str, known: str) -> bool:
    """Compares digests: the time that it takes depends neither on how much is right nor on the length."""
    return compare_digest(*(sha256(each.encode("utf-8", "surrogatepass")).digest() for each in (given, known)))


# What every handler works with: what is served, and one request of somebody who may look.


COOKIE = "umpirical-view"

MOST_FIELDS = 50
"""Fields of an address."""

NOT_SIGNED_IN = "Open the link shown in the terminal. It works until the command stops."

MOST_WORKERS = 4
"""Pages that are made at the same time. More would only take the processors from each other."""

MOST_WAITING = 200
"""Requests that wait for their turn. One more is refused, so that a flood cannot fill the memory."""

MOST_WATCHERS = 100
"""Event streams: one for each tab that shows a run in progress."""


@dataclass(slots=True)
class ServedView:
    """What is looked at, and by whom."""

    catalogue: Catalogue
    title: str
    """The name of the folder."""
    door: Door = field(default_factory=Door)
    tables: TrialTables = field(default_factory=TrialTables)
    estimates: FirstEstimates = field(default_factory=FirstEstimates)
    comparisons: Comparisons = field(default_factory=Comparisons)
    workers: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(MOST_WORKERS))
    streams: AtOnce = field(default_factory=lambda: AtOnce(MOST_WATCHERS))
    closed: bool = False

    def close(self) -> None:
        """Ends the event streams."""
        self.closed = True


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """One request."""

    http: Request
    view: ServedView

    @property
    def address(self) -> str:
        """Where the pages of this session are, without a slash at the end; empty where no session is needed."""
        place = self.http.path_params.get("place")
        return address_of(place) if place else ""

    @property
    def query(self) -> list[tuple[str, str]]:
        try:
            text = self.http.scope["query_string"].decode("ascii")
            return parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace")
        except ValueError:
            raise HTTPException(400, "This address is invalid.") from None

    def run(self) -> FoundRun:
        """The run that the address names. Raises if there is none, or no longer."""
        found = self.view.catalogue.run(self.http.path_params["run"])
        if found is None:
            raise HTTPException(404, "This run does not exist, or was removed.")
        return found


Handler = Callable[[ViewRequest], Response]


def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for everyone who came by the link. The handler runs in a thread."""

    async def answer(http: Request) -> Response:
        view, session = view_of(http.app), session_of(http, COOKIE)
        if not session or not view.door.knows(session):
            raise HTTPException(401, NOT_SIGNED_IN)
        if view.workers.statistics().tasks_waiting >= MOST_WAITING:
            raise HTTPException(503, "The server has too much to do. Reload the page in a moment.")
        # Whoever comes while others are served waits for a turn, in the order of arrival.
        return await to_thread.run_sync(_handled, handler, ViewRequest(http, view), limiter=view.workers)

    return answer


def view_of(app: Starlette) -> ServedView:
    return cast("ServedView", app.state.view)


def _handled(handler: Handler, request: ViewRequest) -> Response:
    try:
        return handler(request)
    except UmpiricalError as error:
        raise HTTPException(409, f"{error}. To fix it: {error.fix}" if error.fix else str(error)) from None
    except FileNotFoundError:
        # It was there when the answer was begun.
        raise HTTPException(404, "This run does not exist, or was removed.") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # Whatever a stranger has written into the files: a page says so, and the others work.
        raise HTTPException(409, f"The files of this run cannot be read: {type(error).__name__}: {error}") from None


# Rendering pages. Text from outside is made inert in them by the same rules as in the reports.


TITLES = {
    400: "Request refused",
    401: "You are not signed in",
    404: "Page not found",
    405: "Method not allowed",
    409: "Cannot read this",
    503: "The server is busy",
}


@cache
def environment() -> Environment:
    return reports_environment("umpirical.view")


def page(request: ViewRequest, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """A page of the view."""
    shared = {"title": request.view.title, "address": request.address}
    return HTMLResponse(environment().get_template(template).render(shared | values), status_code=status)


def notice(request: ViewRequest, status: int, heading: str, words: str) -> HTMLResponse:
    """A page that only says why there is nothing else to see."""
    return page(request, "notice.html", status=status, heading=heading, words=words)


async def error_page(http: Request, error: Exception) -> Response:
    """For an address that leads nowhere, a request that cannot be read, and files that cannot."""
    status, words = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
    words = "This page does not exist." if words == "Not Found" else words
    return notice(ViewRequest(http, view_of(http.app)), status, TITLES.get(status, "Request refused"), words)


async def crash_page(http: Request, error: Exception) -> Response:  # noqa: ARG001  # the server logs it
    """For a bug. It is answered outside the guard, so it sets the guard's headers itself."""
    words = "See the server log for details. Nothing was changed: this program only reads files."
    response = notice(ViewRequest(http, view_of(http.app)), 500, "Something went wrong", words)
    response.headers.update(HEADERS)
    return response
