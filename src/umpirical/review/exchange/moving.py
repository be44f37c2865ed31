"""A review to a file, and decisions from a file into a review: all that fits, or nothing."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from umpirical.review.clock import now
from umpirical.review.desk import Desk
from umpirical.review.exchange.argilla import argilla_records, read_argilla
from umpirical.review.exchange.foreign import current_decisions
from umpirical.review.exchange.label_studio import label_studio_tasks, read_label_studio
from umpirical.review.exchange.merging import Additions, from_foreign, from_own
from umpirical.review.exchange.own import Bundle, own_lines, read_own
from umpirical.review.exchange.restoring import guidelines_of, restore

__all__ = ["Exported", "Format", "TakenIn", "export_review", "import_review"]

Format = Literal["umpirical", "argilla", "label-studio"]


@dataclass(frozen=True, slots=True)
class Exported:
    """A review as the text of a file."""

    text: str
    items: int
    decisions: int
    notes: tuple[str, ...] = ()
    """What the format has no room for."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What came of an import."""

    new: int
    known: int
    """Decisions that were there before, or that their author has replaced since."""


def export_review(desk: Desk, form: Format) -> Exported:
    """The whole review in our own format, or what people say now of each item in that of another tool."""
    held = _held(desk)
    if form == "umpirical":
        return Exported(_text(own_lines(held)), len(held.items), len(held.decisions))
    revisions = {(revision.item, revision.number): revision for revision in held.revisions}
    write = argilla_records if form == "argilla" else label_studio_tasks
    lines = write(held.items, revisions, held.decisions, mode=desk.settings.mode)
    said = sum(map(len, current_decisions(held.decisions).values()))
    notes = []
    if left := len(held.decisions) - said:
        notes.append(f"{left:,} undone, replaced or adjudicating decisions are only in the format umpirical")
    return Exported(_text(lines), len(held.items), said, tuple(notes))


def import_review(
    desk: Desk,
    file: Path,
    form: Format,
    *,
    names: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = now,
) -> TakenIn:
    """Takes in the decisions of a file. Raises at the first that does not fit, and then nothing is taken in.

    `names` are people of the file to what they are called here. Those not named there keep their name; case is no
    difference. Decisions made with another tool are recorded as assisted: nobody here knows what was shown.
    """
    held, at = _held(desk), clock().astimezone(UTC).isoformat()
    additions: Additions
    if form == "umpirical":
        additions = from_own(read_own(file), held, names=names or {})
    else:
        said = (read_argilla if form == "argilla" else read_label_studio)(file)
        additions = from_foreign(said, held, names=names or {}, at=at)
    new = restore(desk, additions, source=f"{form}: {file.name}", at=at)
    return TakenIn(new, additions.known)


def _held(desk: Desk) -> Bundle:
    return Bundle(
        items=tuple(desk.items()),
        guidelines=guidelines_of(desk),
        in_force=desk.guideline()[0],
        revisions=tuple(revision for revision in desk.revisions() if revision.number),
        decisions=tuple(desk.decisions()),
    )


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
