"""Requests to the view: who may come in, and pages as answers."""

import secrets
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from typing import cast
from urllib.parse import parse_qsl

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from umpirical.domain.errors import UmpiricalError
from umpirical.reports.pages import environment as reports_environment
from umpirical.view.catalogue import Catalogue, FoundRun
from umpirical.view.tables import FirstEstimates, TrialTables
from umpirical.web.guard import HEADERS, MOST_AT_ONCE, MOST_STREAMS, AtOnce, address_of, session_of

TOKEN_BYTES = 32
"""256 bits, which nobody guesses."""


class Door:
    """One link, and the session of whoever came by it. What is kept are digests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._link = ""
        self._session = ""

    def link(self) -> str:
        """Returns the token of the one link."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._link = _digest(token)
        return token

    def enter(self, token: str) -> str | None:
        """Uses up the link, and returns a session; None if it is another link, or was used before."""
        with self._lock:
            if not self._link or not compare_digest(_digest(token), self._link):
                return None
            session = secrets.token_urlsafe(TOKEN_BYTES)
            self._link, self._session = "", _digest(session)
            return session

    def knows(self, session: str) -> bool:
        return bool(self._session) and compare_digest(_digest(session), self._session)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


# What every handler works with: what is served, and one request of somebody who may look.


COOKIE = "umpirical-view"

MOST_FIELDS = 50
"""Fields of an address."""

NOT_SIGNED_IN = "Open the link shown in the terminal. It works once; restart the command to get a new one."


@dataclass(slots=True)
class ServedView:
    """What is looked at, and by whom."""

    catalogue: Catalogue
    title: str
    """The name of the folder."""
    door: Door = field(default_factory=Door)
    tables: TrialTables = field(default_factory=TrialTables)
    estimates: FirstEstimates = field(default_factory=FirstEstimates)
    at_once: AtOnce = field(default_factory=lambda: AtOnce(MOST_AT_ONCE))
    streams: AtOnce = field(default_factory=lambda: AtOnce(MOST_STREAMS))
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
    """An endpoint for whoever came by the link. The handler runs in a thread."""

    async def answer(http: Request) -> Response:
        view, session = view_of(http.app), session_of(http, COOKIE)
        if not session or not view.door.knows(session):
            raise HTTPException(401, NOT_SIGNED_IN)
        with view.at_once.one_more(session) as is_welcome:
            if not is_welcome:
                raise HTTPException(429, "Wait for other requests to finish.")
            return await run_in_threadpool(_handled, handler, ViewRequest(http, view))

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
    429: "Too many requests at once",
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
