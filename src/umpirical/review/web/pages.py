"""Rendering pages. Text from outside is made inert in them by the same rules as in the reports."""

from functools import cache, partial

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from umpirical.domain.reviews import REASONS
from umpirical.reports.pages import environment as reports_environment
from umpirical.review.web.editor_text import to_editor
from umpirical.review.web.requests import ReviewRequest, anonymous
from umpirical.text.visible import mark_blanks
from umpirical.web.guard import HEADERS

NOTICES = {
    404: ("Page not found", "There is no page at this address."),
    401: (
        "You are not signed in",
        "Your review is at the address that your link led you to: look for it in the history of your browser.",
    ),
    405: ("Method not allowed", "This address only accepts what the forms of the review send to it."),
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
    """A page of the review."""
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
    words = "Your last decision may not have been saved. Go back to the review to check; the server's log has details."
    response = notice(anonymous(http), 500, "Something went wrong", words)
    response.headers.update(HEADERS)
    return response
