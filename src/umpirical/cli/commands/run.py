"""`umpirical run`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.terminal import inert, say

if TYPE_CHECKING:
    from umpirical.study.files import Study
    from umpirical.study.preparing import PlannedRun

__all__ = ["command"]


@click.command("run")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--judge", "judges", multiple=True, help="Only this judge; can be given several times.")
@click.option("--yes", is_flag=True, help="Do not ask before calls are sent.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: Path, judges: tuple[str, ...], yes: bool, as_json: bool) -> int:  # noqa: FBT001
    """Measure the judges of the study STUDY (a file, or the folder it is in) and write their datasheets.

    Interrupted or failed, the same command goes on where it stopped: what has an answer is not asked again.
    """
    from umpirical.cli.progress import watch_run
    from umpirical.study.files import load_study
    from umpirical.study.running import complete_run, plan_runs

    loaded = load_study(study)
    planned = plan_runs(loaded, judges)
    _agree(loaded, planned, yes=yes)
    results, code = [], 0
    for run in planned:
        result = complete_run(run, loaded.spec.concurrency, watch_run)
        results.append(result)
        code = max(code, 0 if result.enough else 5)
        if not as_json:
            for finding in result.datasheet.findings:
                say(f"  {inert(finding)}")
            say(f"  {result.documents.html}")
            if not result.enough:
                say("  too many calls failed; run the same command again to ask them anew")
    if as_json:
        import json

        say(json.dumps([result.summary() for result in results], indent=1))
    return code


def _agree(study: "Study", planned: "list[PlannedRun]", *, yes: bool) -> None:
    """Shows what would be sent, and asks. A simulated judge costs nothing and is not asked about."""
    from umpirical.domain.errors import SpendRefused
    from umpirical.study.running import calls_left

    real = [run for run in planned if not run.simulated]
    left = {run.call.judge.name: calls_left(run) for run in real}
    for name, count in left.items():
        click.echo(f"{inert(name)}: {count:,} calls to send", file=sys.stderr)
    if yes or not sum(left.values()):
        return
    if not sys.stdin.isatty():
        raise SpendRefused("calls would be sent, and nobody is there to agree", fix="add --yes")
    if not click.confirm(f"Send {sum(left.values()):,} calls, at whatever they cost with your provider?", err=True):
        raise SpendRefused(f"nothing was sent for {study.spec.study}")
