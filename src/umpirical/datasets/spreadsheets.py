"""Spreadsheets: the first sheet of an Excel workbook (XLSX), or the one that is named."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from umpirical.datasets.archives import ArchiveLimits, check_archive
from umpirical.datasets.readers import DatasetReader, ReaderOption, Row, Source, Table, counted
from umpirical.datasets.text_lines import check_size
from umpirical.domain.errors import ConfigError, UsageError

INSTALL = "pip install 'umpirical[xlsx]', or save the sheet as CSV"

EXACT = 1 << 53
"""Whole numbers up to this are exact: a sheet has no others than floating-point numbers."""


def _read_xlsx(source: Source) -> Table:
    """A sheet with a header. Formulas have the value that was saved with them, and none is computed."""
    library = _library()
    check_size(source)
    # What it unpacks to is checked before anything parses it.
    check_archive(source.path, limits=ArchiveLimits(bytes=source.limits.bytes, entry=min(source.limits.bytes, 1 << 28)))
    records = enumerate(_cells(library, source), start=1)
    _, header = next(records, (1, []))
    names = [str(_value(cell)).strip() for cell in header]
    where = f"{source.name}:row 1"
    if not any(names):
        raise ConfigError("the sheet is empty; it must start with a row of column names", where=where)
    if doubled := [name for name, times in Counter(filter(None, names)).items() if times > 1]:
        raise ConfigError(f"two columns have the name {doubled[0]!r}", where=where, fix="rename one of them")
    return Table(where, tuple(filter(None, names)), counted(_rows(records, names, source.name), source))


def _library() -> Any:  # noqa: ANN401  # an optional package
    try:
        library: Any = import_module("python_calamine")
    except ImportError:
        raise UsageError("XLSX files require the `xlsx` extra", fix=INSTALL) from None
    return library


def _cells(library: Any, source: Source) -> list[list[object]]:  # noqa: ANN401  # likewise
    named = source.options.get("sheet")
    try:
        with library.load_workbook(source.path) as book:
            sheets = list(book.sheet_names)
            if named is not None and named not in sheets:
                listed = ", ".join(sheets)[:200]
                raise ConfigError(f"no sheet {named!r}; sheets: {listed}", where=source.name, fix="set options.sheet")
            # Rows are numbered as a spreadsheet numbers them: from the first one, empty or not.
            sheet = book.get_sheet_by_name(str(named)) if named is not None else book.get_sheet_by_index(0)
            found: list[list[object]] = sheet.to_python(skip_empty_area=False)
    except library.PasswordError:
        raise ConfigError("the workbook has a password", where=source.name, fix="save it without one") from None
    except (library.CalamineError, OSError, ValueError, IndexError) as error:
        message = f"not a valid XLSX file: {str(error)[:200]}"
        raise ConfigError(message, where=source.name, fix="save it again as .xlsx, or as CSV") from None
    return found


def _rows(records: Iterator[tuple[int, list[object]]], names: Sequence[str], file: str) -> Iterator[Row]:
    for number, cells in records:
        values = [_value(cell) for cell in cells]
        if all(value == "" for value in values):
            continue
        place = f"{file}:row {number}"
        for name, value in zip(names, values, strict=False):
            if value != "" and not name:
                raise ConfigError("a cell in a column without a name", where=place, fix="name the column, or empty it")
        yield Row(place, {name: value for name, value in zip(names, values, strict=False) if name})


def _value(cell: object) -> object:
    """A value as other formats have it. A sheet cannot tell 3.0 from 3, nor an empty text from an empty cell."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= EXACT:
        return int(cell)
    if isinstance(cell, dt.date | dt.time | dt.timedelta):
        return str(cell)
    return cell


XLSX = DatasetReader("xlsx", _read_xlsx, {"sheet": ReaderOption("The sheet to read. Default: the first.")})
