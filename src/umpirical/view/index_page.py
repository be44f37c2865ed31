"""The page of all studies: their runs at a glance."""

from dataclasses import dataclass

from starlette.responses import Response

from umpirical.reports import numbers
from umpirical.store.manifests import Damaged
from umpirical.store.runs import RunStore
from umpirical.study.listing import RunState
from umpirical.view.catalogue import FoundRun
from umpirical.view.documents import study_documents
from umpirical.view.pages import page
from umpirical.view.requests import ViewRequest

__all__ = ["RunLine", "index"]


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
        try:
            return str(RunStore(self.run.folder).manifest.get("protocol", "")).removeprefix("umpirical-")
        except (Damaged, OSError):
            return ""

    @property
    def spend(self) -> str:
        return "" if self.state.booked is None else numbers.dollars(self.state.booked)


def index(request: ViewRequest) -> Response:
    """Lists the studies, newest runs first."""
    catalogue = request.view.catalogue
    studies = []
    for study in catalogue.studies():
        lines = [RunLine(run, catalogue.state(run)) for run in study.runs]
        lines.sort(key=lambda line: (line.state.created or "", line.run.key), reverse=True)
        studies.append((study, lines, study_documents(study)))
    return page(request, "index.html", studies=studies, many=sum(len(lines) for _, lines, _ in studies))
