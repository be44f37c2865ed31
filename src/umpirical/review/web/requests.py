"""What every handler works with: the review that is served, and one request to it, read and checked."""

from dataclasses import dataclass
from typing import cast

from starlette.applications import Starlette
from starlette.requests import Request

from umpirical.review.desk import Desk
from umpirical.review.people import People, Person
from umpirical.review.web.forms import EMPTY, Form
from umpirical.review.web.watcher import DeskWatcher

__all__ = ["NOBODY", "ReviewRequest", "ServedReview", "anonymous", "review_of"]

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
        return self.http.headers.get("x-umpirical") == "script"


def review_of(app: Starlette) -> ServedReview:
    return cast("ServedReview", app.state.review)


def anonymous(http: Request) -> ReviewRequest:
    """A request of nobody, for answers that do not depend on who asks."""
    return ReviewRequest(http, review_of(http.app), NOBODY, "", EMPTY)
