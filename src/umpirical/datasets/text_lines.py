"""The lines of a text file, decoded strictly, each with its number; and how deep the JSON in one is nested."""

import re
from collections.abc import Iterator
from pathlib import Path

from umpirical.datasets.readers import Source
from umpirical.domain.errors import ConfigError

LONGEST_LINE = 16
"""How many fields of the greatest allowed length a line, or a record of several lines, may hold."""

_UTF_8_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def check_size(source: Source) -> None:
    """Raises if there is no such file, or if it is larger than allowed."""
    # A pipe or a device is not a file: it has no size to go by, and may never end.
    if not source.path.is_file():
        raise ConfigError("no such file", where=source.written or source.name, fix=f"check the path: {source.path}")
    if (size := source.path.stat().st_size) > source.limits.bytes:
        raise ConfigError(
            f"{size:,} bytes; the limit is {source.limits.bytes:,}",
            where=source.name,
            fix="make a file with only the rows and columns you need, or raise dataset.limits.bytes",
        )


def numbered_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Each line with its line end, counted from 1. A byte order mark is left out."""
    check_size(source)
    # In bytes, of which a character has at most four: text is not decoded before it is known to be short enough.
    longest = 4 * LONGEST_LINE * source.limits.field
    yield from decoded_lines(source.path, source.name, longest=longest, limit="dataset.limits.field")


def decoded_lines(path: Path, name: str, *, longest: int, limit: str) -> Iterator[tuple[int, str]]:
    """Each line of a file, none of more bytes than `longest`; `limit` is what a message says to raise."""
    with path.open("rb") as handle:
        number = 0
        while line := handle.readline(longest + 1):
            number += 1
            if number == 1:
                line = line.removeprefix(_UTF_8_MARK)
            if len(line) > longest:
                fix = f"check that the format is right, or raise {limit}"
                raise ConfigError(f"a line of more than {longest:,} bytes", where=f"{name}:{number}", fix=fix)
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise _not_text(line, error.start, f"{name}:{number}") from None
            if "\0" in text:
                raise _not_text(line, line.index(0), f"{name}:{number}")
            yield number, text


def _not_text(line: bytes, place: int, where: str) -> ConfigError:
    if line.startswith(_UTF_16_MARKS) or not line[place]:
        message = "the line contains a NUL byte or a UTF-16 mark; the file must be UTF-8 text"
    else:
        message = f"byte 0x{line[place]:02x} at position {place + 1} of the line is not UTF-8"
    return ConfigError(message, where=where, fix="save the file as UTF-8")


# A string is taken as one piece, closed or not, so that brackets inside it do not count.
_PIECES = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def is_deeper(text: str, deepest: int) -> bool:
    """Whether brackets nest deeper than that, found before anything is parsed."""
    if text.count("[") + text.count("{") <= deepest:
        return False
    depth = 0
    for piece in _PIECES.finditer(text):
        if piece[0] in "[{":
            depth += 1
            if depth > deepest:
                return True
        elif piece[0] in "]}":
            depth -= 1
    return False
