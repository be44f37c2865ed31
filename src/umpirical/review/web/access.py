"""Who may come in: the session of a request, and the roles that may use an address."""

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from umpirical.review.web.forms import EMPTY, Form, read_form
from umpirical.review.web.pages import notice
from umpirical.review.web.requests import NOBODY, ReviewRequest, review_of

__all__ = ["cookie_name", "endpoint", "session_of"]

Handler = Callable[[ReviewRequest], Response]


def endpoint(handler: Handler, *, roles: frozenset[str] = frozenset()) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for people with one of the `roles`; without any, for everyone. The handler runs in a thread."""

    async def answer(http: Request) -> Response:
        session = session_of(http)
        form = EMPTY if http.method in ("GET", "HEAD") else await read_form(http, session=session)
        return await run_in_threadpool(_handled, handler, http, session, form, roles)

    return answer


def session_of(http: Request) -> str:
    return http.cookies.get(cookie_name(http), "")


def cookie_name(http: Request) -> str:
    """One name per port, because browsers share cookies between all ports of a machine."""
    port = http.headers["host"].rpartition(":")[2]
    return f"umpirical-review-{port if port.isdigit() else 'default'}"


def _handled(handler: Handler, http: Request, session: str, form: Form, roles: frozenset[str]) -> Response:
    review = review_of(http.app)
    person = (review.people.person(session) if session else None) or NOBODY
    request = ReviewRequest(http, review, person, session if not person.revoked else "", form)
    if http.method not in ("GET", "HEAD") and not form.is_ours:
        return notice(request, 403, "Request refused", "It does not seem to come from a page of this review.")
    if roles and person.revoked:
        words = "Open the link you were given. Whoever runs the review can make one with: umpirical review invite NAME"
        return notice(request, 401, "You are not signed in", words)
    if roles and person.role not in roles:
        words = f"This is for: {', '.join(sorted(roles))}. Your role is: {person.role}."
        return notice(request, 403, "Not allowed for your role", words)
    return handler(request)
