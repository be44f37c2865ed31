"""How people come in, and the owner's page about who takes part."""

from collections import Counter

from starlette.responses import RedirectResponse, Response

from umpirical.review.web.access import cookie_name
from umpirical.review.web.editor_text import from_editor
from umpirical.review.web.pages import notice, page
from umpirical.review.web.requests import ReviewRequest

__all__ = ["invitation", "join", "people", "revoke"]

SESSION_SECONDS = 30 * 24 * 3600
"""How long a browser keeps a session."""


def invitation(request: ReviewRequest) -> Response:
    """A page with a button: merely opening the link, as the preview of a mail program does, does not use it up."""
    return page(request, "join.html", token=request.http.path_params["token"])


def join(request: ReviewRequest) -> Response:
    """Uses up the link, and gives the browser its session."""
    session = request.review.people.redeem(request.http.path_params["token"])
    if session is None:
        words = "It was used before, has expired, or never existed. Whoever runs the review can make a new one with: "
        return notice(request, 403, "This link does not work", f"{words}umpirical review invite NAME")
    response = RedirectResponse(_first_page(request, session), status_code=303)
    secure = request.http.url.scheme == "https" or request.http.headers.get("origin", "").startswith("https://")
    response.set_cookie(
        cookie_name(request.http),
        session,
        max_age=SESSION_SECONDS,
        path="/",
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    return response


def people(request: ReviewRequest) -> Response:
    """Who takes part, and how far the review is."""
    return _people(request)


def revoke(request: ReviewRequest) -> Response:
    """Ends all links and sessions of one person."""
    name = from_editor(request.form.get("name"))
    if name == request.person.name:
        return _people(request, status=422, refused="That would lock you out. Another owner can do it.")
    if not request.review.people.revoke(name):
        return _people(request, status=409, refused="Nobody by that name has access.")
    return _people(request) if request.by_script else RedirectResponse("/people", status_code=303)


def _first_page(request: ReviewRequest, session: str) -> str:
    """Where a person starts. The review page assigns an item, so whoever came to settle or invite starts elsewhere."""
    person = request.review.people.person(session)
    if person is None or person.role == "reviewer":
        return "/"
    if person.role == "adjudicator":
        return "/adjudicate"
    alone = request.review.desk.settings.overlap == 1 and len(request.review.people.all()) == 1
    return "/" if alone else "/people"


def _people(request: ReviewRequest, *, status: int = 200, refused: str = "") -> Response:
    desk = request.review.desk
    outcomes = list(desk.outcomes())
    states = Counter(outcome.state for outcome in outcomes)
    decisions = Counter(each.reviewer for each in desk.decisions() if not each.undone and each.kind != "skip")
    return page(
        request,
        "people.html",
        status=status,
        refused=refused,
        people=request.review.people.all(),
        decisions=decisions,
        states=states,
        edited=sum(outcome.edited for outcome in outcomes),
        progress=desk.progress(request.person.name),
        guideline=desk.guideline(),
        settings=desk.settings,
    )
