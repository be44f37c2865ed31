"""`umpirical check`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.terminal import MAKING_STIMULI, remark, say, say_json
from umpirical.cli.trust import calls_option, outside_option, trust_option, trusted_study

if TYPE_CHECKING:
    from umpirical.domain.stimuli import GateResult

LONGEST = 240
"""Characters of what one gate found that are printed, three lines of a terminal."""


@click.command("check")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@outside_option
@trust_option
@calls_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: Path, outside: bool, trust: bool, max_calls: int | None, as_json: bool) -> int:  # noqa: FBT001
    """Check the study file STUDY (or the one in that folder), its prompts, tasks and keys. Makes no calls.

    The first time, shows whom the study would send to, with which keys, what code it would run and which data it would
    read, and asks whether you agree.
    """
    from umpirical.study.file import check_study

    loaded = trusted_study(study, trust=trust, outside=outside, max_calls=max_calls)
    remark(MAKING_STIMULI)
    checked = check_study(loaded, os.environ)
    if as_json:
        import json
        from dataclasses import asdict

        say_json(json.dumps({"ok": not checked.problems, **asdict(checked)}, indent=1))
    else:
        for note in checked.notes:
            say(note)
        for gate in checked.gates:
            say(f"gate {gate.name}: {_word(gate)}  {_shown(gate)}")
        for problem in checked.problems:
            say(f"problem: {problem}")
        for judge, count in checked.calls.items():
            say(f"judge {judge}: {count:,} calls")
        say("ok" if not checked.problems else f"{len(checked.problems)} to fix")
    return 2 if checked.problems else 0


def _shown(gate: "GateResult") -> str:
    """Returns what a gate found; of a long list of figures that are as they should be, the first few."""
    if not gate.passed or len(gate.found) <= LONGEST:
        return gate.found
    return f"{gate.found[:LONGEST].rpartition(', ')[0]}, ... (--json has all of it)"


def _word(gate: "GateResult") -> str:
    return "FAIL" if not gate.passed else "PASS" if gate.blocks else "reported"
