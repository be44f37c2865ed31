"""`umpirical report`."""

from pathlib import Path

import click

from umpirical.cli.terminal import inert, say

__all__ = ["command"]


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: the run's.")
@click.option("--json", "as_json", is_flag=True, help="Print the datasheet record.")
def command(run: Path, out: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Read the responses of RUN again and write its datasheet as JSON, HTML and Markdown. Asks nothing."""
    from umpirical.reports.record import render_json
    from umpirical.study.reporting import datasheet_of, write_documents

    datasheet = datasheet_of(run)
    documents = write_documents(datasheet, out or run)
    if as_json:
        click.echo(render_json(datasheet), nl=False)
        return
    for finding in datasheet.findings:
        say(inert(finding))
    for path in (documents.json, documents.html, documents.markdown):
        say(str(path))
