"""Files that hold a table: CSV, JSON Lines and Parquet."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from umpirical.datasets.readers import DatasetReader, Row, Source, Table, counted
from umpirical.datasets.text_lines import LONGEST_LINE, check_size, is_deeper, numbered_lines
from umpirical.domain.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


# Comma-separated values. Every cell is text, verbatim: `1` is the text `1`, and `=A1` is not a formula.


def _read_csv(source: Source) -> Table:
    """A file with a header, quoted as RFC 4180 says: by `"`, doubled inside. Blank lines are skipped."""
    records = _records(source)
    where, header = next(records, (f"{source.name}:1", []))
    if not header:
        raise ConfigError("the file is empty; it must start with a line of column names", where=where)
    if doubled := [name for name, times in Counter(header).items() if times > 1]:
        raise ConfigError(f"two columns have the name {doubled[0]!r}", where=where, fix="rename one of them")
    return Table(where, tuple(header), counted(_csv_rows(records, header), source))


def _csv_rows(records: Iterator[tuple[str, list[str]]], header: list[str]) -> Iterator[Row]:
    for place, cells in records:
        if len(cells) != len(header):
            raise ConfigError(
                f"{len(cells)} fields, expected {len(header)} as in the header",
                where=place,
                fix='put fields that contain a comma, a quote or a line break in quotes: "..."',
            )
        yield Row(place, dict(zip(header, cells, strict=True)))


def _records(source: Source) -> Iterator[tuple[str, list[str]]]:
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
        most = f"a field or record is too long; the limit is {source.limits.field:,} characters per field"
        fix = "check for an unclosed quote in this record, or raise dataset.limits.field"
        return ConfigError(most, where=place, fix=fix)
    if "unexpected end" in text:
        return ConfigError("the file ends inside a quoted field", where=place, fix="close the quote that opens here")
    if "new-line character" in text:
        message = "a carriage return outside quotes"
        return ConfigError(message, where=place, fix="save the file with Unix or Windows line endings")
    fix = 'double each quote inside a quoted field: "say ""yes"""'
    return ConfigError(f"not valid CSV: {text}", where=place, fix=fix)


CSV = DatasetReader("csv", _read_csv)


# JSON Lines: one object in each line.

LONGEST_NUMBER = 1_000
"""The most digits that a whole number may have."""


def _read_jsonl(source: Source) -> Table:
    """Objects may have different keys, so only the rows say which columns there are. Blank lines are skipped."""
    return Table(source.name, None, counted(_jsonl_rows(source), source))


def _jsonl_rows(source: Source) -> Iterator[Row]:
    for number, line in numbered_lines(source):
        if line.strip():
            place = f"{source.name}:{number}"
            yield Row(place, _parsed(line, place, source.limits.depth))


def _parsed(line: str, place: str, deepest: int) -> dict[str, object]:
    if is_deeper(line, deepest):
        fix = "flatten the record, or raise dataset.limits.depth"
        raise ConfigError(f"nested more than {deepest} levels deep", where=place, fix=fix)
    try:
        found: Any = json.loads(line, object_pairs_hook=_distinct, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        fix = "write one complete JSON object per line"
        raise ConfigError(f"not valid JSON: {error.msg} at position {error.pos + 1}", where=place, fix=fix) from None
    except ValueError as error:
        raise ConfigError(str(error), where=place, fix="correct this line") from None
    if not isinstance(found, dict):
        message = f'expected an object such as {{"response": "..."}}, got {type(found).__name__}'
        raise ConfigError(message, where=place, fix="write one object per line, without an enclosing list")
    return found


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} appears twice")
    return found


def _whole_number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"a number with {len(digits):,} digits; the limit is {LONGEST_NUMBER}")
    return int(digits)


JSONL = DatasetReader("jsonl", _read_jsonl)


# Parquet files. Only the columns that are wanted are decoded.

_WRITE_AGAIN = "write the file again, with text as UTF-8"

BATCH = 16384
"""Rows decoded at a time. Text that they share is in memory once, so there may be many."""


def _read_parquet(source: Source) -> Table:
    """The columns that are wanted; if all are, those that hold single values."""
    check_size(source)
    try:
        file = _opened(source)
        columns, wanted = tuple(file.schema_arrow.names), _wanted(file, source)
        _check_counts(file, source)
    except _unreadable() as error:
        raise ConfigError(
            f"not a valid Parquet file: {_first_line(error)}", where=source.name, fix=_WRITE_AGAIN
        ) from None
    if len(set(columns)) != len(columns):
        raise ConfigError("two columns have the same name", where=source.name, fix="rename one of them")
    return Table(source.name, columns, counted(_parquet_rows(file, wanted, source), source))


def _opened(source: Source) -> "pq.ParquetFile":
    import pyarrow.parquet as pq

    names = [field.name for field in pq.read_schema(source.path) if _is_text(field.type)]
    # Held as a dictionary, a long text that a million rows share is in memory once.
    return pq.ParquetFile(source.path, read_dictionary=names)


def _wanted(file: "pq.ParquetFile", source: Source) -> list[str]:
    import pyarrow as pa

    nested = {field.name: field.type for field in file.schema_arrow if pa.types.is_nested(field.type)}
    if not source.columns:
        return [name for name in file.schema_arrow.names if name not in nested]
    if wrong := [name for name in source.columns if name in nested]:
        message = f"column {wrong[0]!r} contains {nested[wrong[0]]}, expected single values"
        raise ConfigError(message, where=source.name, fix="write the text you need into a column of its own")
    return [name for name in source.columns if name in file.schema_arrow.names]


def _check_counts(file: "pq.ParquetFile", source: Source) -> None:
    """Checks what the file says about itself before anything is decoded: a small file can stand for very much text."""
    if file.metadata.num_rows > source.limits.rows:
        raise ConfigError(
            f"{file.metadata.num_rows:,} rows; the limit is {source.limits.rows:,}",
            where=source.name,
            fix="make a file with only the rows you need, or raise dataset.limits.rows",
        )
    # Sizes of whole row groups: asking a damaged file about a single column can crash the process.
    size = sum(file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups))
    if size > source.limits.bytes:
        raise ConfigError(
            f"{size:,} bytes when unpacked; the limit is {source.limits.bytes:,}",
            where=source.name,
            fix="make a file with only the rows and columns you need, or raise dataset.limits.bytes",
        )


def _parquet_rows(file: "pq.ParquetFile", wanted: list[str], source: Source) -> Iterator[Row]:
    number = 0
    try:
        for batch in file.iter_batches(batch_size=BATCH, columns=wanted):
            columns = [
                _values(batch.column(name), f"{source.name}: column {name!r}", source) for name in batch.schema.names
            ]
            for values in zip(*columns, strict=True):
                number += 1
                yield Row(f"{source.name}:row {number}", dict(zip(batch.schema.names, values, strict=True)))
    except _unreadable() as error:
        message = f"cannot read past row {number}: {_first_line(error)}"
        raise ConfigError(message, where=source.name, fix=_WRITE_AGAIN) from None


def _values(column: "pa.Array", where: str, source: Source) -> list[Any]:
    """A column's values. Those of a dictionary are decoded once for all rows that share them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.DictionaryArray):
        plain: list[Any] = column.to_pylist()
        return plain
    if _is_text(column.dictionary.type):
        # A character has at most four bytes, so what is longer than this is too long without being decoded.
        longest = pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        if longest > 4 * source.limits.field:
            message = f"a text of {longest:,} bytes; the limit is {source.limits.field:,} characters"
            raise ConfigError(message, where=where, fix="shorten it, or raise dataset.limits.field")
    used = pc.unique(column.indices).drop_null()
    texts = dict(zip(used.to_pylist(), column.dictionary.take(used).to_pylist(), strict=True))
    return [texts.get(index) for index in column.indices.to_pylist()]


def _is_text(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _unreadable() -> tuple[type[Exception], ...]:
    """What a damaged file makes the library raise: its own errors, and those of the code it calls."""
    import pyarrow as pa

    return (pa.ArrowException, OSError, ValueError, LookupError, OverflowError)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


PARQUET = DatasetReader("parquet", _read_parquet)
