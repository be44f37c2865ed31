"""The index of studies and runs, and the documents that runs wrote."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import TimeoutError as NotReady
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from umpirical.domain.errors import UmpiricalError
from umpirical.protocols.catalogue import PROTOCOLS, read_record
from umpirical.reports import numbers
from umpirical.reports.decision import TITLES
from umpirical.reports.tiles import Mark, Tile
from umpirical.store.manifests import Damaged
from umpirical.store.runs import RunStore
from umpirical.study.results import RunState
from umpirical.view.catalogue import Catalogue, FoundRun, FoundStudy, Signature
from umpirical.view.requests import ViewRequest, notice, page

SANDBOX = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

LARGEST = 32_000_000
"""Bytes of a document that are read at most."""

MOST_DOCUMENTS = 100

TILES_KEPT = 2_000
"""Runs of which the tiles stay in memory."""

COMPARED = ("datasheet", "stress", "pairs")
"""The protocols whose runs can be compared."""


@dataclass(frozen=True, slots=True)
class Document:
    """A page that a command has written."""

    name: str
    """What it is called in a link."""
    file: Path
    key: str
    """What it is called in an address."""


def run_documents(run: FoundRun) -> list[Document]:
    """Returns the pages of a run."""
    names = [(f"{protocol.name}.html", protocol.name) for protocol in PROTOCOLS]
    return _there([(name.capitalize(), run.folder / file) for file, name in names])


def study_documents(study: FoundStudy) -> list[Document]:
    """Returns the pages about several runs: comparisons, juries, and judges side by side."""
    found = [(f"Jury {file.parent.name}", file) for file in study.folder.glob("juries/*/datasheet.html")]
    found += [(f"Comparison {file.parent.name}", file) for file in study.folder.glob("comparisons/*/comparison.html")]
    found += [(f"Report {file.stem}", file) for file in study.folder.glob("report/*.html")]
    return _there(sorted(found)[:MOST_DOCUMENTS])


def serve_document(request: ViewRequest) -> Response:
    """Answers with a document of a run or a study that is listed there now."""
    key = request.http.path_params["document"]
    for study in request.view.catalogue.studies():
        for document in (*study_documents(study), *(each for run in study.runs for each in run_documents(run))):
            if document.key == key:
                return _served(document.file)
    raise HTTPException(404, "This document does not exist, or was removed.")


def _served(file: Path) -> Response:
    if file.stat().st_size > LARGEST:
        raise HTTPException(409, f"The document is larger than {LARGEST:,} bytes.")
    return HTMLResponse(file.read_bytes(), headers={"Content-Security-Policy": SANDBOX})


def _there(found: list[tuple[str, Path]]) -> list[Document]:
    """Returns those that are files in their place: a link, or a folder that is one, may lead anywhere."""
    return [
        Document(name, file, sha256(str(file).encode("utf-8", "surrogateescape")).hexdigest()[:24])
        for name, file in found
        if file.is_file() and not any(each.is_symlink() for each in (file, file.parent, file.parent.parent))
    ]


# The page of all studies: their runs at a glance.


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list."""

    run: FoundRun
    state: RunState

    @property
    def is_complete(self) -> bool:
        return self.state.trials is not None and self.state.answered == self.state.trials

    @property
    def created(self) -> str:
        return (self.state.created or "")[:16].replace("T", " ")

    @property
    def protocol(self) -> str:
        """The protocol, as the manifest names it."""
        return self.basis[0]

    @property
    def basis(self) -> tuple[str, str, str]:
        """What runs have to share to be compared: protocol, digest of the stimuli, kind of judge; of the manifest."""
        try:
            manifest = RunStore(self.run.folder).manifest
        except (Damaged, OSError):
            return "", "", ""
        judge = manifest.get("judge")
        kind = judge.get("kind", "") if isinstance(judge, dict) else ""
        protocol = str(manifest.get("protocol", "")).removeprefix("umpirical-")
        return protocol, str(manifest.get("stimuli", "")), str(kind)

    @property
    def judge_key(self) -> str:
        """What its judge is called in an address: a name may hold anything."""
        return sha256(str(self.state.judge).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """What a reader asks first, answered by the checks of its record; none without one."""
        state = self.state
        if not state.document or state.damage:
            return ()
        return _tiles(self.run.folder / state.document, self.run.signature())

    @property
    def is_comparable(self) -> bool:
        """Whether it can be compared with others of its kind."""
        return bool(self.state.document) and self.protocol.partition("/")[0] in COMPARED

    @property
    def verdict(self) -> str:
        """The decision, as it is filtered by and sorted."""
        return self.state.decision or (
            "measured" if self.state.document else "damaged" if self.state.damage else "open"
        )

    @property
    def spend(self) -> str:
        return "" if self.state.spent is None else numbers.dollars(self.state.spent)


@lru_cache(maxsize=TILES_KEPT)
def _tiles(file: Path, _: Signature) -> tuple[Tile, ...]:
    """Reads the tiles of a record; again once anything about its run has changed.

    A record that cannot be read has none: the page of its run says why.
    """
    try:
        found = read_record(file)
        return tuple(found.protocol.tiles(found.record))
    except (UmpiricalError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return ()


def every_run(catalogue: Catalogue) -> list[RunLine]:
    """Returns the runs of all studies, the latest first."""
    return _latest_first(RunLine(run, catalogue.state(run)) for study in catalogue.studies() for run in study.runs)


def _latest_first(lines: Iterable[RunLine]) -> list[RunLine]:
    return sorted(lines, key=lambda line: (line.state.created or "", line.run.key), reverse=True)


VERDICTS: tuple[str, ...] = (
    "use",
    "use-with-restrictions",
    "not-enough-data",
    "do-not-use",
    "measured",
    "open",
    "damaged",
)
"""The verdicts, and what a run without one is, in the order of the list."""

WORDS: Mapping[str, str] = {
    **{str(name): title for name, title in TITLES.items()},
    "measured": "Measured, no verdict",
    "open": "Not measured yet",
    "damaged": "Damaged",
}

Key = Callable[[RunLine], Any]

SORTS: dict[str, Key] = {
    "started": lambda line: (line.state.created or "", line.run.key),
    "judge": lambda line: (line.state.judge or line.run.folder.name).casefold(),
    "verdict": lambda line: VERDICTS.index(line.verdict) if line.verdict in VERDICTS else len(VERDICTS),
    "spent": lambda line: line.state.spent or 0,
}
"""The orders of the list, each with what it goes by. The first is the default, the latest first."""

TILE = "tile-"
"""How an order by a tile begins; its number follows."""

MOST_TILES = 20

MARKS: tuple[Mark, ...] = ("fail", "open", "pass", "none")
"""What goes wrong comes first."""


def heads_of(lines: Iterable[RunLine]) -> list[str]:
    """Returns the names of the tiles that have columns: those of most runs. Others are in one cell of their line."""
    counted = Counter(tuple(tile.name for tile in line.tiles) for line in lines if line.tiles)
    return list(counted.most_common(1)[0][0]) if counted else []


def _by_tile(place: int, heads: Sequence[str]) -> Key:
    def key(line: RunLine) -> int:
        is_own = [tile.name for tile in line.tiles] == heads and place < len(heads)
        return MARKS.index(line.tiles[place].mark) if is_own else len(MARKS)

    return key


@dataclass(frozen=True, slots=True)
class Listing:
    """What a person chose to see of the list of runs."""

    search: str = ""
    verdict: str = ""
    protocol: str = ""
    sort: str = "-started"

    @classmethod
    def read(cls, query: Iterable[tuple[str, str]]) -> "Listing":
        names = {"q": "search", "verdict": "verdict", "protocol": "protocol", "sort": "sort"}
        return cls(**{names[name]: text.strip() for name, text in query if name in names and text.strip()})

    def shows(self, line: RunLine) -> bool:
        text = f"{line.state.judge or ''}\n{line.run.folder.name}\n{line.run.study.name}".casefold()
        is_chosen = self.verdict in ("", line.verdict) and self.protocol in ("", line.protocol)
        return is_chosen and self.search.casefold() in text

    def ordered(self, lines: Iterable[RunLine], heads: Sequence[str] = ()) -> list[RunLine]:
        name = self.sort.removeprefix("-")
        place = name.removeprefix(TILE)
        is_tile = place != name and place in map(str, range(MOST_TILES))
        key = _by_tile(int(place), heads) if is_tile else SORTS.get(name, SORTS["started"])
        # The latest first within each value.
        return sorted(_latest_first(lines), key=key, reverse=self.sort.startswith("-"))

    def sorted_by(self, name: str) -> tuple[str, str]:
        """Returns the address of the list in another order, and how it is ordered by it now."""
        state = {name: "ascending", f"-{name}": "descending"}.get(self.sort, "")
        sort = f"-{name}" if self.sort == name else name
        values = {"q": self.search, "verdict": self.verdict, "protocol": self.protocol, "sort": sort}
        return urlencode({key: value for key, value in values.items() if value}), state


def index(request: ViewRequest) -> Response:
    """Lists the runs of all studies, with what each comes to at a glance."""
    catalogue, chosen = request.view.catalogue, Listing.read(request.query)
    studies = catalogue.studies()
    every = every_run(catalogue)
    heads = heads_of(every)
    lines = chosen.ordered((line for line in every if chosen.shows(line)), heads)
    often = Counter((str(line.state.judge), line.judge_key) for line in every if line.state.judge)
    verdicts = Counter(line.verdict for line in every)
    return page(
        request,
        "index.html",
        studies=studies,
        every=every,
        lines=lines,
        heads=heads,
        chosen=chosen,
        sorts={name: chosen.sorted_by(name) for name in (*SORTS, *(f"{TILE}{place}" for place in range(len(heads))))},
        verdicts=[(name, WORDS[name], verdicts[name]) for name in VERDICTS if verdicts[name]],
        protocols=sorted(Counter(line.protocol for line in every if line.protocol).items()),
        words=WORDS,
        documents=[(study, found) for study in studies if (found := study_documents(study))],
        empty=[study for study in studies if not study.runs],
        again=sorted((*judge, runs) for judge, runs in often.items() if runs > 1),
    )


MOST_COMPARED = 12
"""Runs: each is compared with each, which takes a second or two for every pair."""

FIRST_SECONDS = 0.5
"""How long a request waits for a comparison; then the browser asks again."""


def compare_page(request: ViewRequest) -> Response:
    """Shows the runs that were ticked side by side, as `umpirical compare` does."""
    keys = dict.fromkeys(value for name, value in request.query if name == "run")
    found = [request.view.catalogue.run(key) for key in keys]
    # What changed is said of the later run.
    runs = sorted(
        (run for run in found if run is not None), key=lambda run: request.view.catalogue.state(run).created or ""
    )
    if len(runs) < len(found):
        raise HTTPException(404, "One of these runs does not exist, or was removed.")
    if not 2 <= len(runs) <= MOST_COMPARED:
        words = f"Go back and tick from two to {MOST_COMPARED} runs."
        return notice(request, 400, "Nothing to compare" if len(runs) < 2 else "Too many runs", words)
    try:
        text = request.view.comparisons.of(runs).result(FIRST_SECONDS)
    except NotReady:
        return page(request, "comparing.html", runs=runs)
    return HTMLResponse(text, headers={"Content-Security-Policy": SANDBOX})
