"""Documents that lie in a study: datasheets, reports of stress tests, comparisons. A stranger may have written them.

So each is served under a policy of its own, in a sandbox: no script in it runs, and no form is sent.
"""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.view.catalogue import FoundRun, FoundStudy
from umpirical.view.requests import ViewRequest

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
    raise HTTPException(404, "This document is not there, or no longer.")


def _served(file: Path) -> Response:
    if file.stat().st_size > LARGEST:
        raise HTTPException(409, f"The document has more than {LARGEST:,} bytes.")
    return HTMLResponse(file.read_bytes(), headers={"Content-Security-Policy": SANDBOX})


def _there(found: list[tuple[str, Path]]) -> list[Document]:
    """Returns those that are files in their place: a link, or a folder that is one, may lead anywhere."""
    return [
        Document(name, file, sha256(str(file).encode("utf-8", "surrogateescape")).hexdigest()[:24])
        for name, file in found
        if file.is_file() and not any(each.is_symlink() for each in (file, file.parent, file.parent.parent))
    ]
