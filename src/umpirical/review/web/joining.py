"""The door: a one-time link becomes a session."""

from starlette.responses import RedirectResponse, Response

from umpirical.review.web.answering import Asked, cookie_name, page, told

__all__ = ["door", "join"]

SECONDS = 30 * 24 * 3600
"""How long a browser keeps a session."""


def door(asked: Asked) -> Response:
    """A page with a button: looking at the link does not use it up, as a mail program's preview would."""
    return page(asked, "join.html", token=asked.request.path_params["token"])


def join(asked: Asked) -> Response:
    """Uses the link up, and gives the browser its session."""
    session = asked.review.people.redeem(asked.request.path_params["token"])
    if session is None:
        words = "It was used before, has ended, or was never made. Whoever runs the review makes a new one with: "
        return told(asked, 403, "This link does not open anything", f"{words}umpirical review invite NAME")
    response = RedirectResponse(_landing(asked, session), status_code=303)
    secure = asked.request.url.scheme == "https" or asked.request.headers.get("origin", "").startswith("https://")
    response.set_cookie(
        cookie_name(asked.request),
        session,
        max_age=SECONDS,
        path="/",
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    return response


def _landing(asked: Asked, session: str) -> str:
    """Where a person begins. The review hands out a place, so whoever came to settle or to invite begins elsewhere."""
    person = asked.review.people.person(session)
    if person is None or person.role == "reviewer":
        return "/"
    if person.role == "adjudicator":
        return "/adjudicate"
    alone = asked.review.desk.settings.overlap == 1 and len(asked.review.people.all()) == 1
    return "/" if alone else "/people"
