"""The demo: measures every simulated judge end to end, and compares what was built in with what was found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from umpirical.domain.measures import Estimate
from umpirical.judges.simulated.profiles import PROFILES
from umpirical.protocols.protocol import Decision, Documents, Study
from umpirical.reports.record import Record
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import Watch, complete_run

SEED = 7


@dataclass(frozen=True, slots=True)
class Found:
    """A true value defect and what its measure found."""

    measure: str
    stratum: str
    true_value: float
    estimate: Estimate

    @property
    def inside(self) -> bool:
        limits = self.estimate.interval
        return limits is not None and (
            (limits.low is None or limits.low <= self.true_value)
            and (limits.high is None or self.true_value <= limits.high)
        )


@dataclass(frozen=True, slots=True)
class DemoResult:
    """One simulated judge, measured."""

    judge: str
    about: str
    record: Record
    documents: Documents
    decision: Decision | None
    defects: tuple[Found, ...]


def demo_study(folder: Path) -> Study[Any]:
    """Returns a study of all simulated judges on all built-in tasks."""
    judges = "".join(f"  - name: {name}\n    model: {{adapter: simulated, name: {name}}}\n" for name in PROFILES)
    study = parse_study(f"study: demo\nseed: {SEED}\ndesign: {{size: standard}}\njudges:\n{judges}", folder)
    return replace(study, commands=dict.fromkeys(PROFILES, "umpirical demo"))


def run_demo(folder: Path, watch: Callable[[str, int], Watch]) -> Iterator[DemoResult]:
    """Measures every simulated judge, as a study's run. `watch` is given the judge's name and number of trials."""
    study = demo_study(folder)
    for judge in study.spec.judges:
        run = prepare_run(study, judge)
        finished = complete_run(run, study.spec.concurrency, watch)
        yield DemoResult(
            judge.name,
            PROFILES[judge.name].about,
            finished.record,
            finished.documents,
            finished.decision,
            _defects(judge.name, finished.record),
        )


def _defects(name: str, record: Record) -> tuple[Found, ...]:
    measures = {(measure.name, measure.stratum): measure for measure in record.measures}
    found = []
    for defect in PROFILES[name].defects:
        measure = measures[defect]
        if measure.true_value is not None and isinstance(measure.result, Estimate):
            found.append(Found(*defect, measure.true_value, measure.result))
    return tuple(found)
