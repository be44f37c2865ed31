"""The judges of a stress study side by side."""

from collections.abc import Sequence
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.reports.stress.record import StressReport, parse_stress
from umpirical.store.runs import RunStore
from umpirical.study.preparing import STRESS
from umpirical.study.stress.reporting import write_stress_pages

__all__ = ["comparable_reports", "stress_runs", "write_study_report"]


def write_study_report(folder: Path, *, runs: Sequence[Path] = (), out: Path | None = None) -> Path:
    """Writes the report of a study from the records of its runs; returns the page to open first.

    `runs` are those that must be in it, such as the ones just made; other judges' newest runs on the same stimuli are
    put beside them.
    """
    return write_stress_pages(comparable_reports(folder, runs=runs), out or folder / "report")


def stress_runs(folder: Path) -> list[Path]:
    """The runs of stress tests in a study."""
    manifests = sorted((folder / "runs").glob("*/run.json"))
    found = [path.parent for path in manifests if RunStore(path.parent).manifest["protocol"] == STRESS]
    if not found:
        raise UsageError(f"{folder}: there is no run of stress tests", fix=f"umpirical run {folder}")
    return found


def comparable_reports(folder: Path, *, runs: Sequence[Path] = ()) -> list[StressReport]:
    """One report for each judge, all on the same stimuli: those of `runs`, or of the run that was used last.

    Judges that saw other stimuli cannot be held against each other: an older set is left to its own runs.
    """
    measured = [run for run in stress_runs(folder) if (run / "stress.json").is_file() and RunStore(run).started()]
    if not measured:
        raise UsageError(f"{folder}: no run of stress tests is measured yet", fix=f"umpirical run {folder}")
    # The manifest is written anew each time a run is gone on with.
    measured.sort(key=lambda run: (run / "run.json").stat().st_mtime_ns)
    chosen = {run.resolve() for run in runs}
    measured.sort(key=lambda run: run.resolve() in chosen)
    reports = [parse_stress((run / "stress.json").read_text(encoding="utf-8")) for run in measured]
    stimuli = reports[-1].run.stimuli
    newest = {report.judge.name: report for report in reports if report.run.stimuli == stimuli}
    return [newest[name] for name in sorted(newest)]
