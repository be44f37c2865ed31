"""Readers of foreign data: what they are given, what they give back, and which there are."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from umpirical.datasets.spec import LimitsSpec, OptionValue, format_by_ending
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.registry import Registry

SHOWN = 30
"""Columns that a message lists."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader is given."""

    path: Path
    """The file or folder, as it lies on this machine."""
    name: str
    """What messages and the names of items call it: the last part of its path, which is the same on every machine."""
    columns: tuple[str, ...] = ()
    """Columns that are wanted; empty for all. A reader leaves the others unread if its format allows that."""
    limits: LimitsSpec = field(default_factory=LimitsSpec)
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Settings of the reader's own. It declares which there are."""
    written: str = ""
    """The path as the study file has it; for a dataset on the hub, its name there."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record. Its values are as the format has them: nothing has been converted yet."""

    place: str
    """Where it stands: `essays.csv:12` for the line that it starts in, or `essays.parquet:row 12`."""
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a source, read as they are asked for."""

    where: str
    """Where the columns are named: `essays.csv:1`."""
    columns: tuple[str, ...] | None
    """Every column there is; None if each row may have other ones."""
    rows: Iterator[Row]


@dataclass(frozen=True, slots=True)
class ReaderOption:
    """A setting that one reader knows."""

    about: str
    """What it decides, in one sentence."""
    kind: type[str | int | float | bool] = str


@dataclass(frozen=True, slots=True)
class DatasetReader:
    """Reads one format. `umpirical.testing.check_reader` holds it to what is promised here.

    It gives the rows in their order with their values untouched, keeps within the limits, and answers whatever cannot
    be read with a ConfigError that says where and what to do.
    """

    format: str
    """The name it is registered by."""
    read: Callable[[Source], Table]
    options: Mapping[str, ReaderOption] = field(default_factory=dict)
    """What may stand under `dataset.options` for this format, by name."""

    def open(self, source: Source) -> Table:
        """The table, once the options are known to be ones that this reader has."""
        for name, value in source.options.items():
            if name not in self.options:
                known = f"options: {', '.join(self.options)}" if self.options else "it has no options"
                message = f"unknown option {name!r} for the format {self.format}; {known}"
                near = get_close_matches(name, self.options, n=1)
                fix = f"did you mean {near[0]!r}?" if near else "remove it from dataset.options"
                raise ConfigError(message, where=source.written or source.name, fix=fix)
            kind = self.options[name].kind
            if type(value) is not kind and not (kind is float and type(value) is int):
                message = f"the option {name} of the format {self.format} must be {_KINDS[kind]}, got {value!r:.60}"
                fix = f"write {_KINDS[kind]} for {name} under dataset.options"
                raise ConfigError(message, where=source.written or source.name, fix=fix)
        return self.read(source)


_KINDS: Mapping[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}

READERS: Registry[DatasetReader] = Registry(
    "datasets",
    {
        "csv": "umpirical.datasets.table_files:CSV",
        "jsonl": "umpirical.datasets.table_files:JSONL",
        "parquet": "umpirical.datasets.table_files:PARQUET",
        "xlsx": "umpirical.datasets.spreadsheets:XLSX",
        "huggingface": "umpirical.datasets.hugging_face:READER",
    },
    noun="dataset format",
)


def format_of(path: str, folder: Path, *, named: str | None = None) -> str:
    """The name of a dataset's reader: as written, by the file's ending, or `huggingface` for a folder."""
    if found := named or format_by_ending(path):
        return found
    if (folder / path).is_dir():
        return "huggingface"
    message = f"{path}: unknown file ending {Path(path).suffix!r}"
    raise UsageError(message, fix=f"add under dataset:  format: {' or '.join(READERS.names())}")


def missing_column(column: str, known: Iterable[str], *, where: str) -> ConfigError:
    """The error for a column that is not there. It names those there are, and the one that was probably meant."""
    names = list(known)
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    message = f"no column {column!r}; columns: {listed or 'none'}"
    if len(names) == 1 and (mark := next((mark for mark in ";\t|" if mark in names[0]), "")):
        return ConfigError(message, where=where, fix=f"the file uses {mark!r} as separator: save it with commas")
    folded = {name.casefold(): name for name in names}
    near = get_close_matches(column.casefold(), folded, n=1)
    return ConfigError(
        message, where=where, fix=f"did you mean {folded[near[0]]!r}?" if near else "use one of these columns"
    )


def counted(rows: Iterator[Row], source: Source) -> Iterator[Row]:
    """The rows, checked against the limits. Raises at the first that exceeds one: none is left out in silence."""
    size = 0
    for number, row in enumerate(rows, start=1):
        if number > source.limits.rows:
            fix = "make a file with only the rows you need, or raise dataset.limits.rows"
            raise ConfigError(f"more than {source.limits.rows:,} rows", where=row.place, fix=fix)
        size += _length(row, source.limits.field)
        # A small file can stand for very much text, if its rows share it.
        if size > source.limits.bytes:
            fix = "make a file with only the rows and columns you need, or raise dataset.limits.bytes"
            raise ConfigError(f"more than {source.limits.bytes:,} characters so far", where=row.place, fix=fix)
        yield row


def _length(row: Row, longest: int) -> int:
    """Characters of text in a row. Raises if one text is too long, or cannot be encoded."""
    length = 0
    for column, value in row.values.items():
        if not isinstance(value, str):
            continue
        length += len(value)
        if len(value) > longest:
            message = f"column {column!r}: {len(value):,} characters; the limit is {longest:,}"
            raise ConfigError(message, where=row.place, fix="shorten it, or raise dataset.limits.field")
        if not _encodes(value):
            message = f"column {column!r} contains half of a surrogate pair, which is not a valid character"
            raise ConfigError(message, where=row.place, fix="correct the text in the source data")
    return length


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
