"""The index of studies and runs, and the documents that runs wrote."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.reports import numbers
from umpirical.store.manifests import Damaged
from umpirical.store.runs import RunStore
from umpirical.study.results import RunState
from umpirical.view.catalogue import Catalogue, FoundRun, FoundStudy
from umpirical.view.requests import ViewRequest, page

SANDBOX = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

LARGEST = 32_000_000
"""Bytes of a document that are read at most."""

MOST_DOCUMENTS = 100


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
    def spend(self) -> str:
        return "" if self.state.spent is None else numbers.dollars(self.state.spent)


def every_run(catalogue: Catalogue) -> list[RunLine]:
    """Returns the runs of all studies, the latest first."""
    return _latest_first(RunLine(run, catalogue.state(run)) for study in catalogue.studies() for run in study.runs)


def _latest_first(lines: Iterable[RunLine]) -> list[RunLine]:
    return sorted(lines, key=lambda line: (line.state.created or "", line.run.key), reverse=True)


def index(request: ViewRequest) -> Response:
    """Lists the studies, newest runs first."""
    catalogue = request.view.catalogue
    studies = []
    for study in catalogue.studies():
        lines = _latest_first(RunLine(run, catalogue.state(run)) for run in study.runs)
        studies.append((study, lines, study_documents(study)))
    lines = [line for _, found, _ in studies for line in found if line.state.judge]
    often = Counter((str(line.state.judge), line.judge_key) for line in lines)
    again = sorted((*judge, runs) for judge, runs in often.items() if runs > 1)
    return page(request, "index.html", studies=studies, again=again)
