"""Comma-separated values. Every cell is text, verbatim: `1` is the text `1`, and `=A1` is not a formula."""

import csv
from collections import Counter
from collections.abc import Iterator

from umpirical.datasets.readers import DatasetReader, Row, Source, Table, counted
from umpirical.datasets.text_lines import LONGEST_LINE, numbered_lines
from umpirical.domain.errors import ConfigError


def _read(source: Source) -> Table:
    """A file with a header, quoted as RFC 4180 says: by `"`, doubled inside. Blank lines are skipped."""
    records = _records(source)
    where, header = next(records, (f"{source.name}:1", []))
    if not header:
        raise ConfigError("an empty file, expected a line with the columns' names", where=where)
    if doubled := [name for name, times in Counter(header).items() if times > 1]:
        raise ConfigError(f"two columns are named {doubled[0]!r}", where=where, fix="give each a name of its own")
    return Table(where, tuple(header), counted(_rows(records, header), source))


def _rows(records: Iterator[tuple[str, list[str]]], header: list[str]) -> Iterator[Row]:
    for place, cells in records:
        if len(cells) != len(header):
            raise ConfigError(
                f"{len(cells)} fields, expected {len(header)} as in the header",
                where=place,
                fix='put a field with a comma, a quote or a line break in it into quotes: "..."',
            )
        yield Row(place, dict(zip(header, cells, strict=True)))


def _records(source: Source) -> Iterator[tuple[str, list[str]]]:
    """Each record with the line that it starts in."""
    # The limit applies to the whole process, so it is only ever raised; `counted` checks each field against ours.
    csv.field_size_limit(max(csv.field_size_limit(), source.limits.field))
    feed = _Feed(source)
    reader = csv.reader(feed, strict=True)
    while True:
        feed.start_record()
        place = f"{source.name}:{reader.line_num + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _broken(error, place, source) from None
        if cells:
            yield place, cells


class _Feed:
    """Gives the parser its lines and limits the length of a record: an unclosed quote would swallow the whole file."""

    def __init__(self, source: Source) -> None:
        self._lines = numbered_lines(source)
        self._longest = LONGEST_LINE * source.limits.field
        self._taken = 0

    def start_record(self) -> None:
        self._taken = 0

    def __iter__(self) -> "_Feed":
        return self

    def __next__(self) -> str:
        _, line = next(self._lines)
        self._taken += len(line)
        if self._taken > self._longest:
            raise csv.Error(f"a record of more than {self._longest:,} characters")
        return line


def _broken(error: csv.Error, place: str, source: Source) -> ConfigError:
    text = str(error)
    if "field limit" in text or "a record of" in text:
        most = f"a field or record is too long, at most {source.limits.field:,} characters of a field are read"
        fix = "close the quote that opens in this record, or raise dataset.limits.field"
        return ConfigError(most, where=place, fix=fix)
    if "unexpected end" in text:
        return ConfigError("the file ends inside a quoted field", where=place, fix="close the quote that opens here")
    if "new-line character" in text:
        message = "a carriage return alone outside quotes"
        return ConfigError(message, where=place, fix="save the file with the line ends of Unix or Windows")
    fix = 'a quote inside a quoted field is written twice: "say ""yes"""'
    return ConfigError(f"not comma-separated values: {text}", where=place, fix=fix)


READER = DatasetReader("csv", _read)
