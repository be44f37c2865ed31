"""Data that a caller passes in place of a file: rows as mappings, or a data frame. Both become a file of rows."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.store.files import write_text


@runtime_checkable
class Arrow(Protocol):
    """A data frame with the Arrow PyCapsule interface: of pandas, Polars, PyArrow and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


@runtime_checkable
class Interchange(Protocol):
    """A data frame with the older interchange protocol."""

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any: ...  # noqa: ANN401, FBT001, FBT002


Data = str | Path | Iterable[Mapping[str, Any]] | Arrow | Interchange
"""What can be passed where data are read: the path of a file, rows as mappings, or a data frame."""


def data_file(data: Data, folder: Path) -> Path:
    """Returns the file of some data. Rows are written to `folder`, so that a run can be reread.

    The same rows always give the same file.
    """
    if isinstance(data, str | Path):
        return Path(data)
    rows = _frame_rows(data) if isinstance(data, Arrow | Interchange) else data
    cells = ({name: _cell(value) for name, value in row.items()} for row in rows)
    text = "".join(json.dumps(row, ensure_ascii=False, default=_as_text) + "\n" for row in cells)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"data-{digest('rows', text)[:12]}.jsonl"
    write_text(path, text)
    return path


def _frame_rows(frame: Arrow | Interchange) -> Iterator[dict[str, Any]]:
    """Yields the rows of a data frame, without an index that has no name."""
    import pyarrow as pa
    from pyarrow.interchange import from_dataframe

    try:
        table = pa.table(frame) if isinstance(frame, Arrow) else from_dataframe(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise UsageError(
            f"cannot read the data frame: {str(error).partition(chr(10))[0]}",
            fix="give each column a unique name and values of one type",
        ) from None
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    yield from table.select(names).to_pylist()


def _cell(value: object) -> object:
    """Returns a value of a row. NaN is a missing cell, as null is."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _as_text(value: object) -> str:
    """Returns a value that JSON does not have, where it has one spelling only."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise UsageError(
        f"a cell is a {type(value).__name__}: {value!r:.60}", fix="convert its column to text or numbers, or drop it"
    )
