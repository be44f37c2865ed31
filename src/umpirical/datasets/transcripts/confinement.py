"""A process of its own for the parsing of what strangers wrote, limited in memory, time and output.

It gets neither this process's secrets nor its working folder, and what it writes is our own plain JSON. A log that
kills it is a log that cannot be read.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

from umpirical.datasets.transcripts.sources import TranscriptLimits
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.transcripts import Transcript, transcript_from_text
from umpirical.text.inert import inert

WORKER = "umpirical.datasets.transcripts.worker"

KEPT = ("PATH", "HOME", "SYSTEMROOT", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables of the environment that Python may need. None of them is a secret."""

LONGEST_TAIL = 500
"""Bytes of what the process last said on standard error, for the message if it dies."""

_FIX = (
    "check that the log is complete. If it is large, split it, convert it to .eval (inspect log convert --to eval), or "
    "raise the limit `memory` or `seconds`"
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was found in one file."""

    file: str
    transcripts: list[Transcript] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def parse_apart(
    files: Sequence[tuple[str, Path]],
    *,
    strata: Sequence[str] = (),
    columns: Sequence[str] = (),
    limits: TranscriptLimits,
) -> list[Parsed]:
    """Returns what is in the files, each given with its format. Raises ConfigError for one that cannot be read."""
    job = {
        "files": [(form, str(path.resolve())) for form, path in files],
        "strata": list(strata),
        "columns": list(columns),
        "limits": asdict(limits),
    }
    with TemporaryFile() as output, TemporaryFile() as errors:
        ended = _run(json.dumps(job), output, errors, limits)
        output.seek(0)
        return _collected(output, ended, _tail(errors), limits)


def _run(job: str, output: IO[bytes], errors: IO[bytes], limits: TranscriptLimits) -> str:
    """Runs the process to its end; returns why it did not end by itself, or nothing if it did."""
    with TemporaryDirectory(prefix="umpirical-") as folder:
        try:
            done = subprocess.run(  # noqa: S603  # our own module, and no shell
                [sys.executable, "-P", "-m", WORKER],
                input=job.encode(),
                stdout=output,
                stderr=errors,
                cwd=folder,
                env=environment(folder),
                timeout=limits.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"it took more than {limits.seconds:g} seconds"
    if done.returncode < 0:
        return f"the reader process was killed by {_signal(-done.returncode)}"
    return f"the reader process ended with exit code {done.returncode}" if done.returncode else ""


def environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    # What is importable here is importable there; the working folder, where anything may lie, is not.
    path = os.pathsep.join(each for each in sys.path if each)
    # Libraries that write notes of their own, or start a thread for each processor, take memory for it.
    return {**kept, "PYTHONPATH": path, "TMPDIR": folder, "XDG_DATA_HOME": folder, "OMP_NUM_THREADS": "1"}


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - LONGEST_TAIL))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return inert(lines[-1]) if lines else ""


def _collected(output: IO[bytes], ended: str, tail: str, limits: TranscriptLimits) -> list[Parsed]:
    found: list[Parsed] = []
    for line in iter(output.readline, b""):
        # A process that was killed may have left half a line.
        said: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
        match said:
            case {"file": str(name)}:
                found.append(Parsed(name))
            case {"note": str(note)}:
                found[-1].notes.append(note)
            case {"name": str(name), "strata": strata, "columns": columns}:
                if (messages := output.readline()).endswith(b"\n"):
                    read = transcript_from_text(messages.decode())
                    found[-1].transcripts.append(replace(read, name=name, strata=strata, columns=columns))
            case {"refused": str(message), "where": "", "fix": str(fix)}:
                raise UsageError(inert(message), fix=inert(fix))
            case {"refused": str(message), "where": str(where), "fix": str(fix)}:
                raise ConfigError(inert(message), where=inert(where), fix=inert(fix))
            case {"died": "memory"}:
                ended = f"reading it needs more than {limits.memory >> 20:,} MB of memory"
            case {"end": True}:
                return found
            case _:
                pass
    where = found[-1].file if found else "the process that reads transcripts"
    raise ConfigError(
        f"cannot be read: {ended or 'unknown cause'}{f' ({tail})' if tail else ''}", where=where, fix=_FIX
    )
