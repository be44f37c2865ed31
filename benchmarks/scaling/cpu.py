"""CPU time: on a busy machine the clock on the wall says nothing."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Returns the seconds of CPU that this process took for some work, and what came of it."""
    begun = time.process_time()
    made = work()
    return time.process_time() - begun, made


def least(times: int, *works: Callable[[], float]) -> list[float]:
    """Returns the least of what each of several measurements finds. They are made by turns: other work only adds."""
    found = [[work() for work in works] for _ in range(times)]
    return [min(column) for column in zip(*found, strict=True)]


def cpu_of(command: Sequence[str]) -> float:
    """Returns the seconds of CPU of a whole process, its start included. Raises if it fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None  # noqa: S101  # it is a pipe
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {said.decode()[-500:]}")
    return used.ru_utime + used.ru_stime
