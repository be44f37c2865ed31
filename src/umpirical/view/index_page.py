"""The page of all studies: their runs at a glance."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from starlette.responses import Response

from umpirical.reports import numbers
from umpirical.store.manifests import Damaged
from umpirical.store.runs import RunStore
from umpirical.study.listing import RunState
from umpirical.view.catalogue import Catalogue, FoundRun
from umpirical.view.documents import study_documents
from umpirical.view.pages import page
from umpirical.view.requests import ViewRequest


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
        return "" if self.state.booked is None else numbers.dollars(self.state.booked)


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
