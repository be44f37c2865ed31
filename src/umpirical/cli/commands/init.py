"""`umpirical init`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.terminal import inert, say

if TYPE_CHECKING:
    from umpirical.datasets.guess import ColumnRole
    from umpirical.study.starting import StartedStress

__all__ = ["command"]


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option(
    "--from",
    "data",
    type=click.Path(path_type=Path, exists=True),
    help="A file of responses with labels (CSV, JSONL or Parquet): stress judges on them.",
)
@click.option("--response", metavar="COLUMN", help="With --from: the text that is judged. Default: guessed.")
@click.option("--label", metavar="COLUMN", help="With --from: the reference label. Default: guessed.")
@click.option("--task", metavar="COLUMN", help="With --from: what was asked. Default: guessed.")
def command(folder: Path, data: Path | None, response: str | None, label: str | None, task: str | None) -> None:
    """Write a study file into FOLDER that runs as it is, with a simulated judge, and shows how to name your own."""
    from umpirical.study.starting import start_stress_study, start_study

    if data is None:
        if response or label or task:
            raise click.UsageError("--response, --label and --task name columns of a file: add --from FILE")
        file = start_study(folder)
        say(f"wrote {file}")
        say(f"next:  umpirical check {folder}    then  umpirical run {folder}")
        return
    named: dict[ColumnRole, str | None] = {"response": response, "label": label, "task": task}
    told = {role: column for role, column in named.items() if column is not None}
    _show(start_stress_study(folder, data, told=told), folder)


def _show(started: "StartedStress", folder: Path) -> None:
    guess = started.guess
    for path in started.written:
        say(f"wrote {path}")
    say(f"guessed from {guess.rows:,} rows:")
    for role, column in guess.columns.items():
        say(f"  {role:9} {inert(column)}   ({guess.because[role]})")
    scale = guess.scale.scale
    labels = ", ".join(scale.labels) or f"{scale.low:g} to {scale.high:g}"
    say(f"  {'scale':9} {scale.kind}: {inert(labels)}   ({guess.scale.because})")
    if not guess.scale.ordered:
        say("  the order of the labels cannot be known from them: see the study file")
    outside = " --outside" if started.outside else ""
    say("your rubric belongs into rubric.txt")
    say(f"next:  umpirical check {folder}{outside}    then  umpirical run {folder}{outside}")
