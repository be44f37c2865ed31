"""What reaches a terminal: foreign text is made inert, messages say what to do."""

import sys

import click

from umpirical.text.inert import inert

__all__ = ["MAKING_STIMULI", "complain", "inert", "say"]

MAKING_STIMULI = "making and checking the stimuli"
"""Said before what takes some seconds the first time."""


def say(text: str = "") -> None:
    """A line on standard output."""
    click.echo(text)


def complain(message: str, fix: str = "") -> None:
    """What is wrong, and what to do about it, on standard error."""
    click.echo(f"error: {inert(message)}", file=sys.stderr)
    if fix:
        click.echo(f"  fix: {inert(fix)}", file=sys.stderr)
