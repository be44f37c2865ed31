"""How people come in, and the owner's page about who takes part."""

from collections import Counter

from starlette.responses import RedirectResponse, Response

from umpirical.review.web.access import sign_in
from umpirical.review.web.editor_text import from_editor
from umpirical.review.web.pages import notice, page
from umpirical.review.web.requests import ReviewRequest


def invitation(request: ReviewRequest) -> Response:
    """A page with a button: merely opening the link, as the preview of a mail program does, does not use it up."""
    return page(request, "join.html", token=request.http.path_params["token"])


def join(request: ReviewRequest) -> Response:
    """Uses up the link, and gives the browser its session."""
    headers = request.http.headers
    over_tls = request.http.url.scheme == "https" or headers.get("origin", "").startswith("https://")
    session = request.review.people.redeem(request.http.path_params["token"], over_tls=over_tls)
    if session is None:
        words = "It was used before, has expired, or never existed. Whoever runs the review can make a new one with: "
        return notice(request, 403, "This link does not work", f"{words}umpirical review invite NAME")
    response = RedirectResponse("/", status_code=303)
    response.headers["Location"] = sign_in(response, session) + _first_page(request, session)
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
    return _people(request) if request.by_script else RedirectResponse(f"{request.address}/people", status_code=303)


def _first_page(request: ReviewRequest, session: str) -> str:
    """Where a person starts: with their first item, which is theirs from now on, or where they settle or invite."""
    person, desk = request.review.people.person(session), request.review.desk
    alone = desk.settings.overlap == 1 and len(request.review.people.all()) == 1
    if person is None or person.role == "adjudicator":
        return "/adjudicate"
    if person.role == "owner" and not alone:
        return "/people"
    desk.next(person.name)
    return "/"


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
