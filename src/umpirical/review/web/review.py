"""What every page of one review works with."""

from dataclasses import dataclass
from typing import cast

from starlette.applications import Starlette

from umpirical.review.desk import Desk
from umpirical.review.people import People
from umpirical.review.web.news import News

__all__ = ["ServedReview", "review_of"]


@dataclass(frozen=True, slots=True)
class ServedReview:
    """One review, as it is served."""

    desk: Desk
    people: People
    title: str
    """What the review is called on the screen; the study's name."""
    news: News


def review_of(app: Starlette) -> ServedReview:
    return cast("ServedReview", app.state.review)
