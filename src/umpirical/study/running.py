"""Running the judges of a study."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from umpirical.models.spending import Meter
from umpirical.reports.record import Datasheet, render_json
from umpirical.reports.stress.findings import TITLES
from umpirical.reports.stress.record import StressReport, render_stress_json
from umpirical.runs.executor import Watcher
from umpirical.runs.local import LocalExecutor
from umpirical.store.reuse import reused_answers
from umpirical.store.runs import RunStore
from umpirical.study.files import Study
from umpirical.study.preparing import STRESS, PlannedRun, prepare_run
from umpirical.study.reporting import Documents, datasheet_of, write_documents
from umpirical.study.stress.reporting import StressDocuments, stress_report_of, write_stress_documents

__all__ = [
    "Finished",
    "FinishedRun",
    "FinishedStress",
    "Watch",
    "calls_left",
    "complete_run",
    "finished_run",
    "plan_runs",
]

FAILED_SHARE = 0.10
"""A run with more failures than this is not done: it exits as incomplete and can be resumed."""


class Watch(Watcher, AbstractContextManager["Watch"], Protocol):
    """A watcher that is shown while a run goes on."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run, measured."""

    folder: Path
    datasheet: Datasheet
    documents: Documents

    @property
    def enough(self) -> bool:
        """Everything was asked, and not too much of it failed."""
        return _enough(self.datasheet)

    @property
    def findings(self) -> list[str]:
        return self.datasheet.findings

    @property
    def html(self) -> Path:
        return self.documents.html

    def files(self) -> list[Path]:
        return [self.documents.json, self.documents.html, self.documents.markdown]

    def record(self) -> str:
        return render_json(self.datasheet)

    def summary(self) -> dict[str, Any]:
        return {
            "run": self.folder.name,
            "judge": self.datasheet.judge.name,
            "complete": self.datasheet.complete,
            "trials": self.datasheet.run.trials,
            "failed": sum(row.failed for row in self.datasheet.audit),
            "unparsed": sum(row.unparsed for row in self.datasheet.audit),
            "findings": self.datasheet.findings,
            "datasheet": str(self.documents.json),
            "html": str(self.documents.html),
        }


@dataclass(frozen=True, slots=True)
class FinishedStress:
    """A run of stress tests, measured."""

    folder: Path
    report: StressReport
    documents: StressDocuments

    @property
    def enough(self) -> bool:
        """Everything was asked, and not too much of it failed."""
        return _enough(self.report)

    @property
    def findings(self) -> list[str]:
        return [f"{TITLES[finding.kind]}: {finding.words}" for finding in self.report.findings]

    @property
    def html(self) -> Path:
        return self.documents.html

    def files(self) -> list[Path]:
        return [self.documents.json, self.documents.html, self.documents.markdown]

    def record(self) -> str:
        return render_stress_json(self.report)

    def summary(self) -> dict[str, Any]:
        return {
            "run": self.folder.name,
            "judge": self.report.judge.name,
            "complete": self.report.complete,
            "trials": self.report.run.trials,
            "failed": sum(row.failed for row in self.report.audit),
            "unparsed": sum(row.unparsed for row in self.report.audit),
            "findings": self.findings,
            "verdicts": {cell.test: cell.verdict for cell in self.report.verdicts},
            "report": str(self.documents.json),
            "html": str(self.documents.html),
        }


Finished = FinishedRun | FinishedStress


def _enough(record: Datasheet | StressReport) -> bool:
    failed = sum(row.failed for row in record.audit)
    return record.complete and failed <= FAILED_SHARE * record.run.trials


def plan_runs(study: Study, judges: Sequence[str], *, fresh: bool = False) -> list[PlannedRun]:
    """The runs of the judges named, or of all; if `fresh`, new ones that take over no answer from earlier runs."""
    chosen = [study.judge(name) for name in judges] if judges else study.spec.judges
    return [prepare_run(study, judge, fresh=fresh) for judge in chosen]


def calls_left(run: PlannedRun) -> int:
    """Trials that have no answer yet, here or taken over from another run."""
    journal = run.store.open_journal()
    try:
        answered = 0
        for shard in range(run.shards):
            found = {r.trial_id for r in run.store.responses(shard, journal).values() if r.failure is None}
            found.update(response.trial_id for response in reused_answers(run.store, shard))
            answered += len(found)
    finally:
        journal.close()
    return run.trials - answered


def complete_run(
    run: PlannedRun, concurrency: int, watch: Callable[[str, int], Watch], *, meter: Meter | None = None
) -> Finished:
    """Asks what is left, then measures and writes the datasheet. Calls are booked in `meter`, and stop at its cap."""
    executor = LocalExecutor(concurrency=concurrency, meter=meter)
    with watch(run.call.judge.name, run.trials) as watcher:
        executor.run(range(run.shards), run.call, run.store, watcher)
    return finished_run(run.store.folder)


def finished_run(folder: Path, *, out: Path | None = None) -> Finished:
    """Reads a run again, measures, and writes what its protocol asks for, into the run's folder or `out`."""
    if RunStore(folder).manifest["protocol"] == STRESS:
        report = stress_report_of(folder)
        return FinishedStress(folder, report, write_stress_documents(report, out or folder))
    datasheet = datasheet_of(folder)
    return FinishedRun(folder, datasheet, write_documents(datasheet, out or folder))
