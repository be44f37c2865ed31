"""Importing and exporting reviews.

What a file adds is worked out by pure functions: all of it is known before anything is written.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from umpirical.domain.reviews import ReviewDecision, ReviewItem
from umpirical.review.desk import Desk
from umpirical.review.exchange.files import BadLine, Bundle, FilePeople, own_lines, read_own
from umpirical.review.exchange.foreign import (
    ForeignDecision,
    argilla_records,
    check_name,
    checked,
    current_decisions,
    label_studio_tasks,
    read_argilla,
    read_harness,
    read_label_studio,
)
from umpirical.review.people import People
from umpirical.review.records import LONGEST_MILLISECONDS, LONGEST_TEXT, Additions, Revision, utc_now

CLOCKS_DIFFER = timedelta(days=1)
"""How far the clock of another machine may be ahead of ours."""


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


def from_foreign(said: Iterable[ForeignDecision], held: Bundle, *, people: FilePeople, at: str) -> Additions:
    """Decisions made with another tool. One that its author has replaced here since is skipped."""
    found, texts, items = (
        Additions(),
        _RevisionNumbers(held.items, held.revisions),
        {item.id: item for item in held.items},
    )
    standing = {(one.item, one.reviewer): one for one in held.decisions if not one.undone and not one.adjudicates}
    for one in said:
        theirs, one = one.person, checked(replace(one, person=people.name_of(one.person)), items)  # noqa: PLW2901
        when, number, new = _moment(one.at, one.place, now=at) or at, 0, False
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
        people.check_may_speak(theirs, one.place)
        if new:
            found.revisions.append(Revision(number, one.item, 0, one.person, one.text, when))
        standing[one.item, one.person] = decision
        found.decisions.append(decision)
        found.places[decision.number] = one.place
    return found


def from_own(bundle: Bundle, held: Bundle, *, people: FilePeople, at: str) -> Additions:
    """Another review, or a later state of this one. Texts that both have keep the number they have here."""
    items = {item.id: item for item in held.items}
    guidelines = dict(bundle.guidelines)
    if bundle.in_force not in {0, *guidelines}:
        raise BadLine(f"guideline {bundle.in_force}", "is the current guideline but is not in the file")
    found = Additions(guidelines=list(bundle.guidelines), in_force=guidelines.get(bundle.in_force, ""))
    for item in bundle.items:
        if item.id in items and replace(items[item.id], sensitive=item.sensitive) != item:
            raise BadLine(f"item {item.id[:60]}", "this review has a different item with the same id")
        if item.id not in items:
            items[item.id] = item
            found.items.append(item)
    numbers = _revisions(bundle, items, held, found, people=people, at=at)
    known = {_identity(decision) for decision in held.decisions}
    for decision in sorted(bundle.decisions, key=lambda one: one.number):
        place = bundle.places[decision]
        _check(decision, items, numbers, bundle, place)
        reviewer, when = people.name_of(decision.reviewer), _moment(decision.at, place, now=at)
        check_name(reviewer, place)
        if when is None:
            raise BadLine(place, "at: expected a time")
        here = replace(decision, reviewer=reviewer, at=when, revision=numbers[decision.item, decision.revision])
        if _identity(here) in known:
            found.known += 1
            continue
        people.check_may_speak(decision.reviewer, place)
        found.decisions.append(here)
        found.places[here.number] = place
    return found


def _revisions(
    bundle: Bundle,
    items: Mapping[str, ReviewItem],
    held: Bundle,
    found: Additions,
    *,
    people: FilePeople,
    at: str,
) -> dict[tuple[str, int], int]:
    """Adds the texts that are new, and returns for each text of the file its number here."""
    texts, numbers = _RevisionNumbers(items.values(), held.revisions), {(item, 0): 0 for item in items}
    for revision in bundle.revisions:
        place = bundle.places[revision]
        if (revision.item, revision.parent) not in numbers:
            raise BadLine(place, "the item or text of this revision does not exist")
        made = _moment(revision.at, place, now=at) or at
        number, new = texts.number(revision.item, revision.text)
        numbers[revision.item, revision.number] = number
        if new:
            author = people.name_of(revision.author)
            check_name(author, place)
            parent = numbers[revision.item, revision.parent]
            found.revisions.append(replace(revision, number=number, parent=parent, author=author, at=made))
    return numbers


def _check(
    decision: ReviewDecision,
    items: Mapping[str, ReviewItem],
    numbers: Mapping[tuple[str, int], int],
    bundle: Bundle,
    place: str,
) -> None:
    item = items.get(decision.item)
    if item is None or (decision.item, decision.revision) not in numbers:
        raise BadLine(place, "the item or text of this decision does not exist")
    if decision.label and decision.label not in item.labels:
        raise BadLine(place, f"unknown label {decision.label[:60]!r}")
    if decision.guideline not in {0, *dict(bundle.guidelines)}:
        raise BadLine(place, f"guideline {decision.guideline} is not in the file")
    if decision.milliseconds is not None and not 0 <= decision.milliseconds <= LONGEST_MILLISECONDS:
        raise BadLine(place, f"milliseconds: expected 0 to {LONGEST_MILLISECONDS:,}")
    _check_kind(decision, item, numbers[decision.item, decision.revision], place)


def _check_kind(decision: ReviewDecision, item: ReviewItem, revision: int, place: str) -> None:
    """Raises unless it is a decision that the desk could have recorded."""
    keeps = decision.kind in ("accept", "edit")
    if keeps and item.labels and not decision.label:
        raise BadLine(place, f"the label is missing; expected one of {', '.join(item.labels)[:200]}")
    if decision.kind == "edit" and not revision:
        raise BadLine(place, "an edit needs a text")
    if (decision.kind == "reject") != (decision.reason is not None):
        raise BadLine(place, "a rejection needs a reason; other decisions must not have one")
    if decision.kind == "skip" and (decision.adjudicates or decision.label):
        raise BadLine(place, "a skip must not have a label")
    if len(decision.comment) > LONGEST_TEXT:
        raise BadLine(place, f"comment: {len(decision.comment):,} characters; the limit is {LONGEST_TEXT:,}")


def _identity(decision: ReviewDecision) -> tuple[object, ...]:
    """What identifies a decision, whatever its number."""
    return (decision.item, decision.reviewer, decision.at, decision.says, decision.kind, decision.adjudicates)


def _same(one: ReviewDecision, other: ReviewDecision) -> bool:
    return (one.says, one.kind, one.reason, one.comment) == (other.says, other.kind, other.reason, other.comment)


def _moment(text: str, place: str, *, now: str) -> str | None:
    """A time in UTC, as it is stored here; None if none is given. Nothing was decided tomorrow."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadLine(place, f"{text[:40]!r} is not a time; expected ISO 8601") from None
    if moment > datetime.fromisoformat(now) + CLOCKS_DIFFER:
        raise BadLine(place, f"{text[:40]!r} is in the future")
    return moment.isoformat()


# Exporting a review to a file, and importing the decisions in a file: all of them, or none.


Format = Literal["umpirical", "argilla", "label-studio"]


@dataclass(frozen=True, slots=True)
class Exported:
    """A review as the text of a file."""

    text: str
    items: int
    decisions: int
    notes: tuple[str, ...] = ()
    """What the format cannot hold."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import."""

    new: int
    known: int
    """Decisions that the review had already, or that their author has replaced since."""
    elsewhere: int = 0
    """Decisions on texts that are not in the review."""


def export_review(desk: Desk, form: Format) -> Exported:
    """The whole review in our own format, or what people say now about each item in the format of another tool."""
    held = _held(desk)
    if form == "umpirical":
        return Exported(_text(own_lines(held)), len(held.items), len(held.decisions))
    revisions = {(revision.item, revision.number): revision for revision in held.revisions}
    write = argilla_records if form == "argilla" else label_studio_tasks
    lines = write(held.items, revisions, held.decisions, mode=desk.settings.mode)
    said = sum(map(len, current_decisions(held.decisions).values()))
    notes = []
    if left := len(held.decisions) - said:
        notes.append(f"{left:,} undone, replaced or adjudicating decisions were not exported; use the umpirical format")
    return Exported(_text(lines), len(held.items), said, tuple(notes))


def import_review(
    desk: Desk,
    file: Path,
    form: Format | Literal["harness"],
    *,
    names: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Imported:
    """Adds the decisions in a file. Raises at the first that does not fit, and then nothing is added.

    `names` maps people of the file to their names here; others keep their name. Names that differ only in case are one
    person, and whoever takes part here must be among `names`. Decisions made with another tool are recorded as
    assisted: nobody here knows what it showed.
    """
    held, at, elsewhere = _held(desk), clock().astimezone(UTC).isoformat(), 0
    members = [person.name for person in People(desk.database).all()]
    people = FilePeople(names or {}, members=members, decided=(decision.reviewer for decision in held.decisions))
    if form == "umpirical":
        additions = from_own(read_own(file), held, people=people, at=at)
    elif form == "harness":
        said, elsewhere = read_harness(file, held.items)
        additions = from_foreign(said, held, people=people, at=at)
    else:
        read = read_argilla if form == "argilla" else read_label_studio
        additions = from_foreign(read(file), held, people=people, at=at)
    additions.source = f"{form}: {file.name}"
    return Imported(desk.restore(additions, at=at), additions.known, elsewhere)


def _held(desk: Desk) -> Bundle:
    return Bundle(
        items=tuple(desk.items()),
        guidelines=tuple(desk.guidelines()),
        in_force=desk.guideline()[0],
        revisions=tuple(revision for revision in desk.revisions() if revision.number),
        decisions=tuple(desk.decisions()),
    )


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
