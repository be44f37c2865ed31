"""Compares two measured runs on one page."""

from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.measures.estimates.differences import differences_between
from umpirical.protocols.datasheet.comparison.pages import render_comparison_html, render_comparison_markdown
from umpirical.protocols.datasheet.comparison.record import PairedDifference, compare, render_comparison_json
from umpirical.protocols.datasheet.report import datasheet_of_read, read_run
from umpirical.runs.run import open_run
from umpirical.store.files import write_text

__all__ = ["compare_runs"]


def compare_runs(first: Path, second: Path, folder: Path) -> Path:
    """Puts two runs on the same stimuli side by side, and returns the page."""
    one, other = read_run(open_run(first)), read_run(open_run(second))
    if one.run.stimuli.digest != other.run.stimuli.digest:
        raise UsageError("the two runs have different stimuli", fix="measure both with the same size and seed")
    arms = [arm for arm in one.run.manifest["arms"] if arm in other.run.manifest["arms"]]
    paired = [
        PairedDifference(measure.name, arm, measure.stratum, measure.result)
        for arm in arms
        for measure in differences_between(one.tallies, other.tallies, arm, arm)
    ]
    comparison = compare(datasheet_of_read(one), datasheet_of_read(other), paired)
    place = folder / f"{first.name}-{second.name}"
    place.mkdir(parents=True, exist_ok=True)
    write_text(place / "comparison.json", render_comparison_json(comparison))
    write_text(place / "comparison.md", render_comparison_markdown(comparison))
    write_text(place / "comparison.html", render_comparison_html(comparison))
    return place / "comparison.html"
