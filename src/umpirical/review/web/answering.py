"""From a request to an answer: who is asking, whether they may, and the page they get."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from umpirical.review.people import Person
from umpirical.review.web.forms import EMPTY, Form, own_mark, read_form
from umpirical.review.web.guarding import HEADERS
from umpirical.review.web.rendering import render
from umpirical.review.web.review import ServedReview, review_of

__all__ = ["Asked", "answer", "broken", "cookie_name", "page", "refused", "session_of", "told"]

TITLES = {404: "There is nothing here", 405: "Nothing is done this way"}

NOBODY = Person(name="", role="reviewer", revoked=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, read and checked."""

    request: Request
    review: ServedReview
    person: Person
    """Whose session it is; nobody, where no session is needed."""
    session: str
    form: Form

    @property
    def by_script(self) -> bool:
        """The page's script asks, and puts the answer in place of what is shown."""
        return self.request.headers.get("x-umpirical") == "script"


def answer(
    handler: Callable[[Asked], Response], *, roles: frozenset[str] = frozenset()
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint. `roles` may use it; without any, everyone may. The handler runs in a thread."""

    async def endpoint(request: Request) -> Response:
        session = session_of(request)
        form = EMPTY if request.method in ("GET", "HEAD") else await read_form(request, session=session)
        return await run_in_threadpool(_answered, handler, request, session, form, roles)

    return endpoint


def session_of(request: Request) -> str:
    return request.cookies.get(cookie_name(request), "")


def cookie_name(request: Request) -> str:
    """One for each port: browsers do not keep cookies of two servers on one machine apart."""
    port = request.headers["host"].rpartition(":")[2]
    return f"umpirical-review-{port if port.isdigit() else 'default'}"


def page(asked: Asked, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """A page of the review."""
    mark = own_mark(asked.session) if asked.session else ""
    shared = {"review": asked.review, "person": asked.person, "mark": mark, "by_script": asked.by_script}
    text = render(template, **shared, **values)
    return HTMLResponse(text, status_code=status)


def told(asked: Asked, status: int, title: str, words: str) -> HTMLResponse:
    """A page that says why there is nothing else to see."""
    return page(asked, "told.html", status=status, title=title, words=words)


async def refused(request: Request, error: Exception) -> Response:
    """An address that leads nowhere, or a request that cannot be read."""
    status, words = (error.status_code, error.detail) if isinstance(error, HTTPException) else (500, "")
    asked = Asked(request, review_of(request.app), NOBODY, "", EMPTY)
    response = told(asked, status, TITLES.get(status, "Refused"), words)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


async def broken(request: Request, error: Exception) -> Response:  # noqa: ARG001  # the server logs it
    """A bug. It is answered outside the guard, and carries the guard's headers all the same."""
    asked = Asked(request, review_of(request.app), NOBODY, "", EMPTY)
    words = "Your last decision may not have been saved. Go back to the review and look; the server's log says more."
    response = told(asked, 500, "Something went wrong here", words)
    response.headers.update(HEADERS)
    return response


def _answered(
    handler: Callable[[Asked], Response], request: Request, session: str, form: Form, roles: frozenset[str]
) -> Response:
    review = review_of(request.app)
    person = (review.people.person(session) if session else None) or NOBODY
    asked = Asked(request, review, person, session if not person.revoked else "", form)
    if request.method not in ("GET", "HEAD") and not form.is_ours:
        return told(asked, 403, "Refused", "Nothing shows that a page of this review sent the request.")
    if roles and person.revoked:
        words = "Open the link you were given. Whoever runs the review makes one with: umpirical review invite NAME"
        return told(asked, 401, "You are not signed in", words)
    if roles and person.role not in roles:
        return told(asked, 403, "Not for you", f"This page is for: {', '.join(sorted(roles))}. You are: {person.role}.")
    return handler(asked)
