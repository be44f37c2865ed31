"""The owner's page: who takes part, and how far the review is."""

from collections import Counter

from starlette.responses import RedirectResponse, Response

from umpirical.review.web.answering import Asked, page
from umpirical.review.web.editing import from_editor

__all__ = ["revoke", "screen"]


def screen(asked: Asked) -> Response:
    """People and numbers."""
    return _page(asked)


def revoke(asked: Asked) -> Response:
    """Ends all links and sessions of one person."""
    name = from_editor(asked.form.get("name"))
    if name == asked.person.name:
        return _page(asked, status=422, refused="You would lock yourself out. Another owner can do that.")
    if not asked.review.people.revoke(name):
        return _page(asked, status=409, refused="There is no one of that name whose access has not ended.")
    return _page(asked) if asked.by_script else RedirectResponse("/people", status_code=303)


def _page(asked: Asked, *, status: int = 200, refused: str = "") -> Response:
    desk = asked.review.desk
    outcomes = list(desk.outcomes())
    states = Counter(outcome.state for outcome in outcomes)
    decisions = Counter(each.reviewer for each in desk.decisions() if not each.undone and each.kind != "skip")
    return page(
        asked,
        "people.html",
        status=status,
        refused=refused,
        people=asked.review.people.all(),
        decisions=decisions,
        states=states,
        edited=sum(outcome.edited for outcome in outcomes),
        progress=desk.progress(asked.person.name),
        guideline=desk.guideline(),
        settings=desk.settings,
    )
