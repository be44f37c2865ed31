"""A study's review: what people decided about generated texts, where the review is kept, and what they are shown."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit, urlunsplit

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewOutcome
from umpirical.domain.stimuli import (
    Attempt,
    CheckResult,
    Expectation,
    FlippedVerdict,
    GivenLabel,
    SameVerdict,
    Stimulus,
)
from umpirical.protocols.writing import ReviewTerms, Writing
from umpirical.stimuli.generation.attempt import GIVEN
from umpirical.stimuli.generation.commissions import Commission
from umpirical.stimuli.perturbations.catalogue import Made
from umpirical.store.files import write_text

if TYPE_CHECKING:
    from umpirical.review.database import Database
    from umpirical.review.desk import Desk
    from umpirical.review.people import People


Fate = Literal["kept", "rejected", "undecided"]
"""What happens to a stimulus: judges are asked about it, they are not, or the study's policy decides."""


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that people have decided about a study's generated texts so far."""

    outcomes: Mapping[str, ReviewOutcome]
    """Outcomes by item. An item that nobody has been shown yet may be missing."""
    revisions: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Maps item and text to the number of the revision with that text."""
    items: tuple[ReviewItem, ...] = ()
    decisions: tuple[ReviewDecision, ...] = ()
    overlap: int = 1

    def looked_at(self, item: str) -> bool:
        """Whether anybody has decided on the item; a skip is not a decision."""
        return item in self.outcomes and bool(self.outcomes[item].reviewers or self.outcomes[item].adjudicator)

    def fate(self, item: str) -> Fate:
        """Returns the fate of a stimulus, by its id as an item."""
        match self.outcomes[item].state if item in self.outcomes else "undecided":
            case "accepted":
                return "kept"
            case "rejected":
                return "rejected"
            case "undecided" | "disputed":
                return "undecided"


def applied(review: Review, item: str, commission: Commission, stimulus: Stimulus) -> Stimulus:
    """Returns a stimulus that people kept, with their changes. `item` is its id as the generator wrote it."""
    outcome = review.outcomes[item]
    label = outcome.label if outcome.label and outcome.label != stimulus.gold else ""
    evidence = dict(stimulus.evidence)
    if outcome.edited:
        evidence = _checked_evidence(evidence, checked_again(commission, outcome.text))
    said = _words(outcome, revision=review.revisions.get((item, outcome.text)), label=label, instead_of=stimulus.gold)
    changed = replace(
        stimulus,
        candidates=(outcome.text,) if outcome.edited else stimulus.candidates,
        evidence={**evidence, "review": said},
    )
    if not label:
        return changed
    expectation = _expectation(stimulus.expectation, label, original=commission.source.gold)
    return replace(changed, gold=label, gold_from="review", expectation=expectation)


def checked_again(commission: Commission, text: str) -> tuple[CheckResult, ...]:
    """Runs the perturbation's own checks on a person's text. A person may know better, so nothing is dropped."""
    source, anew = commission.source, commission.perturbation.expectation == "given-label"
    shown = (source.candidates[0], *commission.examples) if anew else ()
    made = Made("" if anew else source.candidates[0], text, source.task, commission.target, shown)
    return tuple(
        CheckResult(check.name, check.passed(made), check.found(made), check.allowed)
        for check in commission.perturbation.checks
    )


def _checked_evidence(evidence: Mapping[str, str], results: Sequence[CheckResult]) -> dict[str, str]:
    """Returns the evidence for the generator's text, updated with what is known about the edited text."""
    kept = {kind: found for kind, found in evidence.items() if not kind.startswith("check ")}
    if "validators" in kept:
        kept["validators"] = f"asked about the text before a person edited it: {kept['validators']}"
    checks = {
        f"check {result.check}": result.found if result.passed else f"NOT PASSED: {result.found}; {result.allowed}"
        for result in results
    }
    return {**checks, **kept}


def _words(outcome: ReviewOutcome, *, revision: int | None, label: str, instead_of: str) -> str:
    people = len(outcome.reviewers)
    said = f"kept by {people} {'person' if people == 1 else 'people'}"
    if outcome.adjudicator:
        said = f"decided by an adjudicator, after {people} had decided" if people else "decided by an adjudicator"
    if outcome.edited:
        said = f"edited by a person{'' if revision is None else f' (revision {revision})'}, {said}"
    if label:
        said += f"; label {label} instead of {instead_of}" if instead_of else f"; label {label}"
    return said


def _expectation(made_for: Expectation, label: str, *, original: str) -> Expectation:
    """Returns what a judge should do with a text whose label people changed."""
    if isinstance(made_for, GivenLabel):
        return GivenLabel(label)
    return SameVerdict() if label == original else FlippedVerdict()


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


BATCH = 500
"""How many texts are added at a time."""


class ItemFeed:
    """The items of a study in the order they were written. Another process may still be generating."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._serial = 0

    @property
    def wanted(self) -> int:
        """How many items there will be if every requested text is written."""
        return self._writing.wanted

    def into(self, desk: "Desk") -> int:
        """Adds to the desk what has been written since the last call. Returns how many items were new."""
        new = 0
        while found := self._writing.items_after(self._serial, most=BATCH):
            new += desk.add(item for _, item in found if item is not None)
            # Only now: whatever did not reach the desk is added next time.
            self._serial = found[-1][0]
        return new


def review_item(commission: Commission, attempt: Attempt, *, sensitive: bool = False) -> ReviewItem:
    """Returns an accepted attempt as an item for reviewers."""
    if attempt.stimulus is None:
        raise ValueError(
            f"attempt {attempt.number} at {attempt.commission} was rejected, so there is nothing to review"
        )
    perturbation, terms, source = commission.perturbation, commission.terms, commission.source
    labelled = perturbation.expectation != "same-verdict"
    return ReviewItem(
        id=attempt.stimulus.id,
        test=perturbation.name,
        question=perturbation.review_question,
        task=source.task,
        # A text written from scratch has no original; the one of its task is only an example.
        before="" if perturbation.expectation == "given-label" else source.candidates[0],
        after=attempt.text,
        generator=GIVEN if commission.given else terms.generator.model,
        rubric=commission.rubric,
        labels=terms.scale.labels if labelled else (),
        target=commission.target,
        checks=attempt.checks,
        opinions=attempt.opinions,
        sensitive=sensitive,
    )
