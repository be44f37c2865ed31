"""Rendering pages. Text from outside is made inert in them by the same rules as in the reports."""

from functools import cache

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from umpirical.reports.pages import environment as reports_environment
from umpirical.view.requests import ViewRequest, view_of
from umpirical.web.guard import HEADERS

TITLES = {
    400: "Request refused",
    401: "You are not signed in",
    404: "Page not found",
    405: "Method not allowed",
    409: "This cannot be read",
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
    words = "There is no page at this address." if words == "Not Found" else words
    return notice(ViewRequest(http, view_of(http.app)), status, TITLES.get(status, "Request refused"), words)


async def crash_page(http: Request, error: Exception) -> Response:  # noqa: ARG001  # the server logs it
    """For a bug. It is answered outside the guard, so it sets the guard's headers itself."""
    words = "The server's log has details. Nothing was changed: this program only reads."
    response = notice(ViewRequest(http, view_of(http.app)), 500, "Something went wrong", words)
    response.headers.update(HEADERS)
    return response
