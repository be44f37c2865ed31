"""Who may come in: the session of a request, and the roles that may use an address."""

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from umpirical.review.people import Person
from umpirical.review.web.pages import notice
from umpirical.review.web.requests import NOBODY, ReviewRequest, anonymous, review_of
from umpirical.web import sessions
from umpirical.web.forms import EMPTY, Form, read_form
from umpirical.web.limits import LONGEST_FORM, LONGEST_SHORT_FORM

Handler = Callable[[ReviewRequest], Response]

COOKIE = "umpirical-review"


def endpoint(handler: Handler, *, roles: frozenset[str] = frozenset()) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for people with one of the `roles`; without any, for everyone. The handler runs in a thread."""

    async def answer(http: Request) -> Response:
        session = session_of(http)
        with review_of(http.app).at_once.one_more(session) as is_welcome:
            if not is_welcome:
                return notice(anonymous(http), 429, "Too many requests at once", "Wait for the answers to the others.")
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
    return sessions.session_of(http, COOKIE)


def sign_in(response: Response, session: str) -> str:
    """Gives the browser its session, and returns the address of its pages."""
    return sessions.sign_in(response, session, COOKIE)


def _handled(handler: Handler, http: Request, session: str, form: Form, roles: frozenset[str]) -> Response:
    review = review_of(http.app)
    person = _person(http, session)
    request = ReviewRequest(http, review, person, session if not person.revoked else "", form)
    refused = _turned_away(http, session, roles, person=person)
    if refused is None and http.method not in ("GET", "HEAD") and not request.is_ours:
        return notice(request, 403, "Request refused", "It does not seem to come from a page of this review.")
    return refused or handler(request)


def _turned_away(
    http: Request, session: str, roles: frozenset[str], *, person: Person | None = None
) -> Response | None:
    """Why the person may not use the address; None if they may."""
    person = person or _person(http, session)
    if roles and person.revoked:
        words = "Open the link you were given. Whoever runs the review can make one with: umpirical review invite NAME"
        return notice(anonymous(http), 401, "You are not signed in", words)
    if roles and person.role not in roles:
        words = f"This is for: {', '.join(sorted(roles))}. Your role is: {person.role}."
        return notice(anonymous(http), 403, "Not allowed for your role", words)
    return None


def _person(http: Request, session: str) -> Person:
    return (review_of(http.app).people.person(session) if session else None) or NOBODY
