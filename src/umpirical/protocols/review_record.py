"""The human review of generated texts, in the record, on the page and at a terminal."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import Field

from umpirical.domain.digests import Json
from umpirical.domain.measures import Estimate, Result, Undefined
from umpirical.domain.reviews import ReviewDecision, ReviewItem, ReviewOutcome, ReviewRole
from umpirical.measures.catalogue import Scale
from umpirical.protocols.review import OpenReview, Review, reviewed_so_far
from umpirical.protocols.writing import ReviewTerms
from umpirical.reports import numbers
from umpirical.reports.record import ResultRecord, Strict
from umpirical.review.agreement import LabelMetric, agreement
from umpirical.review.records import adjudication, current
from umpirical.store.stimulus_sets import StimulusSet


class ReviewedTest(Strict):
    """The review of one test's texts."""

    test: str
    agreement: ResultRecord = Field(description="Share of pairs of decisions on one text that agree.")
    alpha: ResultRecord = Field(description="Krippendorff's alpha for keep or reject.")
    rejection: ResultRecord = Field(description="Share of decided texts that were rejected.")


class ReviewedGenerator(Strict):
    """The review of one generator's texts."""

    generator: str
    rejection: ResultRecord


class ReviewRecord(Strict):
    """The review at the time the test cases were assembled."""

    generated: int = Field(description="Generated texts to review.")
    reviewed: int = Field(description="Of those: texts with at least one decision.")
    people: int = Field(description="Reviewers with at least one decision.")
    decisions: int = Field(description="Current decisions, without skips and undone decisions.")
    adjudicated: int = Field(description="Texts decided by an adjudicator.")
    edited: int
    relabelled: int
    rejected: int
    undecided: int = Field(description="Texts with too few decisions, or with disagreement.")
    excluded: int = Field(description="Of those: excluded by the study's review policy.")
    policy: Literal["count", "exclude"] = Field(description="Whether undecided texts are included.")
    overlap: int = Field(description="Reviewers for each text.")
    modes: dict[str, int] = Field(description="Decisions by mode: blind (other opinions hidden) or assisted.")
    guidelines: list[int] = Field(description="Versions of the guideline used for decisions; 0 for none.")
    agreement: ResultRecord
    alpha: ResultRecord
    label_alpha: ResultRecord = Field(description="Krippendorff's alpha of reviewers' labels.")
    tests: list[ReviewedTest]
    generators: list[ReviewedGenerator]


def review_record(terms: ReviewTerms, review: Review, wanted: Collection[str]) -> ReviewRecord:
    """Summarizes the review of the items `wanted`. Those that have not reached the review yet are undecided.

    Decisions on other items, written for an earlier state of the study, are left out.
    """
    asked_for = frozenset(wanted)
    items = [item for item in review.items if item.id in asked_for]
    outcomes = [review.outcomes[item.id] for item in items if item.id in review.outcomes]
    kept = [outcome for outcome in outcomes if outcome.state == "accepted"]
    rejected = sum(outcome.state == "rejected" for outcome in outcomes)
    undecided = len(wanted) - len(kept) - rejected
    standing = _standing(review.decisions, items)
    metric: LabelMetric = "ordinal" if terms.ordered_labels else "nominal"
    found = agreement(review.decisions, items, overlap=review.overlap, metric=metric)
    policy, overall = terms.spec.undecided, found.overall
    return ReviewRecord(
        generated=len(wanted),
        reviewed=sum(review.looked_at(item.id) for item in items),
        people=found.reviewers,
        decisions=len(standing),
        adjudicated=sum(bool(outcome.adjudicator) for outcome in outcomes),
        edited=sum(outcome.edited for outcome in kept),
        relabelled=_relabelled(kept, items),
        rejected=rejected,
        undecided=undecided,
        excluded=undecided if policy == "exclude" else 0,
        policy=policy,
        overlap=review.overlap,
        modes={mode: found.modes[mode] for mode in sorted(found.modes)},
        guidelines=sorted({decision.guideline for decision in standing}),
        agreement=overall.raw,
        alpha=overall.alpha,
        label_alpha=overall.label_alpha,
        tests=[
            ReviewedTest(
                test=test,
                agreement=accord.raw,
                alpha=accord.alpha,
                rejection=found.rejection_by_test[test],
            )
            for test, accord in found.tests.items()
        ],
        generators=[
            ReviewedGenerator(generator=generator, rejection=rate)
            for generator, rate in found.rejection_by_generator.items()
        ],
    )


def _relabelled(kept: list[ReviewOutcome], items: list[ReviewItem]) -> int:
    target = {item.id: item.target for item in items}
    return sum(bool(outcome.label) and outcome.label != target[outcome.item] for outcome in kept)


def _standing(decisions: Collection[ReviewDecision], items: list[ReviewItem]) -> list[ReviewDecision]:
    """Returns each person's current decisions on these items, and what adjudicators settled."""
    said: dict[str, list[ReviewDecision]] = {item.id: [] for item in items}
    for decision in decisions:
        if decision.item in said:
            said[decision.item].append(decision)
    found = [(*current(each), adjudication(each)) for each in said.values()]
    return [decision for each in found for decision in each if decision is not None]


def review_words(review: ReviewRecord) -> str:
    """Says how many texts were reviewed, by how many people, and with what outcome, in one line."""
    texts = f"{numbers.count(review.reviewed)} of {numbers.count(review.generated)} generated texts were reviewed"
    if review.reviewed:
        texts += f", by {numbers.count(review.people)} {'person' if review.people == 1 else 'people'}"
    said = [
        f"{numbers.count(count)} {what}"
        for what, count in (
            ("rejected", review.rejected),
            ("edited", review.edited),
            ("relabeled", review.relabelled),
            ("decided by an adjudicator", review.adjudicated),
        )
        if count
    ]
    return "; ".join([f"{texts}: {', '.join(said)}" if said else texts, _undecided(review)])


def review_line(stimuli: StimulusSet) -> str:
    """Says how a set of stimuli was reviewed, or how many texts await review; empty if neither applies."""
    manifest = stimuli.manifest
    if "review" in manifest:
        return f"review: {review_words(ReviewRecord.model_validate(manifest['review']))}"
    waiting = sum(made.get("excluded", 0) for made in manifest.get("made", {}).values())
    return never_opened(waiting) if waiting else ""


def never_opened(excluded: int) -> str:
    """Says that a study waits for a review that was never opened."""
    return f"review: not started, so {excluded:,} generated texts are excluded"


def agreement_words(review: ReviewRecord) -> str:
    """Says how far people agree, in one line."""
    if isinstance(review.agreement, Undefined) and isinstance(review.alpha, Undefined):
        return f"Agreement between reviewers: undefined, {review.agreement.reason}"
    raw, alpha = rate_words(review.agreement), coefficient_words(review.alpha)
    return f"Agreement between reviewers: {raw}; Krippendorff's alpha {alpha}"


def rate_words(found: Result) -> str:
    """A share with its interval and counts, or why there is none."""
    if isinstance(found, Undefined):
        return f"undefined, {found.reason}"
    return f"{_measured(found, 'rate')} ({numbers.fraction(found.numerator, found.denominator)})"


def coefficient_words(found: Result) -> str:
    """A coefficient with its interval and the number of units behind it, or why there is none."""
    if isinstance(found, Undefined):
        return f"undefined, {found.reason}"
    units = numbers.units(found.unit, found.denominator)
    return f"{_measured(found, 'coefficient')} ({numbers.count(found.denominator)} {units})"


def _measured(found: Estimate, scale: Scale) -> str:
    ends = found.interval
    interval = "without an interval" if ends is None else numbers.scaled_interval(ends.low, ends.high, scale)
    return f"{numbers.scaled(found.value, scale)} {interval}"


def _undecided(review: ReviewRecord) -> str:
    if not review.undecided:
        return "none undecided"
    policy = "excluded" if review.policy == "exclude" else "included"
    return f"{numbers.count(review.undecided)} undecided, {policy}"


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
    said += [f"{person.adjudicated:,} adjudicated"] if person.adjudicated else []
    return ", ".join(said)
