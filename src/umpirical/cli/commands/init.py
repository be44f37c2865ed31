"""`umpirical init`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say

__all__ = ["command"]


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
def command(folder: Path) -> None:
    """Write a study file into FOLDER that runs as it is, with a simulated judge, and shows how to name your own."""
    from umpirical.study.starting import start_study

    file = start_study(folder)
    say(f"wrote {file}")
    say(f"next:  umpirical check {folder}    then  umpirical run {folder}")
