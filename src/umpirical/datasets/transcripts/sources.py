"""What every reader of transcripts needs: its source and limits, JSON within these, attachments and ids of calls."""

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from umpirical.datasets.archives import ArchiveLimits
from umpirical.datasets.readers import missing_column
from umpirical.datasets.text_lines import decoded_lines, is_deeper
from umpirical.datasets.values import is_missing, plain_text
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.text.inert import inert
from umpirical.text.json_texts import without_doubles

# How much is read at most, and where the count stands.

OVERHEAD = 512
"""Bytes that a message or a call takes in memory besides its text."""

_HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TranscriptLimits:
    """Size limits. Anything larger is rejected, never truncated."""

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
        fix = f"remove what you do not need, or raise the limit `{limit}`"
        raise ConfigError(f"{found:,} {what}; the limit is {most:,}", where=where, fix=fix)


# What a reader of transcripts is given, and what it gives back.


@dataclass(frozen=True, slots=True)
class TranscriptSource:
    """One file of transcripts."""

    path: Path
    name: str
    """What messages call it."""
    strata: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    limits: TranscriptLimits = field(default_factory=TranscriptLimits)


TranscriptReader = Callable[[TranscriptSource, Callable[[str], None]], Iterator[Transcript]]
"""Yields the transcripts of a source, and calls the second argument with what a person should know about them.

A transcript without a name of its own gets the file and its place there. What cannot be read is a ConfigError."""


class NamedValues:
    """The values that a person has named, taken out of what is known about each transcript."""

    def __init__(self, source: TranscriptSource) -> None:
        self._source = source
        self._known: dict[str, None] = {}

    def of(self, values: Mapping[str, object], where: str) -> tuple[dict[str, str], dict[str, str]]:
        """Returns strata and columns. A stratum that is missing is left out; a column that is missing is empty."""
        if len(self._known) < 1_000:
            self._known.update(dict.fromkeys(values))
        strata = {
            name: self._stratum(name, values[name], where)
            for name in self._source.strata
            if not is_missing(values.get(name))
        }
        columns = {
            name: "" if is_missing(value := values.get(name)) else _column(value) for name in self._source.columns
        }
        self._known.update(dict.fromkeys(name for name in (*strata, *columns) if name in values))
        return strata, columns

    def check(self) -> None:
        for name in (*self._source.strata, *self._source.columns):
            if name not in self._known:
                raise missing_column(name, self._known, where=self._source.name)

    def _stratum(self, name: str, value: object, where: str) -> str:
        try:
            return plain_text(value)
        except ValueError as error:
            raise ConfigError(
                f"{name!r}: {error}", where=where, fix="group results only by values that are text"
            ) from None


def _column(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


# JSON of others, a document or one to a line, parsed within limits.

_WHOLE = "check that it is a complete file in that format"


def documents(source: TranscriptSource) -> Iterator[tuple[str, Any]]:
    """Yields each place and the JSON there: the whole of a `.json` file, the lines of any other."""
    if source.path.suffix.casefold() == ".json":
        yield source.name, _parsed(checked_document(source).decode("utf-8-sig"), source.name)
        return
    check_bytes(source, source.limits.lines, "lines")
    for number, line in decoded_lines(source.path, source.name, longest=source.limits.line, limit="the limit `line`"):
        if line.strip():
            place = f"{source.name}:{number}"
            yield place, parsed_text(line, source, place)


def parsed_text(text: str, source: TranscriptSource, place: str) -> Any:  # noqa: ANN401  # foreign JSON
    """Returns the JSON in a text, which may be a text inside of JSON."""
    _check_depth(text, source, place)
    return _parsed(text, place)


def checked_document(source: TranscriptSource) -> bytes:
    """Returns a file that is small enough to be parsed, is UTF-8, and is not nested too deeply."""
    check_bytes(source, source.limits.document, "document")
    data = source.path.read_bytes()
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"byte 0x{data[error.start]:02x} at position {error.start + 1:,} is not UTF-8"
        raise ConfigError(message, where=source.name, fix="save the file as UTF-8") from None
    # Brackets and quotes are the same bytes in Latin-1, in which no text takes more than its bytes.
    _check_depth(data.decode("latin-1"), source, source.name)
    return data


def check_bytes(source: TranscriptSource, most: int, limit: str) -> None:
    """Raises unless it is a file of at most so many bytes. A pipe or a device is none, and may never end."""
    if not source.path.is_file():
        raise ConfigError("no such file", where=source.name, fix="name a file or a folder of logs")
    if (size := source.path.stat().st_size) > most:
        fix = f"split the file, or raise the limit `{limit}`"
        raise ConfigError(f"{size:,} bytes; the limit is {most:,}", where=source.name, fix=fix)


def _check_depth(text: str, source: TranscriptSource, place: str) -> None:
    if is_deeper(text, source.limits.depth):
        fix = "check that it is a transcript, or raise the limit `depth`"
        raise ConfigError(f"nested more than {source.limits.depth} levels deep", where=place, fix=fix)


def _parsed(text: str, place: str) -> Any:  # noqa: ANN401  # foreign JSON
    try:
        return json.loads(text, object_pairs_hook=without_doubles)
    except ValueError as error:
        raise ConfigError(f"not valid JSON: {str(error)[:200]}", where=place, fix=_WHOLE) from None


# What is not text, described by kind, size and digest, so that a judge knows of it and nothing is hidden in it.

LONGEST_ADDRESS = 200


def described(kind: str, address: str) -> str:
    """Returns a description of what an address stands for: one that holds its data, or one that points elsewhere.

    >>> described("image", "data:image/png;base64,aGVsbG8=")
    'image/png, 5 bytes, sha256 2cf24dba5fb0a30e'
    """
    if address[:5].casefold() != "data:":
        shown = inert(address[:LONGEST_ADDRESS]).replace("\n", " ")
        return f"{kind} at {shown}{'…' if len(address) > LONGEST_ADDRESS else ''}"
    head, _, data = address[5:].partition(",")
    kinds, *marks = head.split(";")
    return described_data(inert(kinds[:100]) or kind, data, is_base64="base64" in marks)


def described_data(kind: str, data: object, *, is_base64: bool = False) -> str:
    """Returns a description of data. What says it is base64 and is not, is described as the text that it is."""
    if not isinstance(data, str):
        data = json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
    found = _from_base64(data) if is_base64 else unquote_to_bytes(data.encode("utf-8", "replace"))
    return f"{kind}, {len(found):,} bytes, sha256 {hashlib.sha256(found).hexdigest()[:16]}"


def _from_base64(data: str) -> bytes:
    try:
        return base64.b64decode(data.encode("ascii"), validate=False)
    except ValueError:
        return data.encode("utf-8", "replace")


# Calls and their answers, put together where a log has left out the ids.


def with_call_ids(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Returns the messages with an id for every call, and for every answer the call that it answers, if one waits.

    A call without an id is named by its number. An answer without one answers the first call that waits for that tool,
    or for any tool if it names none. An answer that does not name its tool gets the name from its call.
    """
    found: list[Message] = []
    waiting: list[ToolCall] = []
    count = 0
    for message in messages:
        if message.role == "tool":
            call = _answered(message, waiting)
            if call is not None:
                waiting.remove(call)
                message = replace(message, answers=call.id, tool=message.tool or call.tool)  # noqa: PLW2901
        calls: list[ToolCall] = []
        for call in message.calls:
            count += 1
            calls.append(call if call.id else replace(call, id=f"call-{count}"))
        waiting += calls
        found.append(replace(message, calls=tuple(calls)) if calls else message)
    return tuple(found)


def _answered(message: Message, waiting: list[ToolCall]) -> ToolCall | None:
    if message.answers:
        return next((call for call in waiting if call.id == message.answers), None)
    return next((call for call in waiting if message.tool in ("", call.tool)), None)
