"""The command line as a person runs it: in a process of its own, against a server of the test's."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.trusting import trusting

MEASURED = """\
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(process.pid, 0)
print(f"peak {used.ru_maxrss // 1024}", file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command and says how much memory it took at most: the kernel's own count, of that process alone."""


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
