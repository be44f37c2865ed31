"""`umpirical check`."""

import os
from pathlib import Path

import click

from umpirical.cli.terminal import inert, say

__all__ = ["command"]


@click.command("check")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: Path, as_json: bool) -> int:  # noqa: FBT001
    """Check the study file STUDY (or the one in that folder), its prompts, tasks and keys. Asks nothing."""
    from umpirical.study.checking import check_study

    problems, calls = check_study(study, os.environ)
    if as_json:
        import json

        say(json.dumps({"ok": not problems, "problems": problems, "calls": calls}, indent=1))
    else:
        for problem in problems:
            say(f"problem: {inert(problem)}")
        for judge, count in calls.items():
            say(f"judge {judge}: {count:,} calls")
        say("ok" if not problems else f"{len(problems)} to mend")
    return 2 if problems else 0
