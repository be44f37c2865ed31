"""`umpirical runs`."""

from dataclasses import asdict

import click

from umpirical.cli.terminal import say, say_json


@click.command("runs")
@click.argument("target", default=".")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(target: str, as_json: bool) -> None:  # noqa: FBT001
    """List the runs of a study, and the progress of each.

    TARGET is a study's folder or file, the folder of a run, or the name of a run or a judge.
    """
    from umpirical.study.results import find_runs, list_runs

    found = find_runs(target)
    names = {run.name for run in found.runs}
    states = [state for state in list_runs(found.study) if found.whole or state.name in names]
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
