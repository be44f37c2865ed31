"""Parquet files of records: written atomically, read in order."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.store.files import publish

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["read_metadata", "read_rows", "write_rows"]

Row = Mapping[str, Any]


def write_rows(
    path: Path, rows: Iterable[Row], schema: "pa.Schema", *, metadata: Mapping[str, str] | None = None
) -> int:
    """Writes `rows` under `schema` in one go and returns how many there were. The file appears whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if metadata:
        schema = schema.with_metadata(dict(metadata))
    table = pa.Table.from_pylist(list(rows), schema=schema)
    draft = path.with_name(f".{path.name}.tmp")
    pq.write_table(table, draft, compression="zstd")
    publish(draft, path)
    return int(table.num_rows)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the rows of a file in order, reading a batch at a time."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1000):
            yield from batch.to_pylist()


def read_metadata(path: Path) -> dict[str, str]:
    import pyarrow.parquet as pq

    return {key.decode(): value.decode() for key, value in (pq.read_schema(path).metadata or {}).items()}
