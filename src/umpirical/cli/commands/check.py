"""`umpirical check`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.commands.plan import outside_option
from umpirical.cli.terminal import MAKING_STIMULI, inert, say

if TYPE_CHECKING:
    from umpirical.domain.gates import GateResult

__all__ = ["command"]


@click.command("check")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@outside_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: Path, outside: bool, as_json: bool) -> int:  # noqa: FBT001
    """Check the study file STUDY (or the one in that folder), its prompts, tasks and keys. Makes no calls."""
    from umpirical.study.file import check_study

    click.echo(MAKING_STIMULI, err=True)
    checked = check_study(study, os.environ, outside=outside)
    if as_json:
        import json
        from dataclasses import asdict

        say(json.dumps({"ok": not checked.problems, **asdict(checked)}, indent=1))
    else:
        for note in checked.notes:
            say(inert(note))
        for gate in checked.gates:
            say(f"gate {gate.name}: {_word(gate)}  {inert(gate.found)}")
        for problem in checked.problems:
            say(f"problem: {inert(problem)}")
        for judge, count in checked.calls.items():
            say(f"judge {judge}: {count:,} calls")
        say("ok" if not checked.problems else f"{len(checked.problems)} to fix")
    return 2 if checked.problems else 0


def _word(gate: "GateResult") -> str:
    return "FAIL" if not gate.passed else "PASS" if gate.blocks else "reported"
