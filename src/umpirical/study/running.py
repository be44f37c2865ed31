"""Running the judges of a study."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from umpirical.models.spending import Meter
from umpirical.reports.record import Datasheet
from umpirical.runs.executor import Watcher
from umpirical.runs.local import LocalExecutor
from umpirical.store.reuse import reused_answers
from umpirical.study.files import Study
from umpirical.study.preparing import PlannedRun, prepare_run
from umpirical.study.reporting import Documents, datasheet_of, write_documents

__all__ = ["FinishedRun", "Watch", "calls_left", "complete_run", "plan_runs"]

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
        failed = sum(row.failed for row in self.datasheet.audit)
        return self.datasheet.complete and failed <= FAILED_SHARE * self.datasheet.run.trials

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
) -> FinishedRun:
    """Asks what is left, then measures and writes the datasheet. Calls are booked in `meter`, and stop at its cap."""
    executor = LocalExecutor(concurrency=concurrency, meter=meter)
    with watch(run.call.judge.name, run.trials) as watcher:
        executor.run(range(run.shards), run.call, run.store, watcher)
    datasheet = datasheet_of(run.store.folder)
    return FinishedRun(run.store.folder, datasheet, write_documents(datasheet, run.store.folder))
