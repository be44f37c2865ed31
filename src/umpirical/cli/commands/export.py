"""`umpirical export`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say

__all__ = ["command"]


@click.command("export")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--to", "target", type=click.Choice(["inspect"]), required=True, help="inspect: a log for `inspect view`."
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="The file to write; default: in RUN.")
def command(run: Path, target: str, out: Path | None) -> int:  # noqa: ARG001  # there is one so far
    """Write the answers of RUN for another tool, with the question, the answer and the outcome of every trial.

    A call that failed is a sample with an error. Makes no calls, and needs no key.
    """
    from umpirical.integrations.inspect.export import export_run

    path, samples = export_run(run, out or run / f"{run.resolve().name}.eval")
    say(f"{path}: {samples:,} samples")
    say(f"  inspect view --log-dir {path.parent}")
    return 0
