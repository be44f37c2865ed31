"""`umpirical init`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option(
    "--from",
    "data",
    type=click.Path(path_type=Path, exists=True),
    help="A file of responses with labels, or of labelled pairs (CSV, JSONL or Parquet); or logs of an agent.",
)
@click.option("--response", metavar="COLUMN", help="With --from: the text that is judged. Default: guessed.")
@click.option("--label", metavar="COLUMN", help="With --from: the reference label. Default: guessed.")
@click.option("--task", metavar="COLUMN", help="With --from: what was asked. Default: guessed.")
def command(folder: Path, data: Path | None, response: str | None, label: str | None, task: str | None) -> None:
    """Write a study file to FOLDER that runs as is, with simulated judges, and shows how to name your own."""
    from umpirical.protocols.catalogue import start_study
    from umpirical.study.file import read_study
    from umpirical.study.trust import trust_as_made

    if data is None and (response or label or task):
        raise click.UsageError("--response, --label and --task name columns of a file: add --from FILE")
    named = {"response": response, "label": label, "task": task}
    told = {role: column for role, column in named.items() if column is not None}
    started = start_study(folder, data=data, told=told)
    trust_as_made(read_study(started.file, outside=True))
    for path in started.written:
        say(f"wrote {path}")
    for note in started.notes:
        say(note)
    options = f" {started.options}" if started.options else ""
    say(f"next:  umpirical check {folder}{options}    then  umpirical run {folder}{options}")
