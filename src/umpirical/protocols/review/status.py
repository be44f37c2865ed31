"""The progress of a review, and what it shows about the people and the generators."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from umpirical.domain.digests import Json
from umpirical.domain.reviews import ReviewDecision, ReviewRole
from umpirical.protocols.review.opening import OpenReview, reviewed_so_far
from umpirical.protocols.review.record import ReviewRecord
from umpirical.protocols.review.spec import ReviewTerms
from umpirical.protocols.review.summary import review_record
from umpirical.protocols.review.words import agreement_words, coefficient_words, rate_words, review_words
from umpirical.reports import numbers


@dataclass(frozen=True, slots=True)
class PersonStatus:
    """What one person has done."""

    name: str
    role: ReviewRole | None
    """None for someone who was never invited and whose decisions were imported."""
    revoked: bool
    decided: int
    """Number of items; undone decisions do not count."""
    skipped: int
    adjudicated: int


@dataclass(frozen=True, slots=True)
class ReviewStatus:
    """The current state of a review."""

    items: int
    decided: int
    """Items that are accepted or rejected."""
    left: int
    """Items that wait for a reviewer."""
    disputed: int
    """Items that wait for an adjudicator."""
    people: tuple[PersonStatus, ...]
    record: ReviewRecord

    def as_json(self) -> dict[str, Json]:
        return {
            "items": self.items,
            "decided": self.decided,
            "left": self.left,
            "disputed": self.disputed,
            "people": [asdict(person) for person in self.people],
            "review": self.record.model_dump(mode="json"),
        }

    def lines(self) -> Iterator[str]:
        """Yields lines for a terminal. Their names and tests are text from outside."""
        items = f"{self.items:,} {numbers.units('item', self.items)}"
        yield f"{items}: {self.decided:,} decided, {self.left:,} left, {self.disputed:,} disputed"
        for person in self.people:
            yield f"  {person.name}, {_role(person)}: {_done(person)}"
        yield f"{review_words(self.record)}."
        yield f"{agreement_words(self.record)}."
        if self.record.label_alpha.kind == "estimate":
            yield f"Krippendorff's alpha of labels: {coefficient_words(self.record.label_alpha)}."
        for test in self.record.tests:
            yield f"  {test.test}: rejected {rate_words(test.rejection)}"
        for generator in self.record.generators:
            yield f"  generator {generator.generator}: rejected {rate_words(generator.rejection)}"


def review_status(terms: ReviewTerms, opened: OpenReview) -> ReviewStatus:
    """Returns the status of an open review."""
    review = reviewed_so_far(opened.desk)
    states = Counter(outcome.state for outcome in review.outcomes.values())
    return ReviewStatus(
        items=len(review.items),
        decided=states["accepted"] + states["rejected"],
        left=states["undecided"],
        disputed=states["disputed"],
        people=tuple(_people(opened, review.decisions)),
        record=review_record(terms, review, [item.id for item in review.items]),
    )


def _people(opened: OpenReview, decisions: tuple[ReviewDecision, ...]) -> Iterator[PersonStatus]:
    counts: Counter[tuple[str, str]] = Counter()
    newest = {(one.reviewer, one.item, one.adjudicates): one for one in decisions if not one.undone}
    for (name, _, adjudicates), one in newest.items():
        counts[name, "adjudicated" if adjudicates else "skipped" if one.kind == "skip" else "decided"] += 1
    invited = {person.name: person for person in opened.people.all()}
    for name in dict.fromkeys([*invited, *(one.reviewer for one in decisions)]):
        person = invited.get(name)
        yield PersonStatus(
            name=name,
            role=None if person is None else person.role,
            revoked=person is not None and person.revoked,
            decided=counts[name, "decided"],
            skipped=counts[name, "skipped"],
            adjudicated=counts[name, "adjudicated"],
        )


def _role(person: PersonStatus) -> str:
    return "not invited" if person.role is None else f"{person.role}{', revoked' if person.revoked else ''}"


def _done(person: PersonStatus) -> str:
    said = [f"{person.decided:,} decided"]
    said += [f"{person.skipped:,} skipped"] if person.skipped else []
    said += [f"{person.adjudicated:,} settled"] if person.adjudicated else []
    return ", ".join(said)
