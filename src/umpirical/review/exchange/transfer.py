"""Exporting a review to a file, and importing the decisions in a file: all of them, or none."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from umpirical.review.desk import Desk
from umpirical.review.exchange.additions import from_foreign, from_own
from umpirical.review.exchange.argilla import argilla_records, read_argilla
from umpirical.review.exchange.foreign import current_decisions
from umpirical.review.exchange.label_studio import label_studio_tasks, read_label_studio
from umpirical.review.exchange.own import Bundle, own_lines, read_own
from umpirical.review.exchange.people import FilePeople
from umpirical.review.people import People
from umpirical.review.records import utc_now

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
        notes.append(f"{left:,} undone, replaced or adjudicating decisions are only in the umpirical format")
    return Exported(_text(lines), len(held.items), said, tuple(notes))


def import_review(
    desk: Desk,
    file: Path,
    form: Format,
    *,
    names: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Imported:
    """Adds the decisions in a file. Raises at the first that does not fit, and then nothing is added.

    `names` maps people of the file to their names here; others keep their name. Names that differ only in case are one
    person, and whoever takes part here must be among `names`. Decisions made with another tool are recorded as
    assisted: nobody here knows what it showed.
    """
    held, at = _held(desk), clock().astimezone(UTC).isoformat()
    members = [person.name for person in People(desk.database).all()]
    people = FilePeople(names or {}, members=members, decided=(decision.reviewer for decision in held.decisions))
    if form == "umpirical":
        additions = from_own(read_own(file), held, people=people, at=at)
    else:
        said = (read_argilla if form == "argilla" else read_label_studio)(file)
        additions = from_foreign(said, held, people=people, at=at)
    additions.source = f"{form}: {file.name}"
    return Imported(desk.restore(additions, at=at), additions.known)


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
