"""Parquet files. Only the columns that are wanted are decoded."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from umpirical.datasets.readers import DatasetReader, Row, Source, Table, counted
from umpirical.datasets.text_lines import check_size
from umpirical.domain.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_WRITE_AGAIN = "write the file again, with text as UTF-8"

BATCH = 16384
"""Rows decoded at a time. Text that they share is in memory once, so there may be many."""


def _read(source: Source) -> Table:
    """The columns that are wanted; if all are, those that hold single values."""
    check_size(source)
    try:
        file = _opened(source)
        columns, wanted = tuple(file.schema_arrow.names), _wanted(file, source)
        _check_counts(file, source)
    except _unreadable() as error:
        raise ConfigError(f"not a Parquet file: {_first_line(error)}", where=source.name, fix=_WRITE_AGAIN) from None
    if len(set(columns)) != len(columns):
        raise ConfigError("two columns have one name", where=source.name, fix="give each a name of its own")
    return Table(source.name, columns, counted(_rows(file, wanted, source), source))


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
        message = f"column {wrong[0]!r} holds {nested[wrong[0]]}, expected single values"
        raise ConfigError(message, where=source.name, fix="write the part that is meant as text into a column")
    return [name for name in source.columns if name in file.schema_arrow.names]


def _check_counts(file: "pq.ParquetFile", source: Source) -> None:
    """Checks what the file says about itself before anything is decoded: a small file can stand for very much text."""
    if file.metadata.num_rows > source.limits.rows:
        raise ConfigError(
            f"{file.metadata.num_rows:,} rows, at most {source.limits.rows:,} are read",
            where=source.name,
            fix="make a file of those that are needed, or raise dataset.limits.rows",
        )
    # Sizes of whole row groups: asking a damaged file about a single column can crash the process.
    size = sum(file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups))
    if size > source.limits.bytes:
        raise ConfigError(
            f"{size:,} bytes when unpacked, at most {source.limits.bytes:,} are read",
            where=source.name,
            fix="make a file of the rows and columns that are needed, or raise dataset.limits.bytes",
        )


def _rows(file: "pq.ParquetFile", wanted: list[str], source: Source) -> Iterator[Row]:
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
        message = f"cannot be read after row {number}: {_first_line(error)}"
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
            message = f"a text of {longest:,} bytes, at most {source.limits.field:,} characters are read"
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


READER = DatasetReader("parquet", _read)
