"""A gallery of datasheets to publish: an index with a card for each judge, and a page for each, without a server.

The pages are rendered from the records, never copied: a page in a stranger's folder may hold a script.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from umpirical.domain.errors import UmpiricalError, UsageError
from umpirical.domain.measures import Estimate
from umpirical.protocols.catalogue import ReadRecord, read_record
from umpirical.reports import numbers
from umpirical.reports.pages import environment
from umpirical.reports.record import MeasureRecord
from umpirical.reports.tiles import Tile
from umpirical.view.catalogue import Catalogue, FoundRun

LIST = "gallery.json"
"""Names every file of a gallery with its digest, and shows that a folder is one."""

FIRST = (
    *("dark-current", "positional-false-preference", "target-sensitivity", "grade-concordance"),
    *("change-rate", "accuracy", "violation-detection", "unparsed-rate"),
)
"""The figures of a card: the first that a record has."""

FIGURES = 3

ORDER = {"use": 0, "use-with-restrictions": 1, "not-enough-data": 2, "do-not-use": 3}
"""In which order decisions are shown; what is none of them comes last."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number on a card."""

    title: str
    value: str
    interval: str


@dataclass(frozen=True, slots=True)
class Card:
    """One judge in the index."""

    judge: str
    model: str
    protocol: str
    verdict: str
    title: str
    line: str
    created: str
    trials: int
    page: str
    tiles: tuple[Tile, ...]
    figures: tuple[Figure, ...]
    """For a record without tiles."""
    is_complete: bool


@dataclass(frozen=True, slots=True)
class WrittenGallery:
    """What was written, and which runs were not."""

    index: Path
    pages: int
    excluded: tuple[tuple[str, str], ...]
    """The runs without a page, each with the reason."""


def write_gallery(root: Path, folder: Path) -> WrittenGallery:
    """Writes the gallery of all measured runs under `root`: the whole folder at once, or nothing.

    Replaces a gallery, and refuses any other folder that is not empty.
    """
    _refuse_other(folder)
    with _drafted(folder) as draft:
        cards, excluded = _write_pages(root, draft)
        if not cards:
            raise UsageError(f"no measured run under {root}", fix="run: umpirical run")
        template = environment("umpirical.view").get_template("gallery.html")
        (draft / "index.html").write_text(template.render(title="Judges", cards=cards), encoding="utf-8")
        _write_list(draft)
    return WrittenGallery(folder / "index.html", len(cards), tuple(excluded))


def _write_pages(root: Path, draft: Path) -> tuple[list[Card], list[tuple[str, str]]]:
    catalogue, cards, excluded = Catalogue(root), [], []
    for study in catalogue.studies():
        for run in study.runs:
            state = catalogue.state(run)
            if state.damage or not state.document:
                excluded.append((run.folder.name, state.damage or "not measured yet"))
                continue
            try:
                found = read_record(run.folder / state.document)
                cards.append(_card(found, run))
                page = found.protocol.page(found.record)
            except (UmpiricalError, ValueError, LookupError, TypeError, AttributeError) as error:
                excluded.append((run.folder.name, str(error).partition("\n")[0]))
                continue
            (draft / cards[-1].page).write_text(page, encoding="utf-8", errors="backslashreplace")
    cards.sort(key=lambda card: (ORDER.get(card.verdict, len(ORDER)), card.judge, card.created, card.page))
    return cards, excluded


def _card(found: ReadRecord, run: FoundRun) -> Card:
    record, decided = found.record, found.protocol.decision(found.record)
    return Card(
        judge=record.judge.name,
        model=record.judge.model,
        protocol=found.protocol.name,
        verdict=decided.verdict if decided else "",
        title=decided.title if decided else "",
        line=decided.line if decided else "",
        created=record.run.created[:10],
        trials=record.run.trials,
        page=f"{run.key}.html",
        tiles=(tiles := tuple(found.protocol.tiles(record))),
        figures=() if tiles else tuple(_figures(record.measures)),
        is_complete=record.complete,
    )


def _figures(measures: list[MeasureRecord]) -> Iterator[Figure]:
    """Yields the first figures that a record has a value for: of the whole, at Δ1, or at the first part."""
    shown = 0
    for name in FIRST:
        found = [m for m in measures if m.name == name and isinstance(m.result, Estimate)]
        if not found or shown == FIGURES:
            continue
        # Where a ladder has steps, a difference of one requirement is what most people ask about.
        measure, shown = next((m for m in found if m.stratum == "1"), found[0]), shown + 1
        assert isinstance(measure.result, Estimate)  # noqa: S101  # chosen above
        part = f", {numbers.part(measure.stratum)}" if measure.stratum else ""
        yield Figure(
            f"{measure.title}{part}",
            numbers.measured_value(measure, measure.result),
            numbers.measured_interval(measure, measure.result.interval),
        )


def _write_list(draft: Path) -> None:
    files = {path.name: sha256(path.read_bytes()).hexdigest() for path in sorted(draft.iterdir())}
    text = json.dumps({"format": "umpirical-gallery/1", "files": files}, indent=1)
    (draft / LIST).write_text(f"{text}\n", encoding="utf-8")


def _refuse_other(folder: Path) -> None:
    """Raises unless the folder is empty, missing, or a gallery in which nothing else lies."""
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", fix="choose a new folder")
    there = {path.name for path in folder.iterdir()}
    if not there:
        return
    try:
        said = json.loads((folder / LIST).read_text(encoding="utf-8"))
        known = {LIST, *said["files"]} if said["format"] == "umpirical-gallery/1" else set()
    except (OSError, ValueError, LookupError, TypeError):
        known = set()
    if others := sorted(there - known):
        what = f"contains {others[0]}, which is not part of a gallery" if known else "is not empty and not a gallery"
        raise UsageError(f"{folder} {what}", fix="choose a new folder, or move that file")


@contextmanager
def _drafted(folder: Path) -> Iterator[Path]:
    """Lends an empty folder beside the place, and puts it there if nothing fails."""
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise UsageError(f"no folder {parent}", fix="create it first")
    aside = Path(mkdtemp(prefix=".gallery-", dir=parent))
    try:
        draft, before = aside / "new", aside / "before"
        draft.mkdir()
        yield draft
        _swap(draft, folder, before)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _swap(draft: Path, folder: Path, before: Path) -> None:
    """Puts a folder in the place of another. For a moment there is none, and never half of one."""
    if not folder.exists():
        draft.rename(folder)
        return
    folder.rename(before)
    try:
        draft.rename(folder)
    except OSError:
        before.rename(folder)
        raise
