"""JSON of others, a document or one to a line, parsed within limits."""

import json
from collections.abc import Iterator
from typing import Any

from umpirical.datasets.nesting import is_deeper
from umpirical.datasets.text_lines import decoded_lines
from umpirical.datasets.transcripts.sources import TranscriptSource
from umpirical.domain.errors import ConfigError
from umpirical.text.json_texts import without_doubles

_WHOLE = "is it a whole file of that format?"


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
        message = f"byte 0x{data[error.start]:02x} at place {error.start + 1:,} is not UTF-8"
        raise ConfigError(message, where=source.name, fix="save the file as UTF-8") from None
    # Brackets and quotes are the same bytes in Latin-1, in which no text takes more than its bytes.
    _check_depth(data.decode("latin-1"), source, source.name)
    return data


def check_bytes(source: TranscriptSource, most: int, limit: str) -> None:
    """Raises unless it is a file of at most so many bytes. A pipe or a device is none, and may never end."""
    if not source.path.is_file():
        raise ConfigError("no such file", where=source.name, fix="name a file, or a folder of logs")
    if (size := source.path.stat().st_size) > most:
        fix = f"split the file, or raise the limit `{limit}`"
        raise ConfigError(f"{size:,} bytes, at most {most:,} are read", where=source.name, fix=fix)


def _check_depth(text: str, source: TranscriptSource, place: str) -> None:
    if is_deeper(text, source.limits.depth):
        fix = "it is no transcript; else raise the limit `depth`"
        raise ConfigError(f"nested more than {source.limits.depth} levels deep", where=place, fix=fix)


def _parsed(text: str, place: str) -> Any:  # noqa: ANN401  # foreign JSON
    try:
        return json.loads(text, object_pairs_hook=without_doubles)
    except ValueError as error:
        raise ConfigError(f"not JSON: {str(error)[:200]}", where=place, fix=_WHOLE) from None
