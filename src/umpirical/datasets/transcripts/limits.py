"""How much is read of transcripts at most, and where the count stands."""

import json
import re
import sys
from dataclasses import dataclass, field

from umpirical.datasets.archives import ArchiveLimits
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Transcript

OVERHEAD = 512
"""Bytes that a message or a call takes in memory besides its text."""

_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TranscriptLimits:
    """What is read at most. Anything larger is refused, never cut."""

    document: int = 1 << 26
    """Bytes of a file that is parsed as a whole, which takes several times as many."""
    lines: int = 1 << 30
    """Bytes of a file that is read line by line."""
    line: int = 1 << 25
    """Bytes of one such line."""
    archive: ArchiveLimits = field(
        default_factory=lambda: ArchiveLimits(bytes=1 << 30, entry=1 << 28, unpacked=1 << 32)
    )
    files: int = 10_000
    """Files of a folder."""
    transcripts: int = 10_000
    messages: int = 10_000
    """Messages of one transcript."""
    message: int = 1 << 22
    """Bytes of one message, written as JSON."""
    transcript: int = 1 << 24
    """Bytes of one transcript, written as JSON."""
    total: int = 1 << 28
    """Bytes that all transcripts together take in memory."""
    depth: int = 64
    """Levels of nesting in JSON."""
    memory: int = 400 << 20
    """Bytes that the process that parses may take."""
    seconds: float = 600
    """How long that process may take."""


class Count:
    """What has been read so far. It refuses the transcript that is too much."""

    def __init__(self, limits: TranscriptLimits) -> None:
        self._limits = limits
        self._transcripts = self._total = 0

    def written(self, transcript: Transcript, where: str) -> tuple[str, bool]:
        """Returns the messages as one line of JSON, and whether halves of characters in it had to be replaced."""
        limits = self._limits
        self._transcripts += 1
        _most(self._transcripts, limits.transcripts, "transcripts", "transcripts", where)
        _most(len(transcript.messages), limits.messages, "messages", "messages", where)
        size, lines, is_mended = 0, [], False
        for name, value in (*transcript.strata.items(), *transcript.columns.items()):
            _most(4 * len(value), limits.message, f"bytes in {name!r}", "message", where)
            self._total += 4 * len(value)
        for number, message in enumerate(transcript.messages, 1):
            line = json.dumps(message.as_json(), ensure_ascii=False)
            whole = mended(line)
            is_mended |= whole != line
            length = len(whole.encode())
            _most(length, limits.message, f"bytes in message {number}", "message", where)
            size += length
            _most(size, limits.transcript, "bytes in one transcript", "transcript", where)
            self._total += sys.getsizeof(whole) + OVERHEAD * (1 + len(message.calls))
            _most(self._total, limits.total, "bytes in memory so far", "total", where)
            lines.append(whole)
        return f"[{', '.join(lines)}]", is_mended


def mended(text: str) -> str:
    """Returns a text in which a half of a character, which nothing can encode, is the sign for an unknown one."""
    return _HALVES.sub("\ufffd", text)


def _most(found: int, most: int, what: str, limit: str, where: str) -> None:
    if found > most:
        fix = f"take out what is not needed, or raise the limit `{limit}`"
        raise ConfigError(f"{found:,} {what}, at most {most:,} are read", where=where, fix=fix)
