"""Parquet files of records: written atomically, read in order and within limits."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.store.files import drafted
from umpirical.store.manifests import Damaged

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

Row = Mapping[str, Any]

BATCH = 1000
"""Rows that are read at a time."""

UNFOLDED = 256_000_000
"""Bytes that any file may have in memory."""

FOLDED_BY = 20
"""How many times its size on disk a large file may have in memory. Answers compress by a factor of about 5."""

_AT_A_TIME = 64_000_000
"""Bytes that one batch of rows may have in memory, about."""


def write_rows(
    path: Path,
    rows: Iterable[Row],
    schema: "pa.Schema",
    *,
    metadata: Mapping[str, str] | None = None,
    read_back: bool = False,
    once: bool = False,
) -> int:
    """Writes `rows` under `schema` in one go and returns how many there were. The file appears whole or not at all.

    With `read_back`, Damaged is raised if the file does not hold what was written to it; with `once`, FileExistsError
    if it is there already.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if metadata:
        schema = schema.with_metadata(dict(metadata))
    table = pa.Table.from_pylist(list(rows), schema=schema)
    with drafted(path, once=once) as draft:
        pq.write_table(table, draft, compression="zstd")
    # Compared as columns: to make rows of them again would take longer than all the rest.
    if read_back and not pq.ParquetFile(path).read().equals(table):
        raise Damaged(
            f"{path} does not contain what was written to it", fix="check the disk, then run the command again"
        )
    return int(table.num_rows)


@contextmanager
def row_writer(path: Path, schema: "pa.Schema") -> Iterator[Callable[[Sequence[Row]], None]]:
    """Opens a file for writing rows some at a time. The file is the caller's own: nobody reads it meanwhile."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        yield lambda rows: file.write_table(pa.Table.from_pylist(list(rows), schema=schema))


def read_rows(
    path: Path, columns: Sequence[str] | None = None, *, only: tuple[str, Collection[str]] | None = None
) -> Iterator[dict[str, Any]]:
    """Yields the rows of a file in order, a batch at a time; of the named columns, or of all.

    With `only`, those rows that have one of these values in this column.

    Raises Damaged if it cannot be read, or unfolds to more than such a file can hold: a megabyte can fill any memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        most, unfolded = max(UNFOLDED, FOLDED_BY * path.stat().st_size), 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_rows_at_a_time(file), columns=columns):
                unfolded += batch.nbytes
                if unfolded > most:
                    raise Damaged(f"{path} unpacks to more than {most:,} bytes")
                if only is not None:
                    import pyarrow.compute as pc  # a tenth of a second of import

                    batch = batch.filter(pc.is_in(batch[only[0]], pa.array(only[1], pa.string())))  # noqa: PLW2901
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0]
        raise Damaged(f"cannot read {path}: {said}") from None


def count_rows(path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0]
        raise Damaged(f"cannot read {path}: {said}") from None


def read_metadata(path: Path) -> dict[str, str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return {key.decode(): value.decode() for key, value in (pq.read_schema(path).metadata or {}).items()}
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        said = str(error).partition("\n")[0]
        raise Damaged(f"cannot read {path}: {said}") from None


def _rows_at_a_time(file: "pq.ParquetFile") -> int:
    """Returns fewer rows where a dictionary is large: one value of it can stand in every row."""
    about = file.metadata
    groups = [about.row_group(number) for number in range(about.num_row_groups)]
    columns = [group.column(number) for group in groups for number in range(group.num_columns)]
    largest = max((column.total_uncompressed_size for column in columns if column.has_dictionary_page), default=0)
    return max(1, min(BATCH, _AT_A_TIME // max(1, largest)))
