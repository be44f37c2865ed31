"""The judges of a stress study side by side."""

from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.reports.stress.record import StressReport, parse_stress
from umpirical.store.runs import RunStore
from umpirical.study.preparing import STRESS
from umpirical.study.stress.reporting import write_stress_pages

__all__ = ["comparable_reports", "stress_runs", "write_study_report"]


def write_study_report(folder: Path, *, stimuli: str | None = None, out: Path | None = None) -> Path:
    """Writes the report of a study from the records of its runs; returns the page to open first.

    `stimuli` is the digest of the set that is reported on; None for that of the newest run.
    """
    return write_stress_pages(comparable_reports(folder, stimuli=stimuli), out or folder / "report")


def stress_runs(folder: Path) -> list[Path]:
    """The runs of stress tests in a study."""
    manifests = sorted((folder / "runs").glob("*/run.json"))
    found = [path.parent for path in manifests if RunStore(path.parent).manifest["protocol"] == STRESS]
    if not found:
        raise UsageError(f"{folder}: there is no run of stress tests", fix=f"umpirical run {folder}")
    return found


def comparable_reports(folder: Path, *, stimuli: str | None = None) -> list[StressReport]:
    """The newest report of every judge that was asked about one set of stimuli.

    Judges that saw other stimuli cannot be held against each other: an older set is left to its own runs.
    """
    records = {run: run / "stress.json" for run in stress_runs(folder)}
    found = [
        (RunStore(run).manifest["created"], parse_stress(record.read_text(encoding="utf-8")))
        for run, record in records.items()
        if record.is_file()
    ]
    if not found:
        raise UsageError(f"{folder}: no run of stress tests is measured yet", fix=f"umpirical run {folder}")
    found.sort(key=lambda entry: entry[0])
    stimuli = stimuli or found[-1][1].run.stimuli
    newest = {report.judge.name: report for _, report in found if report.run.stimuli == stimuli}
    return [newest[name] for name in sorted(newest)]
