"""Writing to the terminal. Everything that a command prints goes through here, and foreign text in it is made inert.

A name in a file, in a folder or from a server may hold the control sequences of a terminal, which can rewrite what
stands above, or fill the clipboard.
"""

import sys
from pathlib import Path

import click

from umpirical.text.inert import inert, is_inert

MAKING_STIMULI = "making and checking the stimuli"
"""Printed before work that takes some seconds the first time."""


def say(text: object = "") -> None:
    """Prints a result on standard output."""
    click.echo(inert(str(text)))


def remark(text: object = "") -> None:
    """Prints a remark on standard error, for the person and not for a program."""
    click.echo(inert(str(text)), file=sys.stderr)


def short_path(path: Path) -> Path:
    """Returns a path as a person would type it: from the working directory, if it lies below that."""
    here = Path.cwd()
    full = path.resolve()
    return full.relative_to(here) if full.is_relative_to(here) else path


def say_json(text: str) -> None:
    """Prints JSON on standard output. What is not inert is escaped as in JSON, so that a program reads the same."""
    click.echo("\n".join(map(_escaped_line, text.rstrip("\n").split("\n"))))


def complain(message: str, fix: str = "") -> None:
    """Prints what is wrong and what to do about it, on standard error."""
    remark(f"error: {message}")
    if fix:
        remark(f"  fix: {fix}")


def confirm(question: str) -> bool:
    """Asks a question on standard error; the default is no."""
    return click.confirm(inert(question), default=False, err=True)


def _escaped_line(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(char if is_inert(char) else _escaped(char) for char in line)


def _escaped(char: str) -> str:
    """Returns the escapes of JSON for a character, two of them beyond the basic plane."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))
