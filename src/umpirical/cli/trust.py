"""Asking whether a study may do what it would do, before any of it is done."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.terminal import confirm, remark

if TYPE_CHECKING:
    from umpirical.protocols.protocol import Study
    from umpirical.study.trust import Agree, Asked

SHOWN = 40
"""How many lines of the list are printed; nobody reads more, and the rest is of the kind of the last."""

outside_option = click.option(
    "--outside", is_flag=True, help="Allow the study's dataset, rubric and instruction to be outside its folder."
)

trust_option = click.option(
    "--trust", is_flag=True, help="Agree to whom the study sends to, its keys, code and data, without being asked."
)

calls_option = click.option(
    "--max-calls",
    type=click.IntRange(1),
    metavar="N",
    help="Allow a study to ask one judge up to N times. Default: 1,000,000.",
)


def trusted_study(study: Path, *, trust: bool, outside: bool, max_calls: int | None = None) -> "Study[Any]":
    """Reads a study for use, once a person has agreed to what it would do."""
    from umpirical.study.file import load_study

    return load_study(study, terminal_trust(given=trust), outside=outside, max_calls=max_calls)


def terminal_trust(*, given: bool) -> "Agree":
    """Returns what asks the person at the terminal, unless they agreed in advance."""

    def agree(asked: "Asked") -> bool:
        _show(asked, remark)
        if given:
            return True
        return sys.stdin.isatty() and confirm("Agree to this, and remember it for this folder?")

    return agree


def _show(asked: "Asked", tell: Callable[[object], None]) -> None:
    lines = asked.lines()
    tell(asked.heading)
    for line in lines[:SHOWN]:
        tell(f"  - {line}")
    if len(lines) > SHOWN:
        tell(f"  - and {len(lines) - SHOWN} more like the last")
