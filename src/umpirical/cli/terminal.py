"""Writing to the terminal: foreign text is made inert, and error messages say what to do."""

import sys

import click

from umpirical.text.inert import inert

__all__ = ["MAKING_STIMULI", "complain", "inert", "say"]

MAKING_STIMULI = "making and checking the stimuli"
"""Printed before work that takes some seconds the first time."""


def say(text: str = "") -> None:
    """Prints a line on standard output."""
    click.echo(text)


def complain(message: str, fix: str = "") -> None:
    """Prints what is wrong and what to do about it, on standard error."""
    click.echo(f"error: {inert(message)}", file=sys.stderr)
    if fix:
        click.echo(f"  fix: {inert(fix)}", file=sys.stderr)
