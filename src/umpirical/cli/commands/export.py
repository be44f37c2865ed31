"""`umpirical export`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say

__all__ = ["command"]


@click.command("export")
@click.argument("target")
@click.option("--to", "tool", type=click.Choice(["inspect"]), required=True, help="inspect: a log for `inspect view`.")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file to write; default: in the run's."
)
def command(target: str, tool: str, out: Path | None) -> int:  # noqa: ARG001  # there is one tool so far
    """Write the answers of a run for another tool, with the question, the answer and the outcome of every trial.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file; it must have one run.

    A call that failed is a sample with an error. Makes no calls, and needs no key.
    """
    from umpirical.integrations.inspect.export import export_run
    from umpirical.study.run_targets import find_run

    run = find_run(target)
    path, samples = export_run(run, out or run / f"{run.resolve().name}.eval")
    say(f"{path}: {samples:,} samples")
    say(f"  inspect view --log-dir {path.parent}")
    return 0
