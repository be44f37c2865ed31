"""What every handler works with: the review that is served, and one request to it, read and checked."""

from dataclasses import dataclass
from hmac import compare_digest
from typing import cast

from starlette.applications import Starlette
from starlette.requests import Request

from umpirical.review.desk import Desk
from umpirical.review.people import People, Person
from umpirical.review.web.watcher import DeskWatcher
from umpirical.web.forms import EMPTY, Form
from umpirical.web.limits import AtOnce
from umpirical.web.sessions import address_of

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
    at_once: AtOnce
    """Requests that are being answered."""
    streams: AtOnce
    """Event streams that are open."""


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
        return "x-umpirical" in self.http.headers

    @property
    def address(self) -> str:
        """Where the pages of this session are, without a slash at the end; empty where no session is needed."""
        place = self.http.path_params.get("place")
        return address_of(place) if place else ""

    @property
    def mark(self) -> str:
        """What a page of this session sends along with every change, in a field or in a header."""
        return self.review.people.mark(self.session) if self.session else ""

    @property
    def is_ours(self) -> bool:
        """Whether one of our pages sent it: it has the mark, or without a session the browser says so."""
        if not self.session:
            return self.form.is_of_our_origin
        sent = self.http.headers.get("x-umpirical", "") or self.form.get("mark")
        return compare_digest(sent.encode("utf-8", "surrogatepass"), self.mark.encode())


def review_of(app: Starlette) -> ServedReview:
    return cast("ServedReview", app.state.review)


def anonymous(http: Request) -> ReviewRequest:
    """A request of nobody, for answers that do not depend on who asks."""
    return ReviewRequest(http, review_of(http.app), NOBODY, "", EMPTY)
