"""The command line as a person runs it: in a process of its own, against a server of the test's."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.trusting import trusting

__all__ = ["Done", "Said", "Several", "one_after_another", "umpirical"]

MEASURED = """\
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(process.pid, 0)
print(f"peak {used.ru_maxrss // 1024}", file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command and says how much memory it took at most: the kernel's own count, of that process alone."""


SEVERAL = """\
import contextlib, io, json, sys
from umpirical.cli import main
done = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code
    done.append([code, out.getvalue(), err.getvalue()])
json.dump(done, sys.stdout)
"""
"""Runs commands one after the other, and says how each ended. Most of a short command's time goes into its start."""


@dataclass(frozen=True)
class Done:
    code: int
    said: str
    """Standard output and standard error."""
    peak: int
    """The most memory that it had at a time, in MB."""


def umpirical(*arguments, folder, **environment):
    command = [sys.executable, "-S", "-c", MEASURED, sys.executable, "-m", "umpirical", *trusting(arguments)]
    source = Path(__file__).parents[2] / "src"
    variables = os.environ | {"PYTHONPATH": str(source), "COLUMNS": "200"} | environment
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False, timeout=900)
    *lines, peak = done.stderr.strip().split("\n")
    return Done(done.returncode, done.stdout + "\n".join(lines), int(peak.removeprefix("peak ")))


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Several:
    done: list[Said]
    """Of each command, in order."""
    peak: int
    """As in Done, of all of them together."""


def one_after_another(*commands, prefix=()):
    """Runs several commands in one process of their own."""
    words = json.dumps([trusting(command) for command in commands])
    whole = [sys.executable, "-S", "-c", MEASURED, *prefix, sys.executable, "-c", SEVERAL, words]
    ended = subprocess.run(whole, capture_output=True, text=True, check=False, timeout=900)
    assert ended.returncode == 0, ended.stderr
    peak = ended.stderr.strip().rpartition("\n")[2]
    return Several([Said(*found) for found in json.loads(ended.stdout)], int(peak.removeprefix("peak ")))
