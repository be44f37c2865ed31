"""What a reader of foreign data is to the rest of the house, and which there are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from umpirical.datasets.spec import LimitsSpec, format_by_ending
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.registry import Registry

__all__ = ["READERS", "Reader", "Row", "Source", "Table", "counted", "format_of"]


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader is given."""

    path: Path
    """The file or folder, as it lies on this machine."""
    name: str
    """What it is called in messages and in the names of items: its last part, the same on every machine."""
    columns: tuple[str, ...] = ()
    """Columns that are wanted; empty for all. A reader that can leave the others unread does so."""
    limits: LimitsSpec = field(default_factory=LimitsSpec)
    split: str | None = None
    config_name: str | None = None
    written: str = ""
    """The path as the study file has it: on the hub, the name."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record, its values as the format has them: nothing has been made of them yet."""

    place: str
    """Where it stands: `essays.csv:12`, by the line it starts in, or `essays.parquet:row 12`."""
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a source, read as they are asked for."""

    where: str
    """Where the columns are named: `essays.csv:1`."""
    columns: tuple[str, ...] | None
    """Every column there is; None where each row says so for itself."""
    rows: Iterator[Row]


Reader = Callable[[Source], Table]

READERS: Registry[Reader] = Registry(
    "datasets",
    {
        "csv": "umpirical.datasets.csv_files:read_csv",
        "jsonl": "umpirical.datasets.jsonl_files:read_jsonl",
        "parquet": "umpirical.datasets.parquet_files:read_parquet",
        "huggingface": "umpirical.datasets.hugging_face:read_hugging_face",
    },
    noun="dataset format",
)


def format_of(path: str, folder: Path, *, named: str | None = None) -> str:
    """The name of a dataset's reader: as written, by the file's ending, or for a folder that of Hugging Face."""
    if found := named or format_by_ending(path):
        return found
    if (folder / path).is_dir():
        return "huggingface"
    message = f"{path}: the ending {Path(path).suffix!r} says no format"
    raise UsageError(message, fix=f"add under dataset:  format: {' or '.join(READERS.names())}")


def counted(rows: Iterator[Row], source: Source) -> Iterator[Row]:
    """The rows, held against the limits. Raises at the first one above, so that none is left out in silence."""
    size = 0
    for number, row in enumerate(rows, start=1):
        if number > source.limits.rows:
            fix = "make a file of those that are needed, or raise dataset.limits.rows"
            raise ConfigError(f"more than {source.limits.rows:,} rows", where=row.place, fix=fix)
        size += _length(row, source.limits.field)
        # Of text that rows share, a small file can hold very much.
        if size > source.limits.bytes:
            fix = "make a file of the rows and columns that are needed, or raise dataset.limits.bytes"
            raise ConfigError(f"more than {source.limits.bytes:,} characters so far", where=row.place, fix=fix)
        yield row


def _length(row: Row, longest: int) -> int:
    """Characters of text in a row. Raises if one text is too long, or is none that can be written down."""
    length = 0
    for column, value in row.values.items():
        if not isinstance(value, str):
            continue
        length += len(value)
        if len(value) > longest:
            message = f"column {column!r}: {len(value):,} characters, at most {longest:,} are read"
            raise ConfigError(message, where=row.place, fix="shorten it, or raise dataset.limits.field")
        if not _encodes(value):
            message = f"column {column!r} holds half of a surrogate pair, which is no character"
            raise ConfigError(message, where=row.place, fix="mend the text where it was written")
    return length


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
