"""`umpirical runs`."""

from dataclasses import asdict
from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json

__all__ = ["command"]


@click.command("runs")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(study: Path, as_json: bool) -> None:  # noqa: FBT001
    """List the runs of the study in the folder STUDY, and the progress of each."""
    from umpirical.study.listing import list_runs

    states = list_runs(study if study.is_dir() else study.parent)
    if as_json:
        import json

        say_json(json.dumps([asdict(state) for state in states], indent=1, default=str))
        return
    for state in states:
        if state.damage:
            say(f"{state.name}  DAMAGED: {state.damage}")
            continue
        failed = f", {state.failed:,} failed" if state.failed else ""
        unsure = f" (${state.uncertain:.4f} uncertain)" if state.uncertain else ""
        failed += f", ${state.booked:.4f} booked{unsure}" if state.booked else ""
        done = "  ".join(filter(None, (state.document, state.decision))) or "not measured yet"
        say(f"{state.name}  {state.created}  {state.answered:,}/{state.trials:,} answered{failed}  {done}")
    if not states:
        say("no runs yet;  umpirical run  starts one")
