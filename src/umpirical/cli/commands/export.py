"""`umpirical export`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say


@click.command("export")
@click.argument("target")
@click.option(
    "--to",
    "form",
    type=click.Choice(["inspect", "inspect-transcripts"]),
    required=True,
    help="A log for `inspect view`: of the answers, or of the transcripts that a judge of agents was shown.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file to write; default: in the run's."
)
def command(target: str, form: str, out: Path | None) -> int:
    """Write a run for another tool: the question, the answer and the outcome of every trial, or what was judged.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file; it must have one run.

    A call that failed is a sample with an error. Makes no calls, and needs no key.
    """
    from umpirical.integrations.inspect.export import export_run
    from umpirical.integrations.inspect.transcripts import export_transcripts
    from umpirical.study.results import find_run

    run = find_run(target)
    write, ending = (export_run, "") if form == "inspect" else (export_transcripts, "-transcripts")
    path, samples = write(run, out or run / f"{run.resolve().name}{ending}.eval")
    say(f"{path}: {samples:,} samples")
    say(f"  inspect view --log-dir {path.parent}")
    return 0
