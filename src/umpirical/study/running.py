"""Running the judges of a study."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from umpirical.models.money import Meter
from umpirical.reports.record import Datasheet, render_json
from umpirical.reports.stress.findings import TITLES
from umpirical.reports.stress.record import StressReport, render_stress_json
from umpirical.runs.executor import Watcher
from umpirical.runs.local import LocalExecutor
from umpirical.store.reuse import reused_answers
from umpirical.store.runs import RunStore
from umpirical.study.files import Study
from umpirical.study.preparing import STRESS, PlannedRun, prepare_run, study_stimuli
from umpirical.study.reporting import Documents, datasheet_of, write_documents
from umpirical.study.stress.reporting import stress_report_of, write_stress_documents

__all__ = ["FinishedRun", "Watch", "calls_left", "complete_run", "finished_run", "plan_runs"]

FAILED_SHARE = 0.10
"""A run with more failures than this is not done: it exits as incomplete and can be resumed."""


class Watch(Watcher, AbstractContextManager["Watch"], Protocol):
    """A watcher that is shown while a run goes on."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run, measured by its protocol."""

    folder: Path
    measured: Datasheet | StressReport
    documents: Documents

    @property
    def datasheet(self) -> Datasheet:
        """Of a run on controlled stimuli."""
        if not isinstance(self.measured, Datasheet):
            raise TypeError(f"run {self.folder.name} is one of stress tests, and has no datasheet")
        return self.measured

    @property
    def enough(self) -> bool:
        """Everything was asked, and not too much of it failed."""
        return self.measured.complete and self._failed <= FAILED_SHARE * self.measured.run.trials

    @property
    def findings(self) -> list[str]:
        if isinstance(self.measured, Datasheet):
            return self.measured.findings
        return [f"{TITLES[finding.kind]}: {finding.words}" for finding in self.measured.findings]

    def record(self) -> str:
        """As it stands in its JSON file."""
        return render_json(self.measured) if isinstance(self.measured, Datasheet) else render_stress_json(self.measured)

    def summary(self) -> dict[str, Any]:
        name, more = "datasheet", {}
        if isinstance(self.measured, StressReport):
            name, more = "stress", {"verdicts": {cell.test: cell.verdict for cell in self.measured.verdicts}}
        return {
            "run": self.folder.name,
            "judge": self.measured.judge.name,
            "complete": self.measured.complete,
            "trials": self.measured.run.trials,
            "failed": self._failed,
            "unparsed": sum(row.unparsed for row in self.measured.audit),
            "findings": self.findings,
            name: str(self.documents.json),
            "html": str(self.documents.html),
            **more,
        }

    @property
    def _failed(self) -> int:
        return sum(row.failed for row in self.measured.audit)


def plan_runs(study: Study, judges: Sequence[str], *, fresh: bool = False) -> list[PlannedRun]:
    """The runs of the judges named, or of all; if `fresh`, new ones that take over no answer from earlier runs."""
    chosen = [study.judge(name) for name in judges] if judges else study.spec.judges
    stimuli = study_stimuli(study)
    return [prepare_run(study, judge, fresh=fresh, stimuli=stimuli) for judge in chosen]


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
) -> FinishedRun:
    """Asks what is left, then measures and writes the datasheet. Calls are booked in `meter`, and stop at its cap."""
    executor = LocalExecutor(concurrency=concurrency, meter=meter)
    with watch(run.call.judge.name, run.trials) as watcher:
        executor.run(range(run.shards), run.call, run.store, watcher)
    return finished_run(run.store.folder)


def finished_run(folder: Path, *, out: Path | None = None) -> FinishedRun:
    """Reads a run again, measures, and writes what its protocol asks for, into the run's folder or `out`."""
    if RunStore(folder).manifest["protocol"] == STRESS:
        report = stress_report_of(folder)
        return FinishedRun(folder, report, write_stress_documents(report, out or folder))
    datasheet = datasheet_of(folder)
    return FinishedRun(folder, datasheet, write_documents(datasheet, out or folder))
