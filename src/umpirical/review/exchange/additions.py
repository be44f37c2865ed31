"""What a file adds to an existing review. Pure functions: all of it is known before anything is written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.exchange.foreign import ForeignDecision, check_name, checked
from umpirical.review.exchange.json_files import BadLine
from umpirical.review.exchange.own import Bundle
from umpirical.review.people import name_key
from umpirical.review.records import Revision

__all__ = ["Additions", "from_foreign", "from_own", "identity"]


@dataclass(slots=True)
class Additions:
    """Records that a review does not have yet, in the order in which to add them."""

    items: list[ReviewItem] = field(default_factory=list)
    guidelines: list[tuple[int, str]] = field(default_factory=list)
    """Version in the file, and text."""
    in_force: str = ""
    """Text of the guideline in force in the file."""
    revisions: list[Revision] = field(default_factory=list)
    decisions: list[ReviewDecision] = field(default_factory=list)
    """Their numbers only give the order; their guidelines are the file's versions."""
    known: int = 0
    """How many decisions of the file the review has already."""


class _RevisionNumbers:
    """The revision number of every text of every item; a new text gets the next number."""

    def __init__(self, items: Iterable[ReviewItem], revisions: Iterable[Revision]) -> None:
        self._numbers = {(item.id, item.after): 0 for item in items}
        self._newest: dict[str, int] = {}
        for revision in revisions:
            self._numbers.setdefault((revision.item, revision.text), revision.number)
            self._newest[revision.item] = max(revision.number, self._newest.get(revision.item, 0))

    def number(self, item: str, text: str) -> tuple[int, bool]:
        """The number of a text, and whether it is new."""
        if (item, text) in self._numbers:
            return self._numbers[item, text], False
        number = self._newest[item] = self._newest.get(item, 0) + 1
        self._numbers[item, text] = number
        return number, True


def from_foreign(said: Iterable[ForeignDecision], held: Bundle, *, names: Mapping[str, str], at: str) -> Additions:
    """Decisions made with another tool. One that its author has replaced here since is skipped."""
    found, texts, items = (
        Additions(),
        _RevisionNumbers(held.items, held.revisions),
        {item.id: item for item in held.items},
    )
    people = _people(held.decisions)
    standing = {(one.item, one.reviewer): one for one in held.decisions if not one.undone and not one.adjudicates}
    for one in said:
        one = checked(replace(one, person=_person(one.person, names, people)), items)  # noqa: PLW2901
        when, number, new = _moment(one.at, one.place) or at, 0, False
        if one.kind == "edit" or (one.kind == "accept" and one.text):
            number, new = texts.number(one.item, one.text)
        decision = ReviewDecision(
            number=len(found.decisions) + 1,
            item=one.item,
            reviewer=one.person,
            kind=one.kind,
            revision=number,
            at=when,
            milliseconds=one.milliseconds,
            mode="assisted",
            guideline=0,
            label=one.label,
            reason=one.reason,
            comment=one.comment,
        )
        before = standing.get((one.item, one.person))
        if before is not None and (_same(before, decision) or (one.at and before.at > when)):
            found.known += 1
            continue
        if new:
            found.revisions.append(Revision(number, one.item, 0, one.person, one.text, when))
        standing[one.item, one.person] = decision
        found.decisions.append(decision)
    return found


def from_own(bundle: Bundle, held: Bundle, *, names: Mapping[str, str]) -> Additions:
    """Another review, or a later state of this one. Texts that both have keep the number they have here."""
    items = {item.id: item for item in held.items}
    found = Additions(guidelines=list(bundle.guidelines), in_force=dict(bundle.guidelines).get(bundle.in_force, ""))
    for item in bundle.items:
        if item.id in items and replace(items[item.id], sensitive=item.sensitive) != item:
            raise BadLine(f"item {item.id[:60]}", "this review has another item of that id, and items never change")
        if item.id not in items:
            items[item.id] = item
            found.items.append(item)
    texts, people = _RevisionNumbers(items.values(), held.revisions), _people(held.decisions)
    numbers = {(item, 0): 0 for item in items}
    for revision in bundle.revisions:
        place = bundle.places[revision]
        if (revision.item, revision.parent) not in numbers:
            raise BadLine(place, "a revision of an item, or of a text, that does not exist")
        number, new = texts.number(revision.item, revision.text)
        numbers[revision.item, revision.number] = number
        if new:
            author = _person(revision.author, names, people)
            check_name(author, place)
            parent = numbers[revision.item, revision.parent]
            found.revisions.append(replace(revision, number=number, parent=parent, author=author))
    known = {identity(decision) for decision in held.decisions}
    for decision in sorted(bundle.decisions, key=lambda one: one.number):
        place = bundle.places[decision]
        _check(decision, items, numbers, bundle, place)
        reviewer = _person(decision.reviewer, names, people)
        check_name(reviewer, place)
        here = replace(decision, reviewer=reviewer, revision=numbers[decision.item, decision.revision])
        if identity(here) in known:
            found.known += 1
        else:
            found.decisions.append(here)
    return found


def _check(
    decision: ReviewDecision,
    items: Mapping[str, ReviewItem],
    numbers: Mapping[tuple[str, int], int],
    bundle: Bundle,
    place: str,
) -> None:
    item = items.get(decision.item)
    if item is None or (decision.item, decision.revision) not in numbers:
        raise BadLine(place, "a decision on an item, or on a text, that does not exist")
    if decision.label and decision.label not in item.labels:
        raise BadLine(place, f"label {decision.label[:60]!r} is not known")
    if decision.guideline not in {0, *dict(bundle.guidelines)}:
        raise BadLine(place, f"guideline {decision.guideline} is not in the file")
    if _moment(decision.at, place) is None:
        raise BadLine(place, "at: expected a time")


def identity(decision: ReviewDecision) -> tuple[object, ...]:
    """What identifies a decision, whatever its number."""
    return (decision.item, decision.reviewer, decision.at, decision.says, decision.kind, decision.adjudicates)


def _same(one: ReviewDecision, other: ReviewDecision) -> bool:
    return (one.says, one.kind, one.reason, one.comment) == (other.says, other.kind, other.reason, other.comment)


def _people(decisions: Iterable[ReviewDecision]) -> dict[str, str]:
    return {name_key(decision.reviewer): decision.reviewer for decision in decisions}


def _person(theirs: str, names: Mapping[str, str], people: dict[str, str]) -> str:
    """The name here of a person in the file."""
    name = names.get(theirs, theirs)
    return people.setdefault(name_key(name), name)


def _moment(text: str, place: str) -> str | None:
    """A time in UTC, as it is stored here; None if none is given."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadLine(place, f"{text[:40]!r} is not a time; expected ISO 8601") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat()
