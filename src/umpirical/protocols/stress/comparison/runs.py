"""Compares runs of stress tests, of one study or of several, on one page."""

from collections.abc import Sequence
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.protocols.protocol import Documents
from umpirical.protocols.stress.comparison.assembly import ReadStress, compare_under_stress
from umpirical.protocols.stress.comparison.card import render_stress_comparison_markdown
from umpirical.protocols.stress.comparison.pages import render_stress_comparison_html
from umpirical.protocols.stress.comparison.record import StressComparison, render_stress_comparison_json
from umpirical.protocols.stress.report import read_stress
from umpirical.reports.comparisons.words import refuse_margin
from umpirical.runs.run import Run, open_run
from umpirical.store.files import write_text


def compare_stress_runs(folders: Sequence[Path], *, margin: float | None = None) -> StressComparison:
    """Rereads runs of stress tests. Judges of one study are compared, each with each; studies stand side by side."""
    runs = [open_run(folder) for folder in dict.fromkeys(folder.resolve() for folder in folders)]
    if len(runs) < 2:
        raise UsageError("a comparison needs at least two runs", fix="name another run, or a study with several judges")
    refuse_margin(margin)
    _refuse_one_judge_twice(runs)
    return compare_under_stress([_read(run) for run in runs], margin=margin)


def write_stress_comparison(comparison: StressComparison, folder: Path) -> Documents:
    """Writes the record, and the documents that are pure functions of it."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = Documents(*(folder / f"comparison.{ending}" for ending in ("json", "html", "md")))
    write_text(documents.json, render_stress_comparison_json(comparison))
    write_text(documents.html, render_stress_comparison_html(comparison))
    write_text(documents.markdown, render_stress_comparison_markdown(comparison))
    return documents


def _read(run: Run) -> ReadStress:
    report, tallies = read_stress(run)
    return ReadStress(report, tallies, run.stimuli.digest)


def _refuse_one_judge_twice(runs: Sequence[Run]) -> None:
    """A judge against itself would be counted as a pair of judges, and told apart by its own noise."""
    seen: dict[tuple[str, str, str], str] = {}
    for run in runs:
        key = (run.stimuli.digest, run.judge.name, ": ".join(run.judge.made_of))
        if key in seen:
            raise UsageError(
                f"runs {seen[key]} and {run.name} are of the same judge on the same texts",
                fix="name one of them, or give the judges different names in the study",
            )
        seen[key] = run.name
