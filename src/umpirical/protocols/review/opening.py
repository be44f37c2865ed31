"""Finds and opens a study's review. No database code is imported for a study without a review."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from umpirical.domain.errors import UsageError
from umpirical.protocols.review.outcomes import Review
from umpirical.protocols.review.spec import ReviewTerms
from umpirical.store.files import write_text

if TYPE_CHECKING:
    from umpirical.review.database import Database
    from umpirical.review.desk import Desk
    from umpirical.review.people import People

VARIABLE = "UMPIRICAL_DATABASE"
"""Environment variable with the URL of a review's database."""

FOLDER, FILE = "review", "review.sqlite"

ELSEWHERE = "database.txt"
"""File in the review's folder that says where the review is kept if elsewhere, without the password."""


@dataclass(frozen=True, slots=True)
class OpenReview:
    """A study's review that is open."""

    database: "Database"
    desk: "Desk"
    people: "People"

    def close(self) -> None:
        self.database.close()


def database_url(
    terms: ReviewTerms, *, named: str | None = None, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Returns the URL of the review's database: as named, from the environment, or in the study; None if not begun.

    Raises if the review was begun elsewhere and nothing says how to get there: a review must not be overlooked.
    """
    if url := named or environment.get(VARIABLE):
        return url
    folder = review_folder(terms)
    if (folder / ELSEWHERE).is_file():
        place = (folder / ELSEWHERE).read_text(encoding="utf-8").strip()
        raise UsageError(
            f"the review of this study is kept at {place}",
            fix=f"set {VARIABLE} to its URL, or delete {folder / ELSEWHERE} if it should no longer count",
        )
    return _own_url(terms) if (folder / FILE).is_file() else None


def review_folder(terms: ReviewTerms) -> Path:
    """Returns the folder of the review, within the study. Raises if it, or the database in it, leads out of there.

    A stranger's study must not be able to have another database on this machine opened and written to.
    """
    folder = terms.folder / FOLDER
    for path in (folder, folder / FILE):
        if not path.resolve().is_relative_to(terms.folder.resolve()):
            raise UsageError(
                f"{path} leads out of the study folder", fix=f"if you mean it: --database sqlite:///{path.resolve()}"
            )
    return folder


def open_review(
    terms: ReviewTerms, *, named: str | None = None, environment: Mapping[str, str] = os.environ, begin: bool = False
) -> OpenReview:
    """Opens the review of a study, with its guideline in force. `begin` creates one if there is none."""
    url = database_url(terms, named=named, environment=environment)
    if url is None:
        if not begin:
            raise UsageError("the review of this study was never opened", fix=f"umpirical review {terms.folder}")
        url = _own_url(terms)
    opened = _open(terms, url)
    if begin and url != _own_url(terms):
        # A user who later forgets the URL is told so, and does not measure with rejected texts. Only now, because a URL
        # that cannot be opened must not be recorded as the place of a review.
        folder = review_folder(terms)
        folder.mkdir(exist_ok=True)
        write_text(folder / ELSEWHERE, f"{_without_password(url)}\n")
    if begin:
        opened.desk.set_guideline(terms.guideline)
    return opened


def read_review(terms: ReviewTerms, *, environment: Mapping[str, str] = os.environ) -> Review | None:
    """Returns what people have decided so far; None if the review has never been opened."""
    url = database_url(terms, environment=environment)
    if url is None:
        return None
    opened = _open(terms, url)
    try:
        return reviewed_so_far(opened.desk)
    finally:
        opened.close()


def reviewed_so_far(desk: "Desk") -> Review:
    """Returns everything that people have decided at a desk so far."""
    return Review(
        outcomes={outcome.item: outcome for outcome in desk.outcomes()},
        revisions={(one.item, one.text): one.number for one in desk.revisions() if one.number},
        items=tuple(desk.items()),
        decisions=tuple(desk.decisions()),
        overlap=desk.settings.overlap,
    )


def _open(terms: ReviewTerms, url: str) -> OpenReview:
    from umpirical.review.database import open_database
    from umpirical.review.desk import Desk
    from umpirical.review.people import People
    from umpirical.review.records import Settings

    database = open_database(url)
    return OpenReview(database, Desk(database, Settings(terms.spec.overlap, terms.spec.mode)), People(database))


def _own_url(terms: ReviewTerms) -> str:
    path: Path = (review_folder(terms) / FILE).resolve()
    return f"sqlite:///{path}"


def _without_password(url: str) -> str:
    if url.startswith("sqlite:"):
        return url
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit((parts.scheme, f"{user}{parts.hostname or ''}{port}", parts.path, "", ""))
