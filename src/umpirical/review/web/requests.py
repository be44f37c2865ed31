"""Requests to the review and the pages that answer them: who may come in, and how open pages hear of changes."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from hmac import compare_digest
from typing import cast

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from umpirical.domain.reviews import REASONS
from umpirical.reports.pages import environment as reports_environment
from umpirical.review.desk import Desk
from umpirical.review.people import People, Person
from umpirical.text.diffs import mark_blanks
from umpirical.text.inert import inert
from umpirical.web import guard
from umpirical.web.guard import EMPTY, HEADERS, LONGEST_FORM, LONGEST_SHORT_FORM, AtOnce, Form, address_of, read_form

PAUSE_SECONDS = 0.5
"""Between two looks at the desk."""

log = logging.getLogger(__name__)


class DeskWatcher:
    """Looks at the desk at short intervals, and wakes all who wait when something has changed."""

    def __init__(self, desk: Desk, feed: Callable[[], int] | None) -> None:
        self.desk = desk
        self.feed = feed
        self.closed = False
        self.trouble = ""
        """Why new items could not be added; empty if nothing is wrong."""
        self.version = -1
        self._change = asyncio.Event()

    @property
    def may_come(self) -> bool:
        """Whether more items can arrive without anyone's doing."""
        return self.feed is not None and not self.trouble

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watches for as long as this is open."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self.close()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def next_change(self) -> asyncio.Event:
        """An event that is set by the next change. Take it before looking, so that no change falls in between."""
        return self._change

    def close(self) -> None:
        """Wakes all who wait, for the last time."""
        self.closed = True
        self._wake()

    def _wake(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()

    async def _watch(self) -> None:
        while not self.closed:
            await asyncio.to_thread(self._add_items)
            version = await asyncio.to_thread(self._read_version)
            if version != self.version:
                self.version = version
                self._wake()
            await asyncio.sleep(PAUSE_SECONDS)

    def _add_items(self) -> None:
        if self.feed is None:
            return
        try:
            self.feed()
            self.trouble = ""
        except Exception as error:  # noqa: BLE001  # people go on reviewing what is there
            if not self.trouble:
                log.warning("cannot read new items: %s", inert(str(error)))
            self.trouble = f"{type(error).__name__}: {error}"

    def _read_version(self) -> int:
        try:
            return self.desk.version()
        except Exception as error:  # noqa: BLE001  # a database that is away may come back
            log.warning("cannot read the review database: %s", inert(str(error)))
            return self.version


# What every handler works with: the review that is served, and one request to it, read and checked.


NOBODY = Person(name="", role="reviewer", revoked=True)
"""Who sends a request without a valid session."""


@dataclass(frozen=True, slots=True)
class ServedReview:
    """One review, as it is served."""

    desk: Desk
    people: People
    title: str
    """What the review is called on its pages: the name of the study."""
    watcher: DeskWatcher
    at_once: AtOnce
    """Requests that are being answered."""
    streams: AtOnce
    """Event streams that are open."""


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """One request, read and checked."""

    http: Request
    review: ServedReview
    person: Person
    """Whose session it is; nobody where no session is needed."""
    session: str
    form: Form

    @property
    def by_script(self) -> bool:
        """Whether the page's script sent it, which puts the answer in place of what is shown."""
        return "x-umpirical" in self.http.headers

    @property
    def address(self) -> str:
        """Where the pages of this session are, without a slash at the end; empty where no session is needed."""
        place = self.http.path_params.get("place")
        return address_of(place) if place else ""

    @property
    def mark(self) -> str:
        """What a page of this session sends along with every change, in a field or in a header."""
        return self.review.people.mark(self.session) if self.session else ""

    @property
    def is_ours(self) -> bool:
        """Whether one of our pages sent it: it has the mark, or without a session the browser says so."""
        if not self.session:
            return self.form.is_of_our_origin
        sent = self.http.headers.get("x-umpirical", "") or self.form.get("mark")
        return compare_digest(sent.encode("utf-8", "surrogatepass"), self.mark.encode())


def review_of(app: Starlette) -> ServedReview:
    return cast("ServedReview", app.state.review)


def anonymous(http: Request) -> ReviewRequest:
    """A request of nobody, for answers that do not depend on who asks."""
    return ReviewRequest(http, review_of(http.app), NOBODY, "", EMPTY)


# Text as an editor shows it: hidden characters are spelled out, so that they can be seen, deleted and kept.


_OPENED = "⟦U+"
_WRITTEN = re.compile(r"⟦U\+([0-9A-F]{4,6})⟧")
_HIGHEST = 0x10FFFF


def to_editor(text: str) -> str:
    r"""`text` with every hidden character as ⟦U+202E⟧; a text that only looks like that is escaped.

    >>> to_editor("a\u202eb"), to_editor("⟦U+202E⟧")
    ('a⟦U+202E⟧b', '⟦U+27E6⟧U+202E⟧')
    """
    return inert(text.replace(_OPENED, "⟦U+27E6⟧U+"))


def from_editor(text: str) -> str:
    r"""The text that an editor's text stands for: `from_editor(to_editor(text))` is `text`.

    >>> from_editor("a⟦U+202E⟧b") == "a\u202eb"
    True
    """
    return _WRITTEN.sub(lambda found: chr(code) if (code := int(found[1], 16)) <= _HIGHEST else found[0], text)


# Rendering pages. Text from outside is made inert in them by the same rules as in the reports.


NOTICES = {
    404: ("Page not found", "This page does not exist."),
    401: (
        "You are not signed in",
        "Open the review address that your link led to. Your browser history has it.",
    ),
    405: ("Method not allowed", "This address only accepts requests from the review pages."),
}


@cache
def environment() -> Environment:
    """The environment of the reports, with the templates of this package."""
    templates = reports_environment("umpirical.review.web")
    # Not the signs of the reports: ⏎ is also how this page writes the Enter key.
    signed = partial(mark_blanks, newline="⏎", tab="⇥")
    templates.filters = {**templates.filters, "signed": signed, "to_editor": to_editor}
    templates.globals = {**templates.globals, "reasons": REASONS}
    return templates


def page(request: ReviewRequest, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    shared = {
        "review": request.review,
        "person": request.person,
        "mark": request.mark,
        "by_script": request.by_script,
        "address": request.address,
    }
    return HTMLResponse(environment().get_template(template).render(shared | values), status_code=status)


def notice(request: ReviewRequest, status: int, title: str, words: str) -> HTMLResponse:
    """A page that only says why there is nothing else to see."""
    return page(request, "notice.html", status=status, title=title, words=words)


async def error_page(http: Request, error: Exception) -> Response:
    """For an address that leads nowhere, or a request that cannot be read."""
    status, words = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
    response = notice(anonymous(http), status, *NOTICES.get(status, ("Request refused", words)))
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def crash_page(http: Request, error: Exception) -> Response:  # noqa: ARG001  # the server logs it
    """For a bug. It is answered outside the guard, so it sets the guard's headers itself."""
    words = "Your last decision may not be saved. Go back to the review to check. The server log has details."
    response = notice(anonymous(http), 500, "Something went wrong", words)
    response.headers.update(HEADERS)
    return response


# Who may come in: the session of a request, and the roles that may use an address.


Handler = Callable[[ReviewRequest], Response]

COOKIE = "umpirical-review"


def endpoint(handler: Handler, *, roles: frozenset[str] = frozenset()) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for people with one of the `roles`; without any, for everyone. The handler runs in a thread."""

    async def answer(http: Request) -> Response:
        session = session_of(http)
        with review_of(http.app).at_once.one_more(session) as is_welcome:
            if not is_welcome:
                return notice(anonymous(http), 429, "Too many requests at once", "Wait for other requests to finish.")
            if http.method in ("GET", "HEAD"):
                return await run_in_threadpool(_handled, handler, http, session, EMPTY, roles)
            # Nothing is read from people who may not send it.
            if roles and (refused := await run_in_threadpool(_turned_away, http, session, roles)) is not None:
                return refused
            form = await read_form(http, most=LONGEST_FORM if roles else LONGEST_SHORT_FORM)
            return await run_in_threadpool(_handled, handler, http, session, form, roles)

    return answer


def session_of(http: Request) -> str:
    """The session whose cookie came, if the request is to its own address; empty if there is none."""
    return guard.session_of(http, COOKIE)


def sign_in(response: Response, session: str) -> str:
    """Gives the browser its session, and returns the address of its pages."""
    return guard.sign_in(response, session, COOKIE)


def _handled(handler: Handler, http: Request, session: str, form: Form, roles: frozenset[str]) -> Response:
    review = review_of(http.app)
    person = _person(http, session)
    request = ReviewRequest(http, review, person, session if not person.revoked else "", form)
    refused = _turned_away(http, session, roles, person=person)
    if refused is None and http.method not in ("GET", "HEAD") and not request.is_ours:
        return notice(request, 403, "Request refused", "This request did not come from a page of this review.")
    return refused or handler(request)


def _turned_away(
    http: Request, session: str, roles: frozenset[str], *, person: Person | None = None
) -> Response | None:
    """Why the person may not use the address; None if they may."""
    person = person or _person(http, session)
    if roles and person.revoked:
        words = "Open the link you received. To create one, the owner runs: umpirical review invite NAME"
        return notice(anonymous(http), 401, "You are not signed in", words)
    if roles and person.role not in roles:
        words = f"Allowed roles: {', '.join(sorted(roles))}. Your role: {person.role}."
        return notice(anonymous(http), 403, "Not allowed for your role", words)
    return None


def _person(http: Request, session: str) -> Person:
    return (review_of(http.app).people.person(session) if session else None) or NOBODY
