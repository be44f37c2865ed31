"""Writing to the terminal. Everything that a command prints goes through here, and foreign text in it is made inert.

A name in a file, in a folder or from a server may hold the control sequences of a terminal, which can rewrite what
stands above, or fill the clipboard. It may also hold a command of a pipeline's runner, which reads what a step prints.
"""

import errno
import json
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from umpirical.text.inert import inert, is_inert, no_command

MAKING_STIMULI = "preparing the test cases"
"""Printed before work that takes some seconds the first time."""

SECONDS_BETWEEN_STEPS = 1.0

MARKS = {"pass": ("✓", "PASS"), "fail": ("✗", "FAIL"), "open": ("?", "INCONCLUSIVE"), "noted": ("!", "note")}
"""How a check is marked on a terminal, and in a log."""

COLORS = {"pass": "green", "use": "green", "fail": "red", "do-not-use": "red", "regression": "red"}
"""Of checks and verdicts; all others are yellow."""


def say(text: object = "") -> None:
    """Prints a result on standard output."""
    click.echo(no_command(inert(str(text))))


def say_verdict(verdict: str, line: str, *, indent: str = "") -> None:
    """Prints a verdict; on a terminal its title, which ends at the first bracket, has the color of its kind."""
    title, bracket, rest = no_command(inert(line)).partition(" (")
    click.echo(f"{indent}{_colored(verdict, title)}{bracket}{rest}")


def say_check(effect: str, text: str) -> None:
    mark = MARKS[effect][0 if sys.stdout.isatty() else 1]
    click.echo(f"  {_colored(effect, mark)}  {no_command(inert(text))}")


def _colored(kind: str, text: str) -> str:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty()
    return text if plain else click.style(text, fg=COLORS.get(kind, "yellow"), bold=True)


def remark(text: object = "") -> None:
    """Prints a remark on standard error, for the person and not for a program."""
    click.echo(no_command(inert(str(text))), file=sys.stderr)


class Steps:
    """Prints how far long work is, once in a while: the first time after a second."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, text: str) -> None:
        if time.monotonic() - self._last >= SECONDS_BETWEEN_STEPS:
            self._last = time.monotonic()
            remark(text)


def tell_runner(command: str) -> None:
    """Prints a command of our own for a pipeline's runner, which reads both streams."""
    click.echo(inert(command), file=sys.stderr)


def short_path(path: Path) -> Path:
    """Returns a path as a person would type it: from the working directory, if it lies below that."""
    here = Path.cwd()
    full = path.resolve()
    return full.relative_to(here) if full.is_relative_to(here) else path


def say_next(command: Sequence[str | Path], words: str, *, indent: str = "") -> None:
    """Prints a command to go on with, as it can be typed here; nothing for an empty one."""
    typed = [str(short_path(word)) if isinstance(word, Path) else word for word in command]
    if typed:
        say(f"{indent}next:  {shlex.join(typed)}  {words}")


def say_json(found: object) -> None:
    """Prints JSON, or a value as JSON. What is not inert is escaped as in JSON, so that a program reads the same."""
    text = found if isinstance(found, str) else json.dumps(found, indent=1, default=str)
    # In JSON two number signs are in a string: the first is escaped, and no runner finds a command there.
    lines = text.rstrip("\n").replace("##", "\\u0023#").split("\n")
    click.echo("\n".join(map(_escaped_line, lines)))


def complain(message: str, fix: str = "") -> None:
    """Prints what is wrong and what to do about it, on standard error."""
    remark(f"error: {message}")
    if fix:
        remark(f"  fix: {fix}")


def confirm(question: str) -> bool:
    return click.confirm(inert(question), default=False, err=True)


def _escaped_line(line: str) -> str:
    if line.isascii() and line.isprintable():
        return line
    return "".join(char if is_inert(char) else _escaped(char) for char in line)


def _escaped(char: str) -> str:
    """Returns the escapes of JSON for a character, two of them beyond the basic plane."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


FULL = ("no space left", "disk is full", "disk quota exceeded")
UNWRITTEN = ("disk i/o error", "file too large")
NO_MEMORY = ("not enough memory", "cannot allocate memory", "out of memory")


def refused_by_machine(error: Exception) -> tuple[str, str, int] | None:
    """Returns what happened, what to do and the exit code; None if the machine did not refuse anything."""
    import sqlite3

    said = str(error).partition("\n")[0]
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOSPC, errno.EDQUOT) or any(words in said.lower() for words in FULL):
        return "the disk is full; all replies so far are kept", "free some space, then run the same command again", 5
    if code == errno.EFBIG or any(words in said.lower() for words in UNWRITTEN):
        fix = "check the disk and the file size limit (ulimit -f), then run the same command again"
        return f"cannot write: {said}; all replies so far are kept", fix, 5
    if isinstance(error, MemoryError) or code == errno.ENOMEM or any(words in said.lower() for words in NO_MEMORY):
        return (
            "not enough memory; all replies so far are kept",
            "free some memory or raise the limit (ulimit -v), then run the same command again",
            5,
        )
    read_only = isinstance(error, sqlite3.OperationalError) and "readonly" in said
    if code in (errno.EACCES, errno.EPERM, errno.EROFS) or read_only:
        fix = "choose a folder you can write to; for a report of a read-only run, use --out FOLDER"
        return f"cannot write: {said}", fix, 2
    return None


def need_packages(what: str, *names: str) -> None:
    """Raises, with what to install, if a command's packages are missing."""
    from importlib.util import find_spec

    from umpirical.domain.errors import UsageError

    if any(find_spec(name) is None for name in names):
        raise UsageError(f"{what} needs packages that are not installed", fix="pip install 'umpirical[review]'")


@contextmanager
def leading_to(link: str, folder: Path) -> Iterator[Path | None]:
    """A file that leads a browser to the link; None, said aloud, where no file can be kept from others."""
    from umpirical.domain.errors import UsageError
    from umpirical.web.server import redirect_file

    with ExitStack() as stack:
        try:
            page = stack.enter_context(redirect_file(folder, link))
        except (OSError, UsageError) as error:
            say(f"cannot open a browser: {error}")
            page = None
        yield page


def open_browser(page: Path | None) -> None:
    if page is None:
        return
    import webbrowser
    from threading import Thread

    # In its own thread: some browsers block the caller until they are closed, and the server must answer meanwhile.
    Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
