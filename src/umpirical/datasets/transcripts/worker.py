"""The process that parses logs: it limits itself, reads a job from its input, and writes transcripts to its output.

A line of output is a JSON object that says what it is; after one that announces a transcript comes a line with its
messages. The last one says that all has been read: without it, the process has died.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from umpirical.datasets.archives import ArchiveLimits
from umpirical.datasets.transcripts.files import FORMATS
from umpirical.datasets.transcripts.sources import Count, TranscriptLimits, TranscriptSource, mended
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.transcripts import Transcript
from umpirical.text.inert import inert

MOST_NOTES = 100
"""Notes on one file; how many more there were is said."""

LONGEST_NAME = 500
"""Characters of a transcript's name."""


@dataclass(frozen=True, slots=True)
class _Job:
    files: list[tuple[str, str]]
    """Format and path of each."""
    strata: tuple[str, ...]
    columns: tuple[str, ...]
    limits: TranscriptLimits


def main() -> None:
    """Does the job. What is wrong with a file is written like everything else."""
    job = _job(json.load(sys.stdin))
    _limit(job.limits)
    # Whatever else is printed by anybody must not get between the lines.
    output = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    with output:
        try:
            _read(job, output)
        except UsageError as error:
            where = error.where if isinstance(error, ConfigError) else ""
            _write(output, refused=str(error.args[0]), where=where, fix=error.fix)
        except MemoryError:
            _write(output, died="memory")
        else:
            _write(output, end=True)


def _job(found: dict[str, Any]) -> _Job:
    limits = found["limits"]
    return _Job(
        [(form, path) for form, path in found["files"]],
        tuple(found["strata"]),
        tuple(found["columns"]),
        TranscriptLimits(**{**limits, "archive": ArchiveLimits(**limits["archive"])}),
    )


def _limit(limits: TranscriptLimits) -> None:
    try:
        import resource
    except ImportError:  # there is no such thing on Windows
        return
    for kind, most in (
        (resource.RLIMIT_DATA, limits.memory),
        (resource.RLIMIT_FSIZE, 8 * limits.total),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)  # noqa: PLW2901
        resource.setrlimit(kind, (most, most))


def _read(job: _Job, output: TextIO) -> None:
    count = Count(job.limits)
    for form, path in job.files:
        source = TranscriptSource(Path(path), Path(path).name, job.strata, job.columns, job.limits)
        _write(output, file=source.name)
        _File(source, count, output).read(form)


class _File:
    """One file that is being read."""

    def __init__(self, source: TranscriptSource, count: Count, output: TextIO) -> None:
        self._source, self._count, self._output = source, count, output
        self._names: set[str] = set()
        self._notes: list[str] = []

    def read(self, form: str) -> None:
        for transcript in FORMATS[form](self._source, self._notes.append):
            self._put(transcript)
        for note in self._notes[:MOST_NOTES]:
            _write(self._output, note=_plain(f"{self._source.name}: {note}"))
        if len(self._notes) > MOST_NOTES:
            _write(self._output, note=f"{self._source.name}: and {len(self._notes) - MOST_NOTES:,} more notes")

    def _put(self, transcript: Transcript) -> None:
        name = _plain(transcript.name)
        where = f"{self._source.name}: {name[:100]}"
        if len(name) > LONGEST_NAME:
            raise ConfigError(f"a name of {len(name):,} characters; the limit is {LONGEST_NAME}", where=where)
        if name in self._names:
            raise ConfigError("two transcripts have this name", where=where, fix="give each transcript a unique id")
        self._names.add(name)
        messages, is_mended = self._count.written(transcript, where)
        if is_mended:
            self._notes.append(f"{name}: invalid half characters are shown as �")
        if problem := next(transcript.problems(), ""):
            self._notes.append(f"{name}: {problem}")
        strata, columns = _mended(transcript.strata), _mended(transcript.columns)
        _write(self._output, name=name, strata=strata, columns=columns)
        self._output.write(f"{messages}\n")


def _mended(values: Mapping[str, str]) -> dict[str, str]:
    return {name: mended(value) for name, value in values.items()}


def _plain(text: str) -> str:
    """Returns a text in one line, in which nothing is invisible."""
    return inert(text).replace("\n", "⟦U+000A⟧").replace("\t", "⟦U+0009⟧")


def _write(output: TextIO, **line: object) -> None:
    output.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
